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
  double low = 0, high = 0;  // the median of all runs that could be made lies between, with at least 95 %
  double least = 0;
  std::size_t count = 0;
};
// By order statistics: that `low` and `high` enclose the median is a matter of coin tosses, whatever the distribution. Of
// fewer than six values not even the smallest and the largest do so with 95 %; they are given nevertheless. Pre: not empty.
Median median_of(std::vector<double> values);

}  // namespace tap::driver
