// Changes to graphs: data flow, inputs and outputs, iterates, the regions of groups.
#pragma once

#include "tests/check/mutant.h"

namespace tap::check::cases {

inline std::vector<Kind> graph_changes() {
  using namespace changes;
  return {
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
      {"another mesh",
       {"interface", "placement", "transfer"},
       [](Mutant& m) {
         Mesh* mesh = m.any(m.of.after.meshes);
         return mesh && !mesh->axes.empty() && ++mesh->axes[0].size;
       }},
      {"an unused operator that reads outside",
       {"legal"},
       [](Mutant& m) {
         for (const Operator& op : m.of.after.operators)
           if (!op.reads.empty() && !op.reads[0].fill && op.map() && op.reads[0].projection.rank() > 0 &&
               !op.box().empty()) {
             Operator unused = op;
             unused.reads[0].projection.start.rows[0].offset -= 1'000;
             m.of.after.operators.push_back(std::move(unused));
             return true;
           }
         return false;
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
  };
}

}  // namespace tap::check::cases
