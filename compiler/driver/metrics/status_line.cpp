#include "compiler/driver/metrics/status_line.h"

#include <unistd.h>

#include <string>

#include "compiler/driver/metrics/progress_line.h"
#include "support/write_all.h"

namespace tap::driver {

void StatusLine::show(double part) {
  const auto now = Clock::now();
  if (!is_shown_ || now < next_) return;
  next_ = now + std::chrono::milliseconds(250);
  const std::string text = progress_text(part, std::chrono::duration<double>(now - began_).count(), "");
  if (text.empty()) return;
  write_all(STDERR_FILENO, std::string(erase_line) + text);
  is_written_ = true;
}

StatusLine::~StatusLine() {
  if (is_written_) write_all(STDERR_FILENO, std::string(erase_line));
}

}  // namespace tap::driver
