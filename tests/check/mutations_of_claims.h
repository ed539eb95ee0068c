// Changes to what a certificate claims.
#pragma once

#include "tests/check/mutant.h"

namespace tap::check::cases {

inline std::vector<Kind> claim_changes() {
  using namespace changes;
  return {
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
      {"what is placed is said to be from elsewhere",
       {"staged"},
       [](Mutant& m) {
         auto* j = m.justified<PlacedFrom>();
         return j && (j->staged = OperationId(j->staged.index() + 1), true);
       }},
      {"another dim is said to be folded",
       {"fold"},
       [](Mutant& m) {
         auto* j = m.justified<FoldOf>();
         if (!j) return false;
         for (Justification& other : m.of.step.graphs[0].operations)
           if (auto* fold = std::get_if<FoldOf>(&other)) fold->dim -= 1;
         return true;
       }},
      {"blocks are said to be of another size",
       {"fold"},
       [](Mutant& m) {
         auto* j = m.justified<FoldOf>();
         if (!j) return false;
         for (Justification& other : m.of.step.graphs[0].operations)
           if (auto* fold = std::get_if<FoldOf>(&other)) fold->size += m.any(2) == 0 ? 1 : -1;
         return true;
       }},
      {"the fold of another operation",
       {"fold", "well-formed", "writes-exact", "interface"},
       [](Mutant& m) {
         auto* j = m.justified<FoldOf>();
         if (!j) return false;
         for (Justification& other : m.of.step.graphs[0].operations)
           if (auto* fold = std::get_if<FoldOf>(&other)) fold->of.operation = OperationId(1);
         return true;
       }},
      {"the law of the fold is not known",
       {"laws"},
       [](Mutant& m) {
         if (!m.justified<FoldOf>()) return false;
         for (Program* p : {&m.of.before, &m.of.after})
           for (Monoid& monoid : p->monoids) monoid.laws.fold = monoid.fold ? Law::unknown : monoid.laws.fold;
         return true;
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
         auto* j = m.justified<TripOf>();
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
  };
}

}  // namespace tap::check::cases
