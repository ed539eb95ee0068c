// Names of temporary files: `.tapc-HOST-PID-COUNT.tmp`, where HOST is a hash of the host name and the PID namespace.
// On a shared file system, process ids of other machines are meaningless, so their temporary files are never treated
// as leftovers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tap {

std::string temporary_name();  // a new one each time

// The process that made a temporary file on this host; none if `name` is not such a name.
std::optional<long> process_of_temporary(std::string_view name);

}  // namespace tap
