// Names of temporaries: `.tapc-HOST-PID-COUNT.tmp`, where HOST is a hash of the host's name and of the namespace in which
// the process id counts. On a shared file system another machine's process ids mean nothing to us, so its temporaries
// are never taken for leftovers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tap {

std::string temporary_name();  // a new one each time

// The process that made a temporary on this host; none if `name` is not such a name.
std::optional<long> process_of_temporary(std::string_view name);

}  // namespace tap
