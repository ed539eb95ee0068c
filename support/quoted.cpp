#include "support/quoted.h"

#include "support/utf8.h"

namespace tap {

std::string quoted(std::string_view name) {
  constexpr std::size_t longest = 120;
  constexpr char hex[] = "0123456789abcdef";
  std::string text = "`";
  for (std::size_t at = 0; at < name.size();) {
    if (at >= longest) {
      text += "…";
      break;
    }
    auto byte = static_cast<unsigned char>(name[at]);
    std::size_t size = byte < 0x20 || byte == 0x7F ? 0 : utf8_sequence(name.substr(at));
    if (size == 0) {
      text += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
      size = 1;
    } else {
      text += name.substr(at, size);
    }
    at += size;
  }
  return text + "`";
}

}  // namespace tap
