// Timing: a monotonic clock, and the median of measurements with its confidence interval.
#pragma once

#include <chrono>
#include <vector>

namespace tap::driver {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

struct Median {
  double middle = 0;
  double low = 0, high = 0;  // confidence interval of the median, at least 95 %
  double least = 0;
  std::size_t count = 0;
};
// By order statistics, so that the interval holds for any distribution. Fewer than six values cannot give 95 %: the
// interval is then their smallest and largest. Pre: not empty.
Median median_of(std::vector<double> values);

}  // namespace tap::driver
