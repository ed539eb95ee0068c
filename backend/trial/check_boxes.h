// The boxes on which a kernel is tested (self_check.h): as small as its loops allow, so that the test is fast, and
// large enough for a full tile and a tail along every dim.
//
//   tiles of 14 rows by 32 columns on 1000 x 1000 x 700     rows 14 + 6, columns 32 + 8, reduction 5, at either end
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "backend/loops/loops.h"

namespace tap::backend {

// Limits for a test box: the whole box if it has at most `points` points; at most `most` if the loops allow no smaller
// one. No box if all are larger.
struct CheckBudget {
  double points = 0;
  double most = 0;
  double deep = 0;  // points while reductions stay as long as possible
};
// How a dim may shrink: together with others, last, or not at all.
enum class Shrinks : std::uint8_t { with_others, last, never };
std::optional<std::vector<std::int64_t>> choose_sizes(const ir::Box& whole, const std::vector<BoxStep>& steps,
                                                      const std::vector<Shrinks>& how, const CheckBudget& budget,
                                                      const std::function<double(const ir::Box&)>& points);

// The box of these sizes at the start, or the end, of the whole box.
ir::Box box_at(const ir::Box& whole, const std::vector<std::int64_t>& sizes, bool at_end);

}  // namespace tap::backend
