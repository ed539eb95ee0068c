#include "compiler/frontend/proofs/laws_proof.h"

#include <algorithm>

#include "compiler/frontend/proofs/laws_lattice.h"
#include "compiler/frontend/proofs/laws_symbols.h"

namespace tap {
namespace {

std::vector<NumberState> refuting_states(SymbolAlgebra& symbols,
                                         const std::vector<std::vector<SymbolAlgebra::Value>>& states) {
  std::vector<NumberState> result;
  for (const auto& state : states) {
    result.emplace_back();
    for (const auto& symbol : state) {
      auto value = symbols.refuting_value(symbol);
      if (!value) return {};
      result.back().push_back(*value);
    }
  }
  return result;
}

}  // namespace

// Integers that are only added, subtracted and multiplied, and never compared, may be mathematical integers: laws of
// these also hold modulo 2^n.
IntegerModel integer_model(const ir::Monoid& monoid) {
  bool is_ring = !any_cell(monoid, [](const ir::CellExprs& exprs, const ir::CellNode& node) {
    bool of_integers =
        std::any_of(node.args.begin(), node.args.end(), [&](ir::CellId arg) { return is_integer(exprs[arg].type); });
    bool ring_operation = node.op == ir::CellOp::add || node.op == ir::CellOp::sub || node.op == ir::CellOp::mul ||
                          node.op == ir::CellOp::neg || node.op == ir::CellOp::select;
    return of_integers && !ring_operation;
  });
  return is_ring ? IntegerModel::whole_numbers : IntegerModel::bits;
}

bool proved_by_normal_form(const ir::Program& program, const ir::Monoid& monoid, const Question& q) {
  try {
    LatticeAlgebra lattice;
    std::vector<int> infinities = infinities_of(program, monoid);
    auto states = variables_of<LatticeAlgebra::Value>(
        monoid, q, infinities,
        [&](ElementType type, const std::string&, int infinity) { return lattice.variable(type, infinity); });
    LawQuestions<LatticeAlgebra> laws(program, monoid, lattice, infinities);
    return evaluate_question(laws, q, states).answer == Answer::holds;
  } catch (const LatticeAlgebra::NoForm&) { return false; }
}

Proof prove_with_solver(const ir::Program& program, const ir::Monoid& monoid, const Question& q, std::uint64_t& steps) {
  Proof proof;
  try {
    SymbolAlgebra symbols(integer_model(monoid), steps);
    std::vector<int> infinities = infinities_of(program, monoid);
    proof.found = symbols.on_all_paths([&] {
      auto states = variables_of<SymbolAlgebra::Value>(monoid, q, infinities,
                                                       [&](ElementType type, const std::string& name, int infinity) {
                                                         return symbols.variable(type, name, infinity);
                                                       });
      LawQuestions<SymbolAlgebra> laws(program, monoid, symbols, infinities);
      if (evaluate_question(laws, q, states).answer == Answer::holds) return true;
      proof.refuted_by = refuting_states(symbols, states);
      return false;
    });
  } catch (const SymbolAlgebra::GaveUp& gave_up) { proof.why_not = gave_up.why; } catch (const z3::exception&) {
  }
  return proof;
}

}  // namespace tap
