// Whether a proof over the reals also holds for floats: if the states and the results of a law are in the range of
// floats, are all intermediate values in it, too?
#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "compiler/frontend/proofs/laws.h"
#include "compiler/frontend/proofs/laws_proof.h"
#include "compiler/frontend/proofs/laws_symbols.h"

namespace tap {
namespace {

using ir::CellOp;

// Expressions of +, -, max, min and multiplication by a number are multiples of the states, which needs no solver.
struct MultipleAlgebra {
  struct Value {
    ElementType type;
    double log2 = 0;  // how many times the largest state it may be
    std::optional<double> number = {};
  };
  struct NoMultiple {};
  std::unordered_set<const ir::CellNode*> results;

  Value constant(const ir::Scalar& s) const {
    if (!is_float(s.type)) return {s.type};
    return {s.type, std::isfinite(s.f) ? std::log2(std::max(1.0, std::fabs(s.f))) : 0, s.f};
  }
  Value apply(const ir::CellNode& node, const std::vector<Value>& args) const {
    if (results.contains(&node)) return {node.type};
    if (!is_float(node.type)) {
      if (info(node.op).kind != ir::CellKind::comparison || node.op == CellOp::isinf) throw NoMultiple{};
      return {node.type};
    }
    const Value &a = args[0], &b = args.back();
    switch (node.op) {
      case CellOp::neg:
      case CellOp::cast: return bounded({node.type, a.log2});
      case CellOp::min:
      case CellOp::max: return bounded({node.type, std::max(a.log2, b.log2)});
      case CellOp::add:
      case CellOp::sub: return bounded({node.type, std::max(a.log2, b.log2) + 1});
      case CellOp::mul:
        if (!a.number && !b.number) throw NoMultiple{};
        if ((a.number ? a : b).log2 > 0) throw NoMultiple{};  // it may overflow where the result does not
        return bounded({node.type, a.log2 + b.log2});
      default: throw NoMultiple{};
    }
  }
  Value choose(const Value&, const Value& a, const Value& b) const { return {a.type, std::max(a.log2, b.log2)}; }

 private:
  static Value bounded(Value v) {
    if (v.log2 > 1) throw NoMultiple{};  // as in laws_symbols_sizes.cpp
    return v;
  }
};

// Cells that are components of a state: they are in range.
std::unordered_set<const ir::CellNode*> results_of(const ir::Monoid& monoid) {
  std::unordered_set<const ir::CellNode*> results;
  for (ir::CellId root : monoid.combine) results.insert(&monoid.exprs[root]);
  if (monoid.fold)
    for (ir::CellId root : monoid.fold->roots) results.insert(&monoid.fold->exprs[root]);
  return results;
}

// Every combination in a law is one of two states, so two symbols stand for all; but the identity law combines only
// with the identity. For a fold, blocks of one and two elements. `compute` runs a computation on two such states.
template <class Algebra, class Compute>
void compute_all(const ir::Program& program, const ir::Monoid& monoid, LawName law, Algebra& algebra, Compute compute) {
  CellEvaluator evaluate(program, algebra);
  if (law == LawName::identity) {
    compute([&](const auto& s) { evaluate.combine(monoid, evaluate.identity(monoid), s[0]); });
    compute([&](const auto& s) { evaluate.combine(monoid, s[0], evaluate.identity(monoid)); });
  } else {
    compute([&](const auto& s) { evaluate.combine(monoid, s[0], s[1]); });
  }
  if (law == LawName::fold) {
    compute([&](const auto& s) { evaluate.fold(monoid, {s[0]}); });
    compute([&](const auto& s) { evaluate.fold(monoid, s); });
  }
}

bool is_of_multiples(const ir::Program& program, const ir::Monoid& monoid, LawName law) {
  try {
    MultipleAlgebra multiples{results_of(monoid)};
    auto states = variables_of<MultipleAlgebra::Value>(
        monoid, {law, 2}, infinities_of(program, monoid),
        [](ElementType type, const std::string&, int) { return MultipleAlgebra::Value{type}; });
    compute_all(program, monoid, law, multiples, [&](auto computation) { computation(states); });
    return true;
  } catch (const MultipleAlgebra::NoMultiple&) { return false; }
}

}  // namespace

std::string why_not_in_range(const ir::Program& program, const ir::Monoid& monoid, LawName law, std::uint64_t& steps) {
  bool has_floats =
      any_cell(monoid, [](const ir::CellExprs&, const ir::CellNode& node) { return is_float(node.type); });
  if (!has_floats || is_of_multiples(program, monoid, law)) return "";
  try {
    SymbolAlgebra symbols(integer_model(monoid), steps);
    symbols.measure_sizes(results_of(monoid));
    std::vector<int> infinities = infinities_of(program, monoid);
    compute_all(program, monoid, law, symbols, [&](auto computation) {
      symbols.on_all_paths([&] {
        computation(variables_of<SymbolAlgebra::Value>(monoid, {law, 2}, infinities,
                                                       [&](ElementType type, const std::string& name, int infinity) {
                                                         return symbols.variable(type, name, infinity);
                                                       }));
        return true;
      });
    });
  } catch (const SymbolAlgebra::GaveUp& gave_up) { return gave_up.why; } catch (const NoValue&) {
    return "";  // integer divisions by zero are checked elsewhere
  } catch (const z3::exception&) { return std::string(finite_values) + "the proof exceeds its limits"; }
  return "";
}

}  // namespace tap
