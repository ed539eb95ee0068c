#include "compiler/driver/median.h"

#include <algorithm>
#include <cmath>

namespace tap::driver {
namespace {

// The first k for which n fair coins show at most k heads with a probability above 2.5 %.
std::size_t values_to_leave_out(std::size_t n) {
  double tail = 0, log_half = -static_cast<double>(n) * std::log(2.0), log_binomial = 0;
  for (std::size_t k = 0; k < n; ++k) {
    if (k > 0) log_binomial += std::log(static_cast<double>(n - k + 1) / static_cast<double>(k));
    tail += std::exp(log_binomial + log_half);
    if (tail > 0.025) return k;
  }
  return n;
}

}  // namespace

Median median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::size_t n = values.size();
  // With k values excluded at each end, the next one is the bound.
  std::size_t k = std::max<std::size_t>(values_to_leave_out(n), 1) - 1;
  return {(values[(n - 1) / 2] + values[n / 2]) / 2, values[k], values[n - 1 - k], values[0], n};
}

}  // namespace tap::driver
