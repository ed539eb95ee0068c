// Signs of mathematics as they come out of papers and editors, and what Tap writes for them:  x[i] ≤ 2  is  x[i] <= 2
#pragma once

#include <string_view>

namespace tap {

// Empty if it is no sign that is known.
std::string_view ascii_of_sign(std::string_view sign);

}  // namespace tap
