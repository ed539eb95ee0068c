// Kinds of change to what a step made and to what it claims. Each names the obligations that may object first; a harmless
// one must be accepted.
#pragma once

#include <random>

#include "tests/check/cases.h"

namespace tap::check::cases {

struct Mutant {
  Case of;
  std::mt19937& random;
  Mutant(Case c, std::mt19937& r) : of(std::move(c)), random(r) {}

  std::size_t any(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random); }
  template <class T>
  T* any(std::vector<T>& list) {
    return list.empty() ? nullptr : &list[any(list.size())];
  }
  // An operation of a graph that is claimed, and its operator, made its own so that others keep theirs.
  GraphClaim* claim() { return any(of.step.graphs); }
  Graph& graph(const GraphClaim& claim) { return of.after.graphs[claim.after.index()]; }
  Operator* op() {
    GraphClaim* in = claim();
    Operation* operation = in ? any(graph(*in).operations) : nullptr;
    if (!operation) return nullptr;
    of.after.operators.push_back(of.after[operation->op]);
    operation->op = OperatorId(of.after.operators.size() - 1);
    return &of.after.operators.back();
  }
  template <class J>
  J* justified() {
    GraphClaim* in = claim();
    std::vector<J*> found;
    for (Justification& j : in ? in->operations : none_)
      if (auto* one = std::get_if<J>(&j)) found.push_back(one);
    return found.empty() ? nullptr : found[any(found.size())];
  }
  // The arena with one node changed.
  static bool change_cell(Operator& op, std::size_t at, CellNode node) {
    CellExprs exprs;
    std::vector<CellId> place;
    for (std::size_t k = 0; k < op.exprs.size(); ++k) {
      CellNode copy = k == at ? node : op.exprs[CellId(k)];
      for (CellId& arg : copy.args) arg = place[arg.index()];
      place.push_back(exprs.add(copy));
    }
    op.exprs = std::move(exprs);
    auto move = [&](CellId& cell) { cell = place[cell.index()]; };
    for (Access& read : op.reads) {
      for (auto& c : read.coordinates)
        if (c) move(*c);
      if (read.fill) move(*read.fill);
    }
    if (auto* map = std::get_if<MapBody>(&op.body)) std::for_each(map->values.begin(), map->values.end(), move);
    if (auto* reduce = std::get_if<ReduceBody>(&op.body))
      std::for_each(reduce->operands.begin(), reduce->operands.end(), move);
    return true;
  }
  std::optional<std::size_t> cell(Operator* op, CellOp wanted) {
    std::vector<std::size_t> found;
    for (std::size_t k = 0; op && k < op->exprs.size(); ++k)
      if (op->exprs[CellId(k)].op == wanted) found.push_back(k);
    if (found.empty()) return std::nullopt;
    return found[any(found.size())];
  }

 private:
  std::vector<Justification> none_;
};

struct Kind {
  const char* name;
  std::vector<std::string> objects;  // none: harmless
  bool (*change)(Mutant& m);         // false: there is nothing of that kind to change
};

namespace changes {

// What a changed operator is refused by, whatever it was justified by.
inline const std::vector<std::string> by_operator = {
    "copied",           "axioms", "composition",   "blocks-partition", "reduction-partition",
    "unroll",           "group",  "reads-covered", "well-formed",      "writes-exact",
    "equal-operations", "scan",   "transfer"};
inline const std::vector<std::string> by_flow = {
    "copied",      "axioms",    "composition", "blocks-partition", "reduction-partition",
    "unroll",      "group",     "data-flow",   "writes-exact",     "interface",
    "well-formed", "induction", "scan",        "transfer",         "reads-covered"};

inline const std::vector<std::string> by_blocks = {
    "blocks-partition", "reduction-partition", "well-formed", "scan", "reads-covered", "copied"};
inline const std::vector<std::string> by_monoid = {"copied", "reduction-partition", "blocks-partition", "scan"};

inline AffineExpr* any_row(Mutant& m, std::vector<Access> Operator::*accesses) {
  Operator* op = m.op();
  Access* access = op ? m.any(op->*accesses) : nullptr;
  return access ? m.any(access->projection.start.rows) : nullptr;
}
inline Blocking* any_blocking(Mutant& m, Operator** its = nullptr) {
  Operator* op = m.op();
  if (its) *its = op;
  return op ? m.any(op->blockings) : nullptr;
}
inline bool exchange_rows(Mutant& m, std::vector<Access> Operator::*accesses) {
  Operator* op = m.op();
  Access* access = op ? m.any(op->*accesses) : nullptr;
  if (!access || access->projection.start.rows.size() < 2) return false;
  std::swap(access->projection.start.rows[0], access->projection.start.rows[1]);
  return true;
}
inline bool replace_op(Mutant& m, CellOp from, CellOp to) {
  Operator* op = m.op();
  auto at = m.cell(op, from);
  if (!at) return false;
  CellNode node = op->exprs[CellId(*at)];
  node.op = to;
  return Mutant::change_cell(*op, *at, node);
}
inline ValueId another(Mutant& m, const Graph& graph, ValueId than) {
  std::vector<ValueId> found;
  for (std::size_t v = 0; v < graph.values.size(); ++v)
    if (ValueId(v) != than && graph.values[v].type == graph[than].type) found.push_back(ValueId(v));
  return found.empty() ? than : found[m.any(found.size())];
}
inline Operator* group_of(Mutant& m) {
  for (Operator& op : m.of.after.operators)
    if (op.region() && op.region()->kind == RegionKind::group) return &op;
  return nullptr;
}

}  // namespace changes

inline const std::vector<Kind>& kinds() {
  using namespace changes;
  static const std::vector<Kind> all = {
      // Operators.
      {"read one further", by_operator,
       [](Mutant& m) {
         auto* r = any_row(m, &Operator::reads);
         return r && ++r->offset;
       }},
      {"read twice as far", by_operator,
       [](Mutant& m) {
         auto* r = any_row(m, &Operator::reads);
         auto* c = r ? m.any(r->coefficients) : nullptr;
         return c && ++*c;
       }},
      {"read transposed", by_operator, [](Mutant& m) { return exchange_rows(m, &Operator::reads); }},
      {"write one further", by_operator,
       [](Mutant& m) {
         auto* r = any_row(m, &Operator::writes);
         return r && ++r->offset;
       }},
      {"write reversed", by_operator,
       [](Mutant& m) {
         auto* r = any_row(m, &Operator::writes);
         auto* c = r ? m.any(r->coefficients) : nullptr;
         return c && (*c = *c - 2, true);
       }},
      {"write transposed", by_operator, [](Mutant& m) { return exchange_rows(m, &Operator::writes); }},
      {"index one longer", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         auto* d = op ? m.any(op->dims) : nullptr;
         return d && ++d->range.hi;
       }},
      {"index one shorter", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         auto* d = op ? m.any(op->dims) : nullptr;
         return d && d->range.lo < d->range.hi && (--d->range.hi, true);
       }},
      {"index begins later", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         auto* d = op ? m.any(op->dims) : nullptr;
         return d && d->range.lo < d->range.hi && ++d->range.lo;
       }},
      {"constraint added", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         if (!op || op->dims.empty()) return false;
         AffineExpr e{std::vector<std::int64_t>(op->dims.size(), 0), -1};
         e.coefficients[m.any(op->dims.size())] = 1;
         op->constraints.push_back({e, Comparison::at_least_zero});
         return true;
       }},
      {"sum becomes a difference", by_operator, [](Mutant& m) { return replace_op(m, CellOp::add, CellOp::sub); }},
      {"product becomes a sum", by_operator, [](Mutant& m) { return replace_op(m, CellOp::mul, CellOp::add); }},
      {"comparison becomes another", by_operator,
       [](Mutant& m) { return replace_op(m, CellOp::less, CellOp::less_equal); }},
      {"constant one more", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         auto at = m.cell(op, CellOp::constant);
         if (!at) return false;
         CellNode node = op->exprs[CellId(*at)];
         ++node.value.i;
         return Mutant::change_cell(*op, *at, node);
       }},
      {"branches exchanged", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         auto at = m.cell(op, CellOp::select);
         if (!at) return false;
         CellNode node = op->exprs[CellId(*at)];
         std::swap(node.args[1], node.args[2]);
         return Mutant::change_cell(*op, *at, node);
       }},
      {"fill gone", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         auto* r = op ? m.any(op->reads) : nullptr;
         return r && r->fill && (r->fill.reset(), true);
       }},
      {"fill is another cell", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         Access* r = op ? m.any(op->reads) : nullptr;
         if (!r || !r->fill) return false;
         r->fill = op->exprs.constant(Scalar::integer(ElementType::i64, 99));
         return true;
       }},
      {"value is another cell", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         auto* map = op ? std::get_if<MapBody>(&op->body) : nullptr;
         if (!map) return false;
         CellId other(m.any(op->exprs.size()));
         if (op->exprs[other].type != op->exprs[map->values[0]].type || other == map->values[0]) return false;
         map->values[0] = other;
         return true;
       }},
      {"dim said not to matter", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         Access* w = op ? m.any(op->writes) : nullptr;
         if (!w || op->dims.empty()) return false;
         w->invariant_dims.push_back(static_cast<std::uint32_t>(m.any(op->dims.size())));
         return true;
       }},
      {"reads two tensors for one", by_operator,
       [](Mutant& m) {
         Operator* op = m.op();
         auto* r = op && op->operands.size() > 1 ? m.any(op->reads) : nullptr;
         return r && (r->tensor = 1 - r->tensor, true);
       }},
      // Blocks.
      {"one block more", by_blocks,
       [](Mutant& m) {
         auto* b = any_blocking(m);
         return b && ++b->blocks.count;
       }},
      {"one block and number more", by_blocks,
       [](Mutant& m) {
         Operator* op;
         Blocking* b = any_blocking(m, &op);
         if (!b || b->blocks.boundaries.empty()) return false;
         ++b->blocks.count;
         ++op->dims[b->block_dim].range.hi;
         return true;
       }},
      {"first block shorter", by_blocks,
       [](Mutant& m) {
         auto* b = any_blocking(m);
         return b && !b->blocks.boundaries.empty() && ++b->blocks.boundaries.front();
       }},
      {"last block longer", by_blocks,
       [](Mutant& m) {
         auto* b = any_blocking(m);
         return b && !b->blocks.boundaries.empty() && ++b->blocks.boundaries.back();
       }},
      {"boundaries out of order", by_blocks,
       [](Mutant& m) {
         Blocking* b = any_blocking(m);
         if (!b || b->blocks.boundaries.size() < 4) return false;
         std::swap(b->blocks.boundaries[1], b->blocks.boundaries[2]);
         return true;
       }},
      {"another dim is cut", by_blocks,
       [](Mutant& m) {
         Operator* op;
         Blocking* b = any_blocking(m, &op);
         return b && (b->dim = (b->dim + 1) % static_cast<std::uint32_t>(op->dims.size()), b->dim != b->block_dim);
       }},
      {"blocking gone", by_blocks,
       [](Mutant& m) {
         Operator* op;
         return any_blocking(m, &op) && (op->blockings.pop_back(), true);
       }},
      {"blocks walked, not apart", by_blocks,
       [](Mutant& m) {
         Operator* op;
         Blocking* b = any_blocking(m, &op);
         if (!b) return false;
         DimRole& role = op->dims[b->block_dim].role;
         role = role == DimRole::parallel ? DimRole::reduction : DimRole::parallel;
         return true;
       }},
      // Monoids.
      {"identity changed", by_monoid,
       [](Mutant& m) {
         Monoid* monoid = m.any(m.of.after.monoids);
         if (!monoid) return false;
         CellNode node = monoid->exprs[monoid->identity[0]];
         monoid->identity[0] = monoid->exprs.constant(Scalar::integer(node.type, node.value.i == 17 ? 18 : 17));
         return true;
       }},
      {"combination changed", by_monoid,
       [](Mutant& m) {
         Monoid* monoid = m.any(m.of.after.monoids);
         if (!monoid) return false;
         CellNode node = monoid->exprs[monoid->combine[0]];
         node.op = node.op == CellOp::sub ? CellOp::add : CellOp::sub;
         monoid->combine[0] = monoid->exprs.add(node);
         return true;
       }},
      {"law claimed", by_monoid,
       [](Mutant& m) {
         auto* monoid = m.any(m.of.after.monoids);
         return monoid && (monoid->laws.fold = Law::proved, true);
       }},
      // Graphs.
      {"operand is another value", by_flow,
       [](Mutant& m) {
         GraphClaim* c = m.claim();
         if (!c) return false;
         Graph& g = m.graph(*c);
         Operation* o = m.any(g.operations);
         ValueId* v = o ? m.any(o->operands) : nullptr;
         if (!v) return false;
         ValueId other = another(m, g, *v);
         return other != *v && (*v = other, true);
       }},
      {"operations exchanged", by_flow,
       [](Mutant& m) {
         GraphClaim* c = m.claim();
         if (!c || m.graph(*c).operations.size() < 2) return false;
         std::size_t k = m.any(c->operations.size() - 1);
         std::swap(m.graph(*c).operations[k], m.graph(*c).operations[k + 1]);
         return true;
       }},
      {"operation gone", by_flow,
       [](Mutant& m) {
         GraphClaim* c = m.claim();
         if (!c || c->operations.empty()) return false;
         auto k = static_cast<std::ptrdiff_t>(m.any(c->operations.size()));
         m.graph(*c).operations.erase(m.graph(*c).operations.begin() + k);
         c->operations.erase(c->operations.begin() + k);
         return true;
       }},
      {"operation twice", by_flow,
       [](Mutant& m) {
         GraphClaim* c = m.claim();
         if (!c || c->operations.empty()) return false;
         std::size_t k = m.any(c->operations.size());
         m.graph(*c).operations.push_back(m.graph(*c).operations[k]);
         c->operations.push_back(Justification(c->operations[k]));
         return true;
       }},
      {"output is another value", by_flow,
       [](Mutant& m) {
         GraphClaim* c = m.claim();
         if (!c) return false;
         Graph& g = m.graph(*c);
         ValueId other = another(m, g, g.outputs[0]);
         return other != g.outputs[0] && (g.outputs[0] = other, true);
       }},
      {"inputs exchanged", by_flow,
       [](Mutant& m) {
         auto* c = m.claim();
         if (!c || m.graph(*c).inputs.size() < 2) return false;
         std::swap(m.graph(*c).inputs[0], m.graph(*c).inputs[1]);
         return true;
       }},
      {"input constant",
       {"interface"},
       [](Mutant& m) {
         auto* c = m.claim();
         if (!c) return false;
         Graph& g = m.graph(*c);
         g.values[g.inputs[0].index()].is_const ^= true;
         return true;
       }},
      {"trips one fewer",
       {"copied", "induction"},
       [](Mutant& m) {
         for (Operator& op : m.of.after.operators)
           if (auto* region = std::get_if<RegionBody>(&op.body); region && region->kind == RegionKind::iterate)
             return --region->trips.hi, true;
         return false;
       }},
      // Groups.
      {"group reads less",
       {"reads-covered"},
       [](Mutant& m) {
         auto* g = group_of(m);
         return g && --g->reads[0].projection.shape[0];
       }},
      {"group reads elsewhere",
       {"reads-covered"},
       [](Mutant& m) {
         auto* g = group_of(m);
         return g && ++g->reads[0].projection.start.rows[0].offset, g != nullptr;
       }},
      {"group writes elsewhere",
       {"group", "writes-exact"},
       [](Mutant& m) {
         auto* g = group_of(m);
         return g && ++g->writes[0].projection.start.rows[0].offset;
       }},
      {"group writes more",
       {"group", "writes-exact"},
       [](Mutant& m) {
         auto* g = group_of(m);
         return g && ++g->writes[0].projection.shape[0];
       }},
      {"anchor gone",
       {"group", "reads-covered", "writes-exact"},
       [](Mutant& m) {
         auto* g = group_of(m);
         return g && (std::get<RegionBody>(g->body).anchors.clear(), true);
       }},
      // Claims.
      {"value is said to be another", by_flow,
       [](Mutant& m) {
         GraphClaim* c = m.claim();
         auto* v = c ? m.any(c->values) : nullptr;
         if (!v || !*v) return false;
         auto other = *m.any(c->values);
         return other && !(*other == **v) && (*v = other, true);
       }},
      {"value is said to be new", by_flow,
       [](Mutant& m) {
         auto* c = m.claim();
         auto* v = c ? m.any(c->values) : nullptr;
         return v && *v && (v->reset(), true);
       }},
      {"said to be copied",
       {"copied", "writes-exact", "interface", "data-flow", "reduction-partition", "induction", "well-formed"},
       [](Mutant& m) {
         GraphClaim* c = m.claim();
         auto* j = c ? m.any(c->operations) : nullptr;
         if (!j || std::holds_alternative<Copied>(*j)) return false;
         *j = Copied{operation(0)};
         return true;
       }},
      {"copied from elsewhere", by_flow,
       [](Mutant& m) {
         auto* j = m.justified<Copied>();
         if (!j) return false;
         j->from.operation = OperationId(j->from.operation.index() == 0 ? 1 : j->from.operation.index() - 1);
         return true;
       }},
      {"another dim is said to be cut",
       {"reduction-partition"},
       [](Mutant& m) {
         auto* j = m.justified<PartialOf>();
         return j && (j->dim ^= 1, true);
       }},
      {"another dim is said to number",
       {"reduction-partition"},
       [](Mutant& m) {
         auto* j = m.justified<PartialOf>();
         return j && (j->block_dim -= 1, true);
       }},
      {"other partials are combined",
       {"reduction-partition"},
       [](Mutant& m) {
         auto* j = m.justified<CombinationOf>();
         return j && (j->partial = OperationId(j->partial.index() + 1), true);
       }},
      {"axiom is another",
       {"axioms"},
       [](Mutant& m) {
         auto* j = m.justified<Simplified>();
         auto* u = j ? m.any(j->uses) : nullptr;
         return u && (u->axiom = "a - a = 0 [integers]", true);
       }},
      {"axiom is none",
       {"axioms"},
       [](Mutant& m) {
         auto* j = m.justified<Simplified>();
         auto* u = j ? m.any(j->uses) : nullptr;
         return u && (u->axiom = "a = 0", true);
       }},
      {"axiom of other terms",
       {"axioms"},
       [](Mutant& m) {
         auto* j = m.justified<Simplified>();
         auto* u = j ? m.any(j->uses) : nullptr;
         if (!u) return false;
         CellId other(m.any(j->terms.size()));
         return other != u->variables[0] && (u->variables[0] = other, true);
       }},
      {"axiom not used",
       {"axioms"},
       [](Mutant& m) {
         auto* j = m.justified<Simplified>();
         return j && !j->uses.empty() && (j->uses.pop_back(), true);
       }},
      {"read is not composed",
       {"composition"},
       [](Mutant& m) {
         auto* j = m.justified<Composed>();
         return j && (j->reads.clear(), true);
       }},
      {"another producer",
       {"composition"},
       [](Mutant& m) {
         auto* j = m.justified<Composed>();
         return j && (j->reads[0].producer = operation(1), true);
       }},
      {"another read is composed",
       {"composition"},
       [](Mutant& m) {
         auto* j = m.justified<Composed>();
         return j && ++j->reads[0].read;
       }},
      {"others are said to be equal",
       {"equal-operations"},
       [](Mutant& m) {
         auto* c = m.claim();
         return c && !c->equal.empty() && (c->equal[0].other = operation(2), true);
       }},
      {"none are said to be equal",
       {"copied"},
       [](Mutant& m) {
         auto* c = m.claim();
         return c && !c->equal.empty() && (c->equal.clear(), true);
       }},
      {"another step",
       {"unroll", "writes-exact", "well-formed"},
       [](Mutant& m) {
         auto* j = m.justified<StepOf>();
         return j && (j->step += j->step > 0 ? -1 : 1, true);
       }},
      {"another number of steps",
       {"unroll", "induction", "interface", "well-formed", "chain"},
       [](Mutant& m) {
         auto* c = m.claim();
         return c && ++c->steps;
       }},
      {"steps from elsewhere",
       {"unroll", "induction", "interface", "well-formed", "chain"},
       [](Mutant& m) {
         auto* c = m.claim();
         return c && ++c->first;
       }},
      {"group of others",
       {"group", "copied", "well-formed"},
       [](Mutant& m) {
         auto* j = m.justified<GroupOf>();
         return j && (std::swap(j->from[0], j->from[1]), true);
       }},
      {"group of fewer",
       {"group"},
       [](Mutant& m) {
         auto* j = m.justified<GroupOf>();
         return j && (j->from.pop_back(), true);
       }},
      {"graph not claimed",
       {"copied", "induction", "chain", "interface", "data-flow", "writes-exact"},
       [](Mutant& m) {
         if (m.of.step.graphs.empty()) return false;
         m.of.step.graphs.erase(m.of.step.graphs.begin() + static_cast<std::ptrdiff_t>(m.any(m.of.step.graphs.size())));
         return true;
       }},
      // Harmless.
      {"names",
       {},
       [](Mutant& m) {
         for (Operator& op : m.of.after.operators) {
           op.name += "'";
           for (IndexDim& d : op.dims) d.name += "'";
         }
         for (Graph& g : m.of.after.graphs)
           for (Value& v : g.values) v.name += "'";
         return true;
       }},
      {"cells that nobody needs",
       {},
       [](Mutant& m) {
         Operator* op = m.op();
         return op && (op->exprs.constant(Scalar::integer(ElementType::i64, 1234)), true);
       }},
      {"an operator that nobody applies",
       {},
       [](Mutant& m) {
         m.of.after.operators.push_back(cases::scaled(77));
         return true;
       }},
      {"operands in another order",
       {},
       [](Mutant& m) {
         GraphClaim* c = m.claim();
         Operation* o = c ? m.any(m.graph(*c).operations) : nullptr;
         if (!o || o->operands.size() < 2) return false;
         Operator op = m.of.after[o->op];
         if (!op.map() && !op.reduce()) return false;
         std::swap(o->operands[0], o->operands[1]);
         std::swap(op.operands[0], op.operands[1]);
         for (Access& r : op.reads) r.tensor = r.tensor == 0 ? 1 : r.tensor == 1 ? 0 : r.tensor;
         op.operand_names.clear();
         m.of.after.operators.push_back(op);
         o->op = OperatorId(m.of.after.operators.size() - 1);
         return true;
       }},
      {"values in another order",
       {},
       [](Mutant& m) {
         GraphClaim* c = m.claim();
         if (!c) return false;
         Graph& g = m.graph(*c);
         std::size_t a = m.any(g.values.size()), b = m.any(g.values.size());
         std::swap(g.values[a], g.values[b]);
         std::swap(c->values[a], c->values[b]);
         auto move = [&](std::vector<ValueId>& list) {
           for (ValueId& v : list) v = v.index() == a ? ValueId(b) : v.index() == b ? ValueId(a) : v;
         };
         move(g.inputs);
         move(g.outputs);
         for (Operation& o : g.operations) move(o.operands), move(o.results);
         return a != b;
       }},
      {"a dead operation more",
       {},
       [](Mutant& m) {
         GraphClaim* c = m.claim();
         if (!c || c->steps != 1) return false;
         Graph& g = m.graph(*c);
         const Graph& before = m.of.before[c->before];
         for (std::size_t o = 0; o < c->operations.size(); ++o) {
           auto* copied = std::get_if<Copied>(&c->operations[o]);
           if (!copied || !copied->from.path.empty() || before[copied->from.operation].results.size() != 1) continue;
           Operation again = g.operations[o];
           g.values.push_back(g[again.results[0]]);
           c->values.push_back(c->values[again.results[0].index()]);
           again.results[0] = ValueId(g.values.size() - 1);
           g.operations.push_back(again);
           c->operations.push_back(Copied(*copied));
           return true;
         }
         return false;
       }},
  };
  return all;
}

}  // namespace tap::check::cases
