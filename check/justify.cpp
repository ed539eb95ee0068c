// Dispatches to the rule that justifies an operation; contains the rules that need only a comparison.
#include "check/justify.h"

namespace tap::check {

const ir::GraphClaim* Context::claim_of(ir::GraphId now, ir::GraphId was) {
  for (const ir::GraphClaim& claim : claims)
    if (claim.after == now) return claim.before == was ? &claim : nullptr;
  const ir::Graph &a = after[now], &b = before[was];
  if (a.values.size() != b.values.size() || a.operations.size() != b.operations.size()) return nullptr;
  ir::GraphClaim claim{now, was, {}, {}, {}};
  for (std::size_t v = 0; v < a.values.size(); ++v) claim.values.push_back(ir::ValueRef{{}, ir::ValueId(v), {}});
  for (std::size_t o = 0; o < a.operations.size(); ++o)
    claim.operations.push_back(ir::Copied{{{}, ir::OperationId(o)}});
  claims.push_back(std::move(claim));
  return &claims.back();
}

Side Justify::after_side(ir::OperationId id) const {
  const ir::Operation& operation = context_.after[claim_.after][id];
  return side_of(context_.after, operation, [this](ir::ValueId v) { return numbering_.find(classes_[v.index()]); });
}

Justify::Result Justify::operation(ir::OperationId id) {
  side_ = after_side(id);
  return std::visit([this](const auto& j) { return justify(j); }, claim_.operations[id.index()]);
}

void Justify::same_operation(const Side& after, const Side& before) {
  if (before.op->region()) same_region(after, before);
  constexpr auto obligation = Obligation::copied;
  Match match(after, before, in_order(*before.op, after.op->dims.size(), obligation), obligation);
  match.is(match.form());
}

// Separate claims cover the inner graphs.
void Justify::same_region(const Side& after, const Side& before) {
  const ir::RegionBody *a = after.op->region(), *b = before.op->region();
  expect(Obligation::copied, a && a->kind == b->kind, "a region changed its kind");
  expect(Obligation::copied, a->trips == b->trips, "{}..{} trips, {}..{} before", a->trips.lo, a->trips.hi, b->trips.lo,
         b->trips.hi);
  auto rule = &ir::Alternative::rule;
  expect(Obligation::choice, std::ranges::equal(a->alternatives, b->alternatives, {}, rule, rule),
         "the alternatives differ");
  auto same_graph = [&](ir::GraphId now, ir::GraphId was) {
    const ir::GraphClaim* claim = context_.claim_of(now, was);
    bool same = claim && claim->steps == 1 && claim->first == 0;
    expect(Obligation::copied, same, "no claim relates graph {} to graph {} before", now.index(), was.index());
  };
  same_graph(a->graph, b->graph);
  for (std::size_t k = 0; k < a->alternatives.size(); ++k)
    same_graph(a->alternatives[k].graph, b->alternatives[k].graph);
  if (a->kind == ir::RegionKind::group && !(a->anchors == b->anchors))
    check_group(*after.program, *after.op, context_.assumed);
}

Justify::Result Justify::justify(const ir::Copied& j) {
  Side before = numbering_.side(j.from);
  if (const auto* region = before.op->region(); region && region->kind == ir::RegionKind::iterate) {
    same_iterate(before, j.from);
    return {Obligation::induction, {j.from}};
  }
  same_operation(side_, before);
  return {Obligation::copied, before.op->transfer() ? Origins{} : Origins{j.from}};
}

Justify::Result Justify::justify(const ir::Simplified& j) {
  constexpr auto obligation = Obligation::axioms;
  Side before = numbering_.side(j.from);
  Match match(side_, before, in_order(*before.op, side_.op->dims.size(), obligation), obligation);
  match.axioms(j.uses, j.terms);
  match.is(match.form());
  return {obligation, {j.from}};
}

}  // namespace tap::check
