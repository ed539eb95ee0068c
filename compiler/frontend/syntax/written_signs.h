// Mathematical symbols, as copied from papers and editors, with their spelling in Tap: x[i] ≤ 2 is x[i] <= 2
#pragma once

#include <string_view>

namespace tap {

// Empty if the sign is unknown.
std::string_view ascii_of_sign(std::string_view sign);

}  // namespace tap
