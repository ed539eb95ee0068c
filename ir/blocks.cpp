#include "ir/blocks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/check.h"
#include "support/checked.h"

namespace tap::ir {

Range Blocks::block(Range whole, std::int64_t number) const {
  TAP_CHECK(number >= 0 && number < count, "a block beyond the last one");
  if (!boundaries.empty()) {
    auto n = static_cast<std::size_t>(number);
    return {boundaries[n], boundaries[n + 1]};
  }
  std::int64_t size = whole.size();
  std::int64_t step = size / count + (size % count != 0);
  // min before the product: `number` may be large where blocks are empty.
  std::int64_t full = step == 0 ? 0 : size / step;
  std::int64_t lo = number > full ? size : std::min(size, checked::mul(number, step));
  return {whole.lo + lo, whole.lo + (size - lo < step ? size : lo + step)};
}

bool tiles(const Blocks& blocks, Range whole) {
  if (blocks.count < 1) return false;
  const auto& b = blocks.boundaries;
  if (b.empty()) return true;
  return b.size() == static_cast<std::size_t>(blocks.count) + 1 && std::is_sorted(b.begin(), b.end()) &&
         b.front() == whole.lo && b.back() == std::max(whole.lo, whole.hi);
}

Blocks blocks_of(Range whole, const std::vector<Range>& blocks) {
  TAP_CHECK(!blocks.empty(), "a range must be split into at least one block");
  Blocks even{static_cast<std::int64_t>(blocks.size())};
  bool equal = true;
  for (std::size_t n = 0; n < blocks.size() && equal; ++n)
    equal = even.block(whole, static_cast<std::int64_t>(n)) == blocks[n];
  if (equal) return even;
  Blocks uneven{even.count, {blocks.front().lo}};
  for (Range block : blocks) uneven.boundaries.push_back(block.hi);
  return uneven;
}

std::string to_string(const Blocks& blocks) {
  if (blocks.boundaries.empty()) return fmt::format("{}", blocks.count);
  return fmt::format("[{}]", fmt::join(blocks.boundaries, ", "));
}

}  // namespace tap::ir
