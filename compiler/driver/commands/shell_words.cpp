#include "compiler/driver/commands/shell_words.h"

namespace tap::driver {

std::string quoted_for_shell(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'') out += "'\\''";
    else out += c;
  }
  return out + "'";
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+,:@%=";
  // zsh takes =NAME for the path of a command.
  bool is_plain = !text.empty() && text[0] != '=' && text.find_first_not_of(plain) == std::string_view::npos;
  return is_plain ? std::string(text) : quoted_for_shell(text);
}

}  // namespace tap::driver
