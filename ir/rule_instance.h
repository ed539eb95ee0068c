// A rewrite rule at concrete types: two graphs of one program that are claimed to compute the same function of their
// inputs.
//
//   rewrite twice(x) => plus_itself(x)   at x: f64[3]   is   pattern: graph 4, replacement: graph 7, inputs {f64[3]}
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/operator.h"
#include "support/tensor.h"

namespace tap::ir {

struct RuleInstance {
  GraphId pattern, replacement;        // both have these inputs, in this order
  std::vector<std::string> variables;  // names of the inputs in the rule
  std::vector<TensorType> inputs;
  bool operator==(const RuleInstance&) const = default;
};

// Where the two sides differ: by their types, or in one cell on some data.
struct RuleDifference {
  bool types = false;          // the results differ in number, shape or element type; nothing below is set
  std::vector<Tensor> inputs;  // the input data
  std::size_t output = 0;
  Point cell;
  std::string pattern_value, replacement_value;
  std::string failure;  // the run-time failure of the replacement, if the pattern has none
};

struct RuleTrial {
  std::size_t evaluated = 0;  // on how many inputs the pattern could be evaluated
  std::optional<RuleDifference> difference;
};

// One element by its row-major position, as a literal.
std::string element_text(const Tensor& tensor, std::int64_t at);

// Evaluates both sides by the oracle on small whole numbers, the same ones in every run. Floats may differ by the
// bounds on their rounding errors (interpret.h), and never by more than a thousandth. Inputs on which the pattern fails
// do not count.
//
// Pre: the program is legal.
RuleTrial try_rule(const Program& program, const RuleInstance& rule);

}  // namespace tap::ir
