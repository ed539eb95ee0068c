#include "ir/row.h"

#include <algorithm>

#include "support/checked.h"

namespace tap::ir {

std::int64_t count_of(const Row& row) {
  std::int64_t count = 1;
  for (const Level& level : row) count = checked::mul(count, level.count);
  return count;
}

bool is_across(const Level& level, std::size_t rank) {
  return std::any_of(level.steps.begin() + static_cast<std::ptrdiff_t>(rank), level.steps.end(),
                     [](std::int64_t step) { return step != 0; });
}

std::vector<std::int64_t> Numbers::values() const {
  std::vector<std::int64_t> values;
  for (std::size_t d = 0; d < rank(); ++d) values.push_back(box->dims[d].lo);
  for (const std::int64_t* other : others) values.push_back(*other);
  return values;
}

void Numbers::add(const std::vector<std::int64_t>& steps, std::int64_t times) const {
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const std::int64_t by = checked::mul(steps[k], times);
    auto move = [by](std::int64_t& number) { number = checked::add(number, by); };
    if (k >= rank()) move(*others[k - rank()]);
    else move(box->dims[k].lo), move(box->dims[k].hi);
  }
}

}  // namespace tap::ir
