// Quantities in machine files, with units: "48 KiB", "25 GB/s", "1.5 us", "90 G/s", or a plain number in the base
// unit (bytes, seconds, …).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tap::driver {

enum class Unit : std::uint8_t { count, size, bandwidth, time, rate, share, number };

struct UnitInfo {
  std::string_view what;  // a size
  std::string_view form;  // write …
};
const UnitInfo& info(Unit unit);

// Nothing if the text is not in that unit. Sizes are whole bytes.
std::optional<double> read_quantity(std::string_view text, Unit unit);
// For messages: 4 KiB, 2.5 GB/s.
std::string shown(double value, Unit unit);

}  // namespace tap::driver
