// Changes that change nothing, and must be accepted.
#pragma once

#include "tests/check/mutant.h"

namespace tap::check::cases {

inline std::vector<Kind> harmless_changes() {
  using namespace changes;
  return {
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
}

}  // namespace tap::check::cases
