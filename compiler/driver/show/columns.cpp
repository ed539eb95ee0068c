#include "compiler/driver/show/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>

namespace tap::driver {
namespace {

// Three digits and a unit: 1.93 ms, 12.5 MiB.
std::string with_unit(double value, double base, std::initializer_list<const char*> units) {
  const char* unit = *units.begin();
  for (const char* next : units) {
    unit = next;
    if (std::abs(value) < base * 0.9995) break;
    if (next != *(units.end() - 1)) value /= base;
  }
  return fmt::format("{:.3g} {}", value, unit);
}

// Of UTF-8.
std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string time_text(double seconds) {
  if (seconds == 0) return "-";
  return with_unit(seconds * 1e9, 1000, {"ns", "µs", "ms", "s"});
}
std::string bytes_text(double bytes) { return with_unit(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB"}); }
std::string count_text(double count) { return with_unit(count, 1000, {"", "k", "M", "G", "T"}); }

std::string columns(const std::vector<Line>& lines, std::size_t texts) {
  std::vector<std::size_t> widths;
  for (const Line& line : lines)
    for (std::size_t k = 0; k < line.size(); ++k) {
      if (k >= widths.size()) widths.push_back(0);
      widths[k] = std::max(widths[k], characters_in(line[k]));
    }
  std::string text;
  for (const Line& line : lines) {
    std::string row;
    for (std::size_t k = 0; k < line.size(); ++k)
      row += k < texts ? fmt::format("{:<{}}  ", line[k], widths[k]) : fmt::format("{:>{}}  ", line[k], widths[k]);
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

}  // namespace tap::driver
