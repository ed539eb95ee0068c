// Reads a regular file as text, up to a limit; rejects pipes and devices.
//
//   read_regular_file("a.tap", 1 << 20)      "program …", or why not: missing, a directory, a pipe, too large
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace tap {

struct FileRefusal {
  enum class Why : std::uint8_t { system, not_regular, too_large };
  Why why = Why::system;
  int error = 0;          // the errno, for `system`
  std::string_view kind;  // "a directory", for `not_regular`
};

std::variant<std::string, FileRefusal> read_regular_file(const std::string& path, std::uint64_t most_bytes);

}  // namespace tap
