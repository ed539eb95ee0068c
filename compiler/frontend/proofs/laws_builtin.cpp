// Recognises user monoids that equal a built-in one, except on NaN and the sign of zero.
#include <cmath>
#include <limits>

#include "compiler/frontend/proofs/laws.h"
#include "compiler/frontend/proofs/laws_evaluate.h"
#include "compiler/frontend/proofs/laws_numbers.h"
#include "compiler/frontend/proofs/laws_samples.h"
#include "compiler/frontend/proofs/laws_symbols.h"

namespace tap {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

ir::Scalar combined(const ir::Program& program, const ir::Monoid& m, double a, double b) {
  NumberAlgebra numbers;
  ElementType type = m.components[0].type;
  return CellEvaluator(program, numbers).combine(m, {{type, 0, a}}, {{type, 0, b}})[0];
}

bool same_for_samples(const ir::Program& program, const ir::Monoid& m, const ir::Monoid& builtin) {
  NumberAlgebra numbers;
  NumberState identity = CellEvaluator(program, numbers).identity(m);
  if (identity != CellEvaluator(program, numbers).identity(builtin)) return false;
  std::vector<NumberState> states = LawSamples(m, identity, false).all(1000);
  for (double infinite : {-infinity, infinity}) states.push_back({{m.components[0].type, 0, infinite}});
  for (const NumberState& a : states) {
    for (const NumberState& b : states) {
      if (combined(program, m, a[0].f, b[0].f).f != combined(program, builtin, a[0].f, b[0].f).f) return false;
    }
  }
  return true;
}

bool proved_for_numbers(const ir::Program& program, const ir::Monoid& m, const ir::Monoid& builtin) {
  try {
    std::uint64_t steps = 1'000'000;
    SymbolAlgebra symbols(IntegerModel::bits, steps);
    CellEvaluator evaluate(program, symbols);
    return symbols.on_all_paths([&] {
      auto a = symbols.variable(m.components[0].type, "a", 0), b = symbols.variable(m.components[0].type, "b", 0);
      return symbols.agree(evaluate.combine(m, {a}, {b})[0], evaluate.combine(builtin, {a}, {b})[0], 0) ==
             Answer::holds;
    });
  } catch (const SymbolAlgebra::GaveUp&) { return false; } catch (const z3::exception&) {
    return false;
  }
}

bool differs_on_sample(const ir::Program& program, const ir::Monoid& m, const ir::Monoid& builtin) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  for (auto [a, b] : {std::pair{nan, 1.0}, {1.0, nan}, {0.0, -0.0}, {-0.0, 0.0}}) {
    double mine = combined(program, m, a, b).f, theirs = combined(program, builtin, a, b).f;
    if (std::isnan(mine) != std::isnan(theirs)) return true;
    if (!std::isnan(mine) && std::signbit(mine) != std::signbit(theirs)) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> differs_from_builtin_only_on_nan(const ir::Program& program, const ir::Monoid& monoid) {
  if (monoid.arity() != 1 || !is_float(monoid.components[0].type)) return std::nullopt;
  for (const char* name : {"max", "min"}) {
    ir::Monoid builtin = *ir::builtin_monoid(name, monoid.components[0].type);
    if (same_for_samples(program, monoid, builtin) && differs_on_sample(program, monoid, builtin) &&
        proved_for_numbers(program, monoid, builtin)) {
      return name;
    }
  }
  return std::nullopt;
}

}  // namespace tap
