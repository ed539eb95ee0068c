// Formats amounts of memory: "1 byte", "640 bytes", "1.5 MiB". Large amounts are rounded.
#pragma once

#include <string>

namespace tap {

std::string byte_size(double bytes);

}  // namespace tap
