// Quotes words for a POSIX shell, for commands that are printed to be copied.
#pragma once

#include <string>
#include <string_view>

namespace tap::driver {

// 'it'\''s'
std::string quoted_for_shell(std::string_view text);

// As it is where a shell takes it literally, else quoted: hello, 'a b;c'
std::string shell_word(std::string_view text);

}  // namespace tap::driver
