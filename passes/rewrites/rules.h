// Rewrite rules as passes see them. A rule is generic in types, ranks and sizes; only the front end can instantiate
// it, so passes request instances.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tap::passes {

// A rule at concrete types of its variables: two graphs of a separate program, both with the variables as inputs, in
// the same order.
struct RulePiece {
  ir::Program program;
  ir::GraphId pattern, replacement;
  bool holds = true;       // the value of the rule's `when` at these sizes …
  std::string guard = {};  // … and its text with the numbers: matmul.in > 4096, where matmul.in is 64
};

struct RuleSet {
  std::vector<std::string> texts;  // by rule, as in Program::rewrites
  // The rule at some small valid types: shows the number of variables and operations.
  std::function<std::optional<RulePiece>(std::size_t rule)> sample;
  // The rule at these types of its variables. Nothing if the pattern or the replacement does not have a type.
  std::function<std::optional<RulePiece>(std::size_t rule, const std::vector<ir::TensorType>& types)> instantiate;
};

}  // namespace tap::passes
