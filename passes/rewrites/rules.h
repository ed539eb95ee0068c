// Rewrite rules as passes see them. A rule is generic in types, ranks and sizes; only the front end can instantiate
// it, so passes request instances.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tap::passes {

// A rule at types of its variables: two graphs of a program of its own, both with the variables as inputs, in one
// order.
struct RulePiece {
  ir::Program program;
  ir::GraphId pattern, replacement;
  bool holds = true;       // what the rule's `when` says at these sizes …
  std::string guard = {};  // … and its text with the numbers: matmul.in > 4096, where matmul.in is 64
};

struct RuleSet {
  std::vector<std::string> texts;  // by rule, as in Program::rewrites
  // The rule at some small types that it can have: how many variables and operations there are.
  std::function<std::optional<RulePiece>(std::size_t rule)> sample;
  // At these types of its variables. Nothing if the pattern, or the replacement, cannot have them.
  std::function<std::optional<RulePiece>(std::size_t rule, const std::vector<ir::TensorType>& types)> instantiate;
};

}  // namespace tap::passes
