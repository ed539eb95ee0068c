// All of these bytes to a file that is open, however many the system takes at a time.
#pragma once

#include <string_view>

namespace tap {

// 0, or the errno of the write that failed.
int write_all(int file_descriptor, std::string_view bytes);

}  // namespace tap
