// Numbers that increase linearly along the levels of a row of tasks: a fact proved for the first task then holds for
// all.
//
//   device 2 times 8 by (…, 64) times 64 by (…, 1)      has along a mesh of 16 by 64 the coordinates 0, 1, … of axis 0,
//                                                       and 2, 3, … of axis 1
#pragma once

#include "check/affine.h"
#include "check/verdict.h"
#include "ir/schedule.h"

namespace tap::check {

using ir::Box;

struct Along {
  std::int64_t first = 0;
  std::vector<std::int64_t> steps = {};  // by level
  bool operator==(const Along&) const = default;
};
inline bool stays(const Along& number) {
  return std::ranges::all_of(number.steps, [](std::int64_t step) { return step == 0; });
}
// The number in this column of the levels' steps.
Along along(const ir::Row& levels, std::int64_t first, std::size_t column);
Along sum(Along a, const Along& b, std::int64_t times);
// From the least value to past the greatest, if each is the first of `size` consecutive numbers.
ir::Range reach(const ir::Row& levels, const Along& number, std::int64_t size = 1);
// The digits of a number, with these radixes from major to minor, if each also changes by constant steps.
//
//   5, 12, 19 by 7 with sizes 4, 8      0, 1, 2 by 1 and 5, 4, 3 by -1
std::optional<std::vector<Along>> digits(const ir::Row& levels, const Along& number,
                                         const std::vector<std::int64_t>& sizes);
// Whether the number is shown to be different everywhere.
bool differs(const ir::Row& levels, const Along& number);
// The positions, along each level of a row, of the members with this number.
std::vector<Along> positions_in(const ir::Row& row, const ir::Row& levels, const Along& number, Obligation obligation);

// A box repeated along the levels: its start along each dim, and its sizes.
struct Moving {
  std::vector<Along> begins = {};
  std::vector<std::int64_t> sizes = {};
};
Moving moving(const ir::Row& levels, const Box& first);
// The cells that an access touches, including those outside the tensor.
Moving touched(const ir::Row& levels, const ir::Access& access, const Box& points);
Box reach(const ir::Row& levels, const Moving& box);

}  // namespace tap::check
