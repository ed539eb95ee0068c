#include "compiler/frontend/proofs/laws_samples.h"

#include <algorithm>
#include <cmath>

namespace tap {
namespace {

using ir::Scalar;

constexpr double float_values[] = {0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 5, 0.25, 1.5};
constexpr std::int64_t integer_values[] = {0, 1, -1, 2, -2, 3, 7};

void add(std::vector<Scalar>& values, const Scalar& value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}
void add_integer(std::vector<Scalar>& values, ElementType type, std::int64_t value) {
  if (value >= least_integer(type) && value <= greatest_integer(type)) add(values, Scalar::integer(type, value));
}

// Above this, exponentials of the constants overflow; without such functions only rounding limits the constants.
double largest_constant(const ir::Monoid& monoid, bool exact) {
  if (exact) return 1e100;
  bool has_functions = any_cell(monoid, [](const ir::CellExprs&, const ir::CellNode& node) {
    return info(node.op).kind == ir::CellKind::function;
  });
  return has_functions ? 100 : 1e6;
}

void add_constants(std::vector<Scalar>& values, const ir::Monoid& monoid, ElementType type, bool exact) {
  double largest = largest_constant(monoid, exact);
  any_cell(monoid, [&](const ir::CellExprs&, const ir::CellNode& node) {
    if (node.op != ir::CellOp::constant || node.value.type != type || is_bool(type)) return false;
    const Scalar& c = node.value;
    if (!is_float(type)) {
      add_integer(values, type, c.i);
      if (c.i > least_integer(type)) add_integer(values, type, c.i - 1);
      if (c.i < greatest_integer(type)) add_integer(values, type, c.i + 1);
    } else if (std::fabs(c.f) <= largest) {
      for (double f : {c.f, c.f - 1, c.f + 1, -c.f}) add(values, Scalar::floating(type, f));
      if (exact) add(values, Scalar::floating(type, 2 * c.f));
    }
    return false;
  });
}

std::vector<Scalar> values_of(const ir::Monoid& monoid, ElementType type, const Scalar& identity, bool exact) {
  std::vector<Scalar> values;
  if (is_bool(type)) return {Scalar::boolean(false), Scalar::boolean(true)};
  if (is_float(type)) {
    for (double f : float_values) values.push_back(Scalar{type, 0, f});
  } else {
    for (std::int64_t i : integer_values) add_integer(values, type, i);
    // A count that wraps is meaningless, and so is its mean.
    bool becomes_float = any_cell(monoid, [](const ir::CellExprs& exprs, const ir::CellNode& node) {
      return node.op == ir::CellOp::cast && is_float(node.type) && is_integer(exprs[node.args[0]].type);
    });
    if (!becomes_float) {
      add_integer(values, type, least_integer(type));
      add_integer(values, type, greatest_integer(type));
    }
  }
  add_constants(values, monoid, type, exact);
  if (identity.f == identity.f) add(values, identity);
  return values;
}

}  // namespace

LawSamples::LawSamples(const ir::Monoid& monoid, const NumberState& identity, bool exact) {
  for (std::size_t k = 0; k < monoid.arity(); ++k) {
    values_.push_back(values_of(monoid, monoid.components[k].type, identity[k], exact));
  }
}

std::vector<NumberState> LawSamples::all(std::size_t limit) const {
  std::vector<NumberState> states{{}};
  for (const auto& values : values_) {
    if (states.size() * values.size() > limit) return {};
    std::vector<NumberState> longer;
    for (const NumberState& s : states) {
      for (const Scalar& v : values) {
        longer.push_back(s);
        longer.back().push_back(v);
      }
    }
    states = std::move(longer);
  }
  return states;
}

NumberState LawSamples::next() {
  NumberState state;
  for (const auto& values : values_) {
    seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
    state.push_back(values[(seed_ >> 33) % values.size()]);
  }
  return state;
}

}  // namespace tap
