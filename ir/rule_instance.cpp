#include "ir/rule_instance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "ir/graph.h"
#include "ir/interpret/interpret.h"

namespace tap::ir {
namespace {

struct Values {
  std::int64_t lo, hi;
};
// Positive numbers, for logarithms and divisors; small ones, for ids of short tables; then both signs.
constexpr Values values_to_try[] = {{1, 4}, {0, 1}, {-4, 4}, {-2, 2}};

Tensor random_tensor(const TensorType& type, Values values, std::mt19937_64& random) {
  Tensor tensor(type.element, type.shape);
  auto count = static_cast<std::uint64_t>(values.hi - values.lo + 1);
  for (std::int64_t at = 0; at < tensor.size(); ++at) {
    std::int64_t value = values.lo + static_cast<std::int64_t>(random() % count);
    if (is_bool(type.element)) tensor.store_i64(at, value & 1);
    else if (is_float(type.element)) tensor.store_f64(at, static_cast<double>(value));
    else tensor.store_i64(at, std::max(value, least_integer(type.element)));
  }
  return tensor;
}

double bound_at(const InterpretResult& result, std::size_t output, std::int64_t at) {
  const Tensor& bounds = result.bounds[output];
  return bounds.size() > at ? bounds.load_f64(at) : 0;
}

bool same_cell(const InterpretResult& a, const InterpretResult& b, std::size_t output, std::int64_t at) {
  const Tensor &left = a.outputs[output], &right = b.outputs[output];
  if (!is_float(left.type())) return left.load_i64(at) == right.load_i64(at);
  double x = left.load_f64(at), y = right.load_f64(at);
  if (x == y || (std::isnan(x) && std::isnan(y))) return true;
  if (!std::isfinite(x) || !std::isfinite(y)) return false;
  double allowed = bound_at(a, output, at) + bound_at(b, output, at);
  double coarse = 1e-3 * std::max({1.0, std::fabs(x), std::fabs(y)});
  return std::fabs(x - y) <= std::min(std::isnan(allowed) ? coarse : allowed, coarse);
}

Point cell_at(const Shape& shape, std::int64_t at) {
  Point cell(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    cell[axis] = at % shape[axis];
    at /= shape[axis];
  }
  return cell;
}

std::optional<RuleDifference> compare(const InterpretResult& pattern, const InterpretResult& replacement) {
  for (std::size_t output = 0; output < pattern.outputs.size(); ++output) {
    const Tensor& expected = pattern.outputs[output];
    for (std::int64_t at = 0; at < expected.size(); ++at) {
      if (same_cell(pattern, replacement, output, at)) continue;
      RuleDifference difference;
      difference.output = output;
      difference.cell = cell_at(expected.shape(), at);
      difference.pattern_value = element_text(expected, at);
      difference.replacement_value = element_text(replacement.outputs[output], at);
      return difference;
    }
  }
  return std::nullopt;
}

std::vector<TensorType> result_types(const Graph& graph) {
  std::vector<TensorType> types;
  for (ValueId id : graph.outputs) types.push_back(graph[id].type);
  return types;
}

}  // namespace

std::string element_text(const Tensor& tensor, std::int64_t at) {
  if (is_float(tensor.type())) return to_string(Scalar::floating(tensor.type(), tensor.load_f64(at)));
  if (is_bool(tensor.type())) return to_string(Scalar::boolean(tensor.load_i64(at) != 0));
  return to_string(Scalar::integer(tensor.type(), tensor.load_i64(at)));
}

RuleTrial try_rule(const Program& program, const RuleInstance& rule) {
  RuleTrial trial;
  if (result_types(program[rule.pattern]) != result_types(program[rule.replacement])) {
    trial.difference.emplace().types = true;
    return trial;
  }
  InterpretOptions options;
  options.with_bounds = true;
  std::mt19937_64 random(1);
  for (Values values : values_to_try) {
    std::vector<Tensor> inputs;
    for (const TensorType& type : rule.inputs) inputs.push_back(random_tensor(type, values, random));
    InterpretResult expected, got;
    try {
      expected = interpret(program, rule.pattern, inputs, options);
    } catch (const EvaluationError&) { continue; }
    ++trial.evaluated;
    try {
      got = interpret(program, rule.replacement, inputs, options);
      trial.difference = compare(expected, got);
    } catch (const EvaluationError& error) { trial.difference.emplace().failure = error.message; }
    if (!trial.difference) continue;
    trial.difference->inputs = std::move(inputs);
    break;
  }
  return trial;
}

}  // namespace tap::ir
