// Loops over the points of some index dims under affine constraints, in lexicographic order. The other dims of the
// point keep the values that the caller set, so that one nest runs the parallel dims and another the reduction dims
// inside it.
//
//   LoopNest nest(op, {1}, constraints);   // k of  sum[k in 0..i+1]
//   point = {3, _};   for (bool more = nest.first(point); more; more = nest.next(point)) …   // k = 0, 1, 2, 3
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ir/operator.h"

namespace tap::ir::oracle {

// Which dims a constraint mentions.
bool mentions(const Constraint& constraint, std::size_t dim);

class LoopNest {
 public:
  // Constraints that mention none of `dims` are checked once, in first().
  LoopNest(const Operator& op, const std::vector<std::uint32_t>& dims, const std::vector<Constraint>& constraints);

  bool first(Point& p);
  bool next(Point& p);
  // The range of a nest of one dim, given the other dims of the point. Does not check constraints on the others alone.
  Range range(const Point& p) const { return level_range(levels_.front(), p); }

 private:
  using Terms = std::vector<std::pair<std::uint32_t, std::int64_t>>;  // (dim, coefficient)
  struct Limit {  // factor * x + (terms + offset) >= 0 (or == 0), x the dim of its level
    std::int64_t factor;
    Terms others;
    std::int64_t offset;
    Comparison comparison;
  };
  struct Level {
    std::uint32_t dim;
    Range range;
    std::vector<Limit> limits;
    std::int64_t end = 0;  // where the current loop of this level ends
  };

  static Range level_range(const Level& level, const Point& p);
  bool settle(std::size_t level, Point& p);

  std::vector<Level> levels_;
  std::vector<Constraint> fixed_;
};

}  // namespace tap::ir::oracle
