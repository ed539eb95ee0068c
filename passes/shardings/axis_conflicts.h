// Resolves conflicts for axes between the factors of one operation. A candidate is a factor with a list of axes by
// which some tensor shards it; every prefix of the list is a candidate, too. The best candidate gets its axes,
// overlapping candidates are shortened, and so on until none is left. Order of preference: more cells of tensors;
// then pass-through factors before reductions, permutations and unsplittable factors; then more shards.
#pragma once

#include "passes/shardings/common_axes.h"

namespace tap::passes {

class AxisContest {
 public:
  AxisContest(const ir::Mesh& mesh, const Factors& factors, const std::vector<FactoredTensor>& tensors);
  std::vector<ir::Axes> run();  // by factor

 private:
  struct Candidate {
    std::uint32_t factor = 0;
    ir::Axes axes;
    std::int64_t cells = 0;   // of the tensors that it shards
    std::int64_t shards = 1;  // beyond what the factor already has
  };
  void enter(std::uint32_t factor, const ir::Axes& axes);
  void count(std::uint32_t factor, const ir::Axes& axes, std::int64_t cells);
  void wait_for_majors(const std::vector<FactoredTensor>& tensors);
  bool better(const Candidate& a, const Candidate& b) const;
  const Candidate* best() const;
  void award(const Candidate& winner);

  const ir::Mesh& mesh_;
  const Factors& factors_;
  std::vector<Candidate> candidates_;
  std::vector<ir::Axes> won_;
  // By factor: the factors before it in an axis, which must be fully sharded before it can be.
  std::vector<std::vector<std::uint32_t>> waits_for_;
};

}  // namespace tap::passes
