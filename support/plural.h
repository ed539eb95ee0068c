// Formats counts: "1 byte", "3 bytes", "0 axes".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tap {

std::string plural(std::uint64_t count, std::string_view noun);
std::string plural(std::uint64_t count, std::string_view one, std::string_view many);

}  // namespace tap
