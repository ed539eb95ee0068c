// The order in which factors are contracted, two at a time: a tree with the fewest operations.
//
//   a[i, j] b[j, k] c[k, l], summed over j and k     →     ((a b) c)  or  (a (b c)), by the sizes
//
// Joining two sets of factors loops over all dims of both, and reduces over those that nothing else needs. A leaf may
// be prepared first: computed once over its own dims, and reduced over those that only it has.
#pragma once

#include <cstdint>
#include <vector>

namespace tap::passes {

struct Multiplicand {
  std::uint64_t dims = 0;  // a bit for each dim that the factor depends on
  double work = 0;         // operations to compute the factor at one point
};
struct ContractionProblem {
  std::vector<double> sizes;          // by dim
  std::vector<Multiplicand> factors;  // at most 64
  std::uint64_t kept = 0;             // dims of the result; all others are reduced
  std::uint64_t alone = 0;            // reduced dims that no factor has: the last step reduces over them
};

// A node of the tree: a factor, prepared first or read directly, or a step that joins two nodes.
struct ContractionNode {
  bool leaf = true;
  std::uint32_t factor = 0;           // of a leaf
  bool prepared = false;              // of a leaf
  std::uint32_t left = 0, right = 0;  // of a step: earlier nodes
};
struct ContractionTree {
  std::vector<ContractionNode> nodes;  // children first; the last is the root
  double flops = 0;
};

// The best tree for up to `most_exact` factors, by dynamic programming over sets of them. For more, the better of two
// greedy trees: one takes the cheapest step each time, the other the step with the smallest result.
inline constexpr std::size_t most_exact = 12;
ContractionTree contraction_order(const ContractionProblem& problem);

// Without contraction steps, as written.
double flops_at_once(const ContractionProblem& problem);

// The dims of one step, for the code that builds trees and the code that computes costs.
struct ContractionStep {
  std::uint64_t over = 0;    // the dims it runs over
  std::uint64_t result = 0;  // the dims of its result
};
// By node. For a leaf: the dims of preparing it; if it is not prepared, its dims twice.
std::vector<ContractionStep> steps_of(const ContractionProblem& problem, const ContractionTree& tree);
// Operations at each point of a step: one product, if it joins; the work of leaves read by it; one combination, if it
// reduces.
double cost_of(const ContractionProblem& problem, const ContractionTree& tree);

}  // namespace tap::passes
