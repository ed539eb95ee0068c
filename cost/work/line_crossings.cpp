#include "cost/work/line_crossings.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cost/work/loop_values.h"
#include "support/tensor.h"

namespace tap::cost {

namespace {

// Measured on Zen 4 with data in the first cache: vectors of 64 bytes that all cross lines take 1.6 times as long as aligned
// ones, those of 32 bytes, of which every second crosses, 1.9 times.
constexpr double most_extra = 0.7;

}  // namespace

double accesses_per_vector(const std::vector<ir::AffineExpr>& at, const ir::TensorType& type,
                           const std::vector<Progress>& loops, std::int64_t width, std::int64_t line) {
  const std::vector<std::int64_t> strides = row_major_strides(type.shape);
  const auto cell = static_cast<std::int64_t>(size_of(type.element));
  std::int64_t first = 0;
  for (std::size_t a = 0; a < at.size(); ++a) first += at[a].offset * strides[a] * cell;
  double aligned = 1;
  for (const Progress& loop : loops) {
    double bytes = 0;  // from one iteration to the next
    for (std::size_t a = 0; a < at.size(); ++a)
      bytes += static_cast<double>(LoopValues::step_of(at[a], loop.variable) * strides[a] * cell) * loop.step;
    const auto beyond = static_cast<std::int64_t>(std::fmod(std::abs(bytes), static_cast<double>(width)));
    if (beyond == 0) continue;
    const auto divisor = static_cast<double>(std::gcd(beyond, width));
    aligned = std::min(aligned, std::max(divisor / static_cast<double>(width), 1 / std::max(loop.rounds, 1.0)));
  }
  if (aligned == 1 && first % width != 0) aligned = 0;
  return 1 + (1 - aligned) * std::min(most_extra, 2 * static_cast<double>(width) / static_cast<double>(line));
}

}  // namespace tap::cost
