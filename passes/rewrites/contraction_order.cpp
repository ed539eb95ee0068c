#include "passes/rewrites/contraction_order.h"

#include <algorithm>
#include <limits>

#include "support/check.h"

namespace tap::passes {

namespace {

using Dims = std::uint64_t;

double points(const ContractionProblem& p, Dims dims) {
  double n = 1;
  for (std::size_t d = 0; d < p.sizes.size(); ++d)
    if (dims >> d & 1) n *= p.sizes[d];
  return n;
}

Dims dims_of(const ContractionProblem& p, std::uint64_t factors) {
  Dims dims = 0;
  for (std::size_t f = 0; f < p.factors.size(); ++f)
    if (factors >> f & 1) dims |= p.factors[f].dims;
  return dims;
}
std::uint64_t all_factors(const ContractionProblem& p) {
  return p.factors.size() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << p.factors.size()) - 1;
}
// The dims that remain if the factors are joined: those that the result or other factors need.
Dims needed(const ContractionProblem& p, Dims dims, std::uint64_t factors) {
  return dims & (p.kept | dims_of(p, all_factors(p) & ~factors));
}

// A set of factors, joined or about to be.
struct Part {
  std::uint64_t factors = 0;
  Dims dims = 0;
  double work = 0;   // at each point of a read
  double flops = 0;  // to compute it
  std::uint32_t node = 0;
};

// The last step also writes result dims that no factor has, and reduces over the dims without factors.
Dims run_over(const ContractionProblem& p, Dims dims, std::uint64_t factors) {
  return factors == all_factors(p) ? dims | p.kept | p.alone : dims;
}
double step_cost(const ContractionProblem& p, Dims over, Dims result, double products, double work) {
  return points(p, over) * (products + work + (over != result ? 1 : 0));
}
Dims result_of(const ContractionProblem& p, Dims dims, std::uint64_t factors) {
  return factors == all_factors(p) ? p.kept : needed(p, dims, factors);
}

Part join(const ContractionProblem& p, const Part& a, const Part& b) {
  Part both;
  both.factors = a.factors | b.factors;
  const Dims over = run_over(p, a.dims | b.dims, both.factors);
  both.dims = result_of(p, over, both.factors);
  both.flops = a.flops + b.flops + step_cost(p, over, both.dims, 1, a.work + b.work);
  return both;
}

class Orderer {
 public:
  explicit Orderer(const ContractionProblem& p) : p_(p) {
    for (std::uint32_t f = 0; f < p.factors.size(); ++f) {
      const Multiplicand& factor = p.factors[f];
      const std::uint64_t own = std::uint64_t{1} << f;
      leaves_.push_back({{own, factor.dims, factor.work, 0, add({true, f, false, 0, 0})}});
      const Dims left = needed(p, factor.dims, own);
      if (left != factor.dims || factor.work > 0)
        leaves_.back().push_back(
            {own, left, 0, step_cost(p, factor.dims, left, 0, factor.work), add({true, f, true, 0, 0})});
    }
  }

  ContractionTree run() {
    Part root = p_.factors.size() <= most_exact ? exact() : greedy();
    ContractionTree tree;
    tree.flops = root.flops;
    keep(root.node, tree);
    return tree;
  }

 private:
  std::uint32_t add(ContractionNode node) {
    nodes_.push_back(node);
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }

  // The cheapest way to join any of the two.
  Part best_join(const std::vector<Part>& left, const std::vector<Part>& right, double bound) {
    Part best;
    best.flops = std::numeric_limits<double>::infinity();
    std::uint32_t l = 0, r = 0;
    for (const Part& a : left)
      for (const Part& b : right)
        if (Part both = join(p_, a, b); both.flops < best.flops) best = both, l = a.node, r = b.node;
    if (best.flops < bound) best.node = add({false, 0, false, l, r});
    return best;
  }

  Part exact() {
    const std::size_t n = p_.factors.size();
    std::vector<std::vector<Part>> best(std::size_t{1} << n);
    for (std::uint64_t set = 1; set < best.size(); ++set) {
      if ((set & (set - 1)) == 0) {
        for (std::size_t f = 0; f < n; ++f)
          if (set >> f & 1) best[set] = leaves_[f];
        continue;
      }
      Part least;
      least.flops = std::numeric_limits<double>::infinity();
      const std::uint64_t first = set & ~(set - 1);
      for (std::uint64_t left = (set - 1) & set; left; left = (left - 1) & set) {
        if (!(left & first)) continue;  // each pair once
        Part joined = best_join(best[left], best[set & ~left], least.flops);
        if (joined.flops < least.flops) least = joined;
      }
      best[set] = {least};
    }
    return best.back().front();
  }

  // Greedy: repeats the step that minimises a measure.
  template <class Measure>
  Part greedy(Measure measure) {
    std::vector<std::vector<Part>> open = leaves_;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    while (open.size() > 1) {
      std::size_t l = 0, r = 1;
      double least = infinity;
      for (std::size_t a = 0; a < open.size(); ++a)
        for (std::size_t b = a + 1; b < open.size(); ++b)
          for (const Part& x : open[a])
            for (const Part& y : open[b])
              if (double cost = measure(x, y); cost < least) least = cost, l = a, r = b;
      Part joined = best_join(open[l], open[r], infinity);
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(r));
      open[l] = {joined};
    }
    return open.front().front();
  }
  Part greedy() {
    Part cheap = greedy([&](const Part& x, const Part& y) { return join(p_, x, y).flops - x.flops - y.flops; });
    Part small = greedy([&](const Part& x, const Part& y) {
      return points(p_, join(p_, x, y).dims) - points(p_, x.dims) - points(p_, y.dims);
    });
    return cheap.flops <= small.flops ? cheap : small;
  }

  std::uint32_t keep(std::uint32_t node, ContractionTree& tree) const {
    ContractionNode kept = nodes_[node];
    if (!kept.leaf) {
      kept.left = keep(nodes_[node].left, tree);
      kept.right = keep(nodes_[node].right, tree);
    }
    tree.nodes.push_back(kept);
    return static_cast<std::uint32_t>(tree.nodes.size() - 1);
  }

  const ContractionProblem& p_;
  std::vector<ContractionNode> nodes_;
  std::vector<std::vector<Part>> leaves_;  // by factor: read directly, or prepared
};

}  // namespace

ContractionTree contraction_order(const ContractionProblem& problem) {
  TAP_CHECK(problem.factors.size() >= 2 && problem.factors.size() <= 64,
            "a contraction of too few or too many factors");
  return Orderer(problem).run();
}

double flops_at_once(const ContractionProblem& problem) {
  Dims over = problem.kept | problem.alone | dims_of(problem, all_factors(problem));
  double work = 0;
  for (const Multiplicand& f : problem.factors) work += f.work;
  return step_cost(problem, over, problem.kept, static_cast<double>(problem.factors.size()) - 1, work);
}

std::vector<ContractionStep> steps_of(const ContractionProblem& p, const ContractionTree& tree) {
  std::vector<ContractionStep> steps;
  std::vector<std::uint64_t> factors;
  for (const ContractionNode& node : tree.nodes) {
    if (node.leaf) {
      const Dims dims = p.factors[node.factor].dims;
      factors.push_back(std::uint64_t{1} << node.factor);
      steps.push_back({dims, node.prepared ? needed(p, dims, factors.back()) : dims});
      continue;
    }
    factors.push_back(factors[node.left] | factors[node.right]);
    const Dims over = run_over(p, steps[node.left].result | steps[node.right].result, factors.back());
    steps.push_back({over, result_of(p, over, factors.back())});
  }
  return steps;
}

double cost_of(const ContractionProblem& p, const ContractionTree& tree) {
  std::vector<ContractionStep> steps = steps_of(p, tree);
  double flops = 0;
  for (std::size_t n = 0; n < steps.size(); ++n) {
    const ContractionNode& node = tree.nodes[n];
    auto work = [&](std::uint32_t child) {
      const ContractionNode& c = tree.nodes[child];
      return c.leaf && !c.prepared ? p.factors[c.factor].work : 0;
    };
    if (!node.leaf) flops += step_cost(p, steps[n].over, steps[n].result, 1, work(node.left) + work(node.right));
    else if (node.prepared) flops += step_cost(p, steps[n].over, steps[n].result, 0, p.factors[node.factor].work);
  }
  return flops;
}

}  // namespace tap::passes
