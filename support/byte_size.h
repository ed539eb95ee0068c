// Amounts of memory as messages and lists show them: "1 byte", "640 bytes", "1.5 MiB". Large amounts need no more digits.
#pragma once

#include <string>

namespace tap {

std::string byte_size(double bytes);

}  // namespace tap
