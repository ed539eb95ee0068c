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
  std::vector<ir::ValueId> variables;           // the values that the pattern's variables match
  std::vector<ir::ValueId> results;             // of the pattern
  std::shared_ptr<const RulePiece> piece = {};  // calls are inlined
  // By value and by operation of the pattern: the matching one here; and by dim of that operation, the matching dim.
  struct OperationMatch {
    ir::OperationId operation;
    std::vector<std::uint32_t> dims;
    std::vector<ir::ValueId> results;  // in the operation's order
  };
  std::vector<ir::ValueId> values = {};
  std::vector<OperationMatch> matched = {};
  bool in_order = true;  // whether the operation's results are in the pattern's order
};
struct Matches {
  std::vector<Match> found;                                             // ordered by their last operation
  std::vector<std::pair<std::size_t, ir::OperationId>> exhausted = {};  // rule and place: too many bindings
};

// The kind of an operator and the operations of its cells, independent of rank, sizes and element type.
using Fingerprint = std::vector<int>;
Fingerprint fingerprint_of(const ir::Program& program, const ir::Operator& op);

class RuleMatcher {
 public:
  explicit RuleMatcher(const RuleSet& rules);

  // Finds each rule at most once for a set of operations. Pre: the passes before offer_choices have run.
  Matches find(const ir::Program& program, ir::GraphId graph);

 private:
  friend class GraphMatcher;
  struct Shape {  // from a sample of the rule
    std::size_t variables = 0;
    std::map<int, int> sketches;  // by fingerprint: the pattern's operations that have it; empty: no match
    std::size_t operations = 0;
  };
  struct Instance {
    std::shared_ptr<const RulePiece> piece;
    std::vector<std::vector<std::int64_t>> codes;  // of the pattern's operations, without their operands
  };
  void learn(std::size_t rule);
  const Instance& instance_of(std::size_t rule, const std::vector<ir::TensorType>& types);

  const RuleSet& rules_;
  std::vector<Shape> shapes_;                                          // by rule
  std::map<Fingerprint, int> sketches_;                                // those that occur in patterns, numbered
  std::map<int, std::vector<std::size_t>> by_sketch_;                  // the rules whose patterns contain it
  std::map<std::pair<std::size_t, std::string>, Instance> instances_;  // by the types' text
};

}  // namespace tap::passes
