// Writes all bytes to an open file, with as many system calls as needed.
#pragma once

#include <string_view>

namespace tap {

// 0, or the errno of the write that failed.
int write_all(int file_descriptor, std::string_view bytes);

}  // namespace tap
