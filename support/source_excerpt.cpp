#include "support/source_excerpt.h"

#include <algorithm>

namespace tap {
namespace {

constexpr std::size_t window = 100;  // columns shown of a longer line
constexpr std::size_t before_mark = 30;
constexpr std::size_t tab_width = 4;
constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view ellipsis = "\xE2\x80\xA6";     // …

struct CodeRange {
  char32_t first, last;
};

// Controls, and the characters that reorder or hide text (Trojan Source).
constexpr CodeRange unprintable[] = {{0x0, 0x1f},      {0x7f, 0x9f},     {0x61c, 0x61c},
                                     {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x2069},
                                     {0xfeff, 0xfeff}, {0xd800, 0xdfff}, {0xe0000, 0xe007f}};
constexpr CodeRange zero_width[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x1ab0, 0x1aff},
                                    {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
constexpr CodeRange double_width[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},  {0x3041, 0x33ff}, {0x3400, 0x4dbf},
                                      {0x4e00, 0x9fff},   {0xa000, 0xa4cf},  {0xac00, 0xd7a3}, {0xf900, 0xfaff},
                                      {0xfe30, 0xfe6f},   {0xff00, 0xff60},  {0xffe0, 0xffe6}, {0x1f300, 0x1f64f},
                                      {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};

template <std::size_t n>
bool in(const CodeRange (&ranges)[n], char32_t c) {
  return std::any_of(ranges, ranges + n, [c](CodeRange r) { return c >= r.first && c <= r.last; });
}

std::size_t width_of(char32_t c) { return in(zero_width, c) ? 0 : in(double_width, c) ? 2 : 1; }

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Up to `count` code points back from `at`.
std::size_t step_back(std::string_view line, std::size_t at, std::size_t count) {
  while (at > 0 && count > 0) {
    --at;
    while (at > 0 && continues(line[at])) --at;
    --count;
  }
  return at;
}

}  // namespace

CodePoint decode_utf8(std::string_view text, std::size_t at) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(at);
  if (lead < 0x80) return {lead, 1};
  std::size_t length = lead >= 0xF0 && lead <= 0xF4  ? 4
                       : lead >= 0xE0 && lead < 0xF0 ? 3
                       : lead >= 0xC2 && lead < 0xE0 ? 2
                                                     : 0;
  if (length == 0 || at + length > text.size()) return {0xFFFD, 1};
  char32_t value = lead & (0x7F >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues(text[at + i])) return {0xFFFD, 1};
    value = value << 6 | (byte(at + i) & 0x3F);
  }
  static constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {0xFFFD, 1};
  return {value, length};
}

Excerpt excerpt(std::string_view line, std::size_t begin, std::size_t end) {
  begin = std::min(begin, line.size());
  end = std::clamp(end, begin, line.size());
  std::size_t from = line.size() <= window ? 0 : step_back(line, begin, window);
  if (from > 0) from = step_back(line, begin, before_mark);

  Excerpt result;
  std::size_t column = 0;
  if (from > 0) {
    result.text = ellipsis;
    column = 1;
  }
  std::size_t marked_from = column, marked_to = column;
  std::size_t at = from;
  while (at < line.size() && column < window + 1) {
    if (at <= begin) marked_from = column;
    if (at < end) marked_to = column;
    auto [value, bytes] = decode_utf8(line, at);
    std::size_t wide = value == '\t' ? tab_width - column % tab_width : width_of(value);
    if (value == '\t') result.text.append(wide, ' ');
    else if (value == 0xFFFD || in(unprintable, value)) result.text += replacement;
    else result.text += line.substr(at, bytes);
    at += bytes;
    column += wide;
    if (at <= begin) marked_from = column;
    if (at <= end) marked_to = column;
  }
  if (at < line.size()) {
    result.text += ellipsis;
    if (end > at) marked_to = column;
  }
  result.first = marked_from;
  result.width = std::max<std::size_t>(1, marked_to > marked_from ? marked_to - marked_from : 0);
  return result;
}

std::string printable(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    auto [value, bytes] = decode_utf8(text, at);
    if (value == '\n' || value == '\t') {
      out += ' ';
    } else if (value == 0xFFFD || in(unprintable, value)) {
      for (char c : text.substr(at, bytes)) {
        auto b = static_cast<unsigned char>(c);
        out += {'\\', 'x', digits[b >> 4], digits[b & 15]};
      }
    } else {
      out += text.substr(at, bytes);
    }
    at += bytes;
  }
  return out;
}

}  // namespace tap
