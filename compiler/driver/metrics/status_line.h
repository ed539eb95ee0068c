// A line with the part that is done of a long computation and the time left, rewritten in place, on a terminal only:
//
//   StatusLine line(::isatty(STDERR_FILENO) == 1);
//   for (…) line.show(part);       37 %, about 12 s left
#pragma once

#include <chrono>

namespace tap::driver {

class StatusLine {
 public:
  explicit StatusLine(bool is_shown) : is_shown_(is_shown) {}
  ~StatusLine();  // erases it
  StatusLine(const StatusLine&) = delete;

  // `part`: from 0 to 1. Cheap if called often; writes nothing in the first seconds.
  void show(double part);

 private:
  using Clock = std::chrono::steady_clock;
  const bool is_shown_;
  bool is_written_ = false;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point next_ = began_ + std::chrono::seconds(2);
};

}  // namespace tap::driver
