// Choices that a step offers. The first graph of a choice is the original; each other graph has its own claim, which
// is discharged like that of a step: by a derivation from the first graph (for products and folds), or because the
// first graph is the pattern of a rule and the other its replacement. Assumptions are part of the alternative's name,
// so that they are visible where it is picked:
//
//   product in the order ((A B) C): …, by a * (b + c) = a * b + a * c, assuming that values are finite
//       and the sign of a zero does not matter
#include <algorithm>

#include "check/justify.h"

namespace tap::check {

namespace {

void is_choice(bool holds, const char* why) { expect(Obligation::choice, holds, "{}", why); }

// What it assumes.
std::set<std::string> discharged(Context inner) {
  const ir::GraphClaim& claim = inner.claims.front();
  bool exists = claim.after.index() < inner.after.graphs.size() && claim.before.index() < inner.before.graphs.size();
  is_choice(exists && claim.steps == 1 && claim.first == 0,
            "its claim spans several steps, or refers to a missing graph");
  inner.offered = true;
  Verdict verdict;
  check_graphs(inner, "", verdict);
  std::set<std::string> assumed;
  for (Finding& finding : verdict.findings) {
    if (finding.standing == Standing::refused)
      throw Refusal{finding.obligation, fmt::format("of an alternative{}: {}", finding.where, finding.detail)};
    if (finding.standing == Standing::assumed) assumed.insert(std::move(finding.detail));
  }
  return assumed;
}

}  // namespace

Justify::Result Justify::justify(const ir::OfferedFor& j) {
  check_region(ir::RegionKind::choice, j.from, Obligation::choice);
  const ir::RegionBody& choice = *side_.op->region();
  for (const ir::Alternative& offered : choice.alternatives) alternative(choice, offered);
  return {Obligation::choice, {}};
}

void Justify::alternative(const ir::RegionBody& choice, const ir::Alternative& offered) {
  auto found = context_.alternatives.find(offered.graph);
  expect(Obligation::choice, found != context_.alternatives.end(), "no claim for graph {}, which is `{}`",
         offered.graph.index(), offered.rule);
  const auto& [claim, rule] = *found->second;
  const bool rewrite = offered.rule.starts_with("rewrite ");
  expect(Obligation::choice, rewrite == rule.has_value(),
         "the claim of `{}` must name a rule if and only if it is a rewrite", offered.rule);
  if (!rule) {
    is_choice(claim.before == choice.graph, "it must be derived from the first graph of the choice");
    std::string named;
    for (const std::string& what : discharged({context_.after, context_.after, {claim}}))
      named += (named.empty() ? std::string(ir::assuming) : " and ") + what;
    expect(Obligation::choice, offered.rule.ends_with(named), "`{}` does not state its assumption: `{}`", offered.rule,
           named);
    return;
  }
  is_choice(context_.believed && context_.believed->rules, "it uses a rule, but no rules are loaded");
  const ir::Program& rules = *context_.believed->rules;
  const ir::Graph& instances = rules[rules.main];
  is_choice(rule->instance < instances.operations.size(), "the rule is unknown");
  const ir::RegionBody* sides = rules[instances.operations[rule->instance].op].region();
  bool its_rule = sides && sides->alternatives.size() == 1 && sides->alternatives[0].rule == offered.rule;
  is_choice(its_rule, "its rule differs");
  bool of_sides = rule->pattern.before == sides->graph && claim.before == sides->alternatives[0].graph;
  is_choice(of_sides && rule->pattern.after == choice.graph, "its claim is not about the two sides of its rule");
  Context pattern{rules, context_.after, {rule->pattern}}, replacement{rules, context_.after, {claim}};
  pattern.rule = replacement.rule = &*rule;
  pattern.pattern = true;
  discharged(std::move(pattern));
  discharged(std::move(replacement));
}

// The pattern may occur with any order of its dims, and any law status of its monoids.
Justify::Result Justify::justify(const ir::Reordered& j) {
  constexpr auto obligation = Obligation::choice;
  is_choice(context_.pattern, "only a match of a pattern may reorder dims");
  Side before = numbering_.side(j.from);
  const ir::Operator &a = *side_.op, &b = *before.op;
  const std::size_t n = a.dims.size();
  std::set<std::uint32_t> used(j.dims.begin(), j.dims.end());
  is_choice(j.dims.size() == n && b.dims.size() == n && used.size() == n && (n == 0 || *used.rbegin() < n),
            "its dims differ from the pattern");
  Dims dims;
  std::vector<std::uint32_t> reduced;
  for (std::uint32_t d = 0; d < n; ++d) {
    dims.push_back(unit(n, j.dims[d]));
    if (b.dims[d].role == ir::DimRole::reduction) reduced.push_back(j.dims[d]);
  }
  Match match(side_, before, dims, obligation);
  Form expected = match.form();
  for (std::uint32_t d = 0; d < n; ++d) expected.dims[j.dims[d]] = b.dims[d];
  if (a.reduce() && b.reduce()) {
    Term own = monoid_term(match.terms(), *side_.program, a.reduce()->monoid, false);
    is_choice(own == monoid_term(match.terms(), *before.program, b.reduce()->monoid, false), "the monoids differ");
    expected.monoid = monoid_term(match.terms(), *side_.program, a.reduce()->monoid);
    if (!std::ranges::is_sorted(reduced)) laws((*side_.program)[a.reduce()->monoid], true);
  }
  match.is(expected);
  return {obligation, {j.from}};
}

std::uint32_t check_copy(const ir::Operator& op, Obligation obligation) {
  const bool plain = op.map() && op.writes.size() == 1 && op.results.size() == 1;
  expect(obligation, plain, "a copy must be a map with one result");
  const ir::CellNode& cell = op.exprs[op.map()->values[0]];
  expect(obligation, cell.op == ir::CellOp::read, "a copy must write what it reads, unchanged");
  const ir::Access& read = op.reads[cell.attribute];
  for (const auto& coordinate : read.coordinates) expect(obligation, !coordinate, "a copy has data-dependent reads");
  const bool same = read.projection == op.writes[0].projection && op.operands[read.tensor] == op.results[0];
  expect(obligation, same, "a copy must read each cell at the coordinates where it writes it");
  return read.tensor;
}

std::uint32_t check_whole_copy(const ir::Operator& op, Obligation obligation) {
  const std::uint32_t operand = check_copy(op, obligation);
  const ir::Projection& to = op.writes[0].projection;
  const Shape& shape = op.results[0].shape;
  bool whole = op.blockings.empty() && op.constraints.empty() && op.dims.size() == shape.size();
  for (std::size_t axis = 0; whole && axis < shape.size(); ++axis)
    whole = to.start.rows[axis] == unit(shape.size(), axis) && to.shape[axis] == 1 &&
            op.dims[axis].range == ir::Range{0, shape[axis]};
  expect(obligation, whole, "a copy must have one dim per axis and write all of its result");
  return operand;
}

Justify::Result Justify::justify(const ir::WholeCopy&) {
  const auto obligation = context_.rule ? Obligation::choice : Obligation::transfer;
  const std::uint32_t read = check_whole_copy(*side_.op, obligation);
  expect(obligation, side_.operands[read] == side_.results[0], "a copy is claimed to be a different value");
  return {obligation, {}};
}

}  // namespace tap::check
