// Finds matches of a rule's pattern in a graph, by what operations compute, independently of names and of how they
// were written.
//
//   rule matmul(x, w) => …      C[i, j] = sum[k] A[i, k] * B[k, j]      matches, with x = A and w = B
//
// A binding of the variables is right if numbering the pattern's values by those of the graph reaches its results:
// each operation of the pattern is looked up by its canonical form on its operands.
//
// The search is bounded: a rule is tried only at operations with cells similar to its pattern's, and with a limited
// number of bindings.
#pragma once

#include <map>
#include <memory>

#include "passes/rewrites/rules.h"

namespace tap::passes {

struct Match {
  std::size_t rule = 0;
  std::vector<ir::OperationId> operations;      // that the pattern computes, in order
  std::vector<ir::ValueId> variables;           // what they stand for
  std::vector<ir::ValueId> results;             // of the pattern
  std::shared_ptr<const RulePiece> piece = {};  // calls are inlined
  // By value and by operation of the pattern: what it is here; and by dim of that operation, which dim it is here.
  struct Here {
    ir::OperationId operation;
    std::vector<std::uint32_t> dims;
    std::vector<ir::ValueId> results;  // of the operation, in its order
  };
  std::vector<ir::ValueId> values = {};
  std::vector<Here> here = {};
  bool in_order = true;  // results of an operation, in the order in which the pattern has them
};
struct Matches {
  std::vector<Match> found;                                             // by their last operation
  std::vector<std::pair<std::size_t, ir::OperationId>> exhausted = {};  // rule and place: more ways than are tried
};

// What an operator looks like, of whatever rank, sizes and element type: its kind, and the operations on its cells.
using Fingerprint = std::vector<int>;
Fingerprint fingerprint_of(const ir::Program& program, const ir::Operator& op);

class RuleMatcher {
 public:
  explicit RuleMatcher(const RuleSet& rules);

  // Each rule at most once for a set of operations. Pre: what the passes before offer_choices leave behind.
  Matches find(const ir::Program& program, ir::GraphId graph);

 private:
  friend class GraphMatcher;
  struct Shape {  // what a sample shows
    std::size_t variables = 0;
    std::map<int, int> sketches;  // by number: how many operations of the pattern look so; none: it matches nothing
    std::size_t operations = 0;
  };
  struct Instance {
    std::shared_ptr<const RulePiece> piece;
    std::vector<std::vector<std::int64_t>> codes;  // of the pattern's operations, whatever they are applied to
  };
  void learn(std::size_t rule);
  const Instance& instance_of(std::size_t rule, const std::vector<ir::TensorType>& types);

  const RuleSet& rules_;
  std::vector<Shape> shapes_;                                          // by rule
  std::map<Fingerprint, int> sketches_;                                // that occur in patterns, numbered
  std::map<int, std::vector<std::size_t>> by_sketch_;                  // the rules in whose pattern one occurs
  std::map<std::pair<std::size_t, std::string>, Instance> instances_;  // by the types' text
};

}  // namespace tap::passes
