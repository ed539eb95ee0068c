// Small parts of input and output specifications.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>

namespace tap {

inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\r";
  std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  std::size_t end = text.find_last_not_of(blanks);
  return end == text.npos ? std::string_view{} : text.substr(begin, end + 1 - begin);
}

inline bool is_identifier(std::string_view text) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || digit(c); });
}

// `all.npz:entry` → {`all.npz`, `entry`}. Paths may contain colons: only one after an archive's ending splits.
inline std::pair<std::string_view, std::string_view> split_entry(std::string_view text) {
  for (std::string_view ending : {".npz:", ".safetensors:"}) {
    if (std::size_t at = text.find(ending); at != text.npos && at > 0) {
      std::size_t path = at + ending.size() - 1;
      return {text.substr(0, path), text.substr(path + 1)};
    }
  }
  return {text, {}};
}

}  // namespace tap
