#include "support/byte_size.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string_view>

#include "support/plural.h"

namespace tap {

std::string byte_size(double bytes) {
  constexpr std::string_view units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return plural(static_cast<std::uint64_t>(bytes), "byte");
  std::size_t unit = 0;
  for (bytes /= 1024; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  return fmt::format("{:.4g} {}", bytes, units[unit]);
}

}  // namespace tap
