// Quotes words for a POSIX shell, for commands that are printed to be copied.
#pragma once

#include <string>
#include <string_view>

namespace tap::driver {

// 'it'\''s'
std::string quoted_for_shell(std::string_view text);

// Quoted only if a shell would not take it literally: hello, 'a b;c'
std::string shell_word(std::string_view text);

}  // namespace tap::driver
