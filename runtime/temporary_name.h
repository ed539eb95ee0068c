// Names of temporary files: `.tapc-HOST-PID-START-COUNT.tmp`, where HOST is a hash of the host name and the PID namespace,
// and START the clock tick at which the process started, since process ids are used again. On a shared file system,
// process ids of other machines are meaningless, so their temporary files are never treated as leftovers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tap {

std::string temporary_name();  // a new one each time

// Of this host.
struct TemporaryOwner {
  long process = 0;
  std::uint64_t start = 0;  // 0: not known
  bool operator==(const TemporaryOwner&) const = default;
};

// None if `name` is not the name of a temporary file, or one of another host.
std::optional<TemporaryOwner> owner_of_temporary(std::string_view name);

// A process whose parent has not yet asked how it ended is over: it writes no more.
bool is_over(const TemporaryOwner& owner);

}  // namespace tap
