#include "compiler/driver/show/node_text.h"

#include <algorithm>

namespace tap::driver {
namespace {

constexpr double character_width = 6.6;
constexpr std::size_t longest_line = 48;

// Code points, not bytes.
std::size_t length_of(std::string_view text) {
  std::size_t count = 0;
  for (char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

}  // namespace

std::string shortened_line(const std::string& text) {
  if (length_of(text) <= longest_line) return text;
  std::size_t at = 0;
  for (std::size_t count = 0; at < text.size(); ++at)
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80 && ++count == longest_line) break;
  return text.substr(0, at) + "…";
}

Size size_of(const DrawnNode& node) {
  std::size_t longest = 4;
  for (const std::string& line : node.lines) longest = std::max(longest, length_of(shortened_line(line)));
  return {static_cast<double>(longest) * character_width + 2 * node_padding,
          static_cast<double>(node.lines.size()) * node_line_height + 2 * node_padding};
}

}  // namespace tap::driver
