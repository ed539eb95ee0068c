// A source line for a terminal: tabs expanded, wide characters counted as two columns, control characters and bidi
// overrides escaped, and a very long line shortened to a window around the error.
//
//   excerpt("\tH = reul(x)", 5, 9)    text "    H = reul(x)", first column 8, width 4
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tap {

struct Excerpt {
  std::string text;
  std::size_t first = 0;  // first display column of the marked bytes, from 0
  std::size_t width = 1;  // their width in display columns, at least 1
};

// `begin` and `end` are bytes of `line`; the window is chosen around begin.
Excerpt excerpt(std::string_view line, std::size_t begin, std::size_t end);

// The text with control characters written as \xNN, for names and paths in messages. Newlines become spaces.
std::string printable(std::string_view text);

// One code point at text[at]: its value (U+FFFD if the bytes are not UTF-8) and its length in bytes.
struct CodePoint {
  char32_t value;
  std::size_t bytes;
};
CodePoint decode_utf8(std::string_view text, std::size_t at);

}  // namespace tap
