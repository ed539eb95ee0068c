// Invariants whose violation is a bug of tapc, never a user's mistake. The driver turns an InternalError into one
// line `internal error` with the phase, writes a reproducer, and exits with 70.
#pragma once

#include <stdexcept>
#include <string>

namespace tap {

struct InternalError : std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] void internal_error(const char* file, int line, const std::string& what);

}  // namespace tap

#define TAP_CHECK(condition, message)                                       \
  do {                                                                      \
    if (!(condition)) ::tap::internal_error(__FILE__, __LINE__, (message)); \
  } while (false)
#define TAP_UNREACHABLE(message) ::tap::internal_error(__FILE__, __LINE__, (message))
