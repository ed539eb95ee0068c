// Tables for people: quantities of three digits, and columns of equal width.
//
//   time_text(0.00193)                         1.93 ms
//   columns({{"C", "1.93 ms"}, {"relu", "-"}}, 1)    C     1.93 ms
//                                                    relu        -
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tap::driver {

std::string time_text(double seconds);  // of nothing: -
std::string bytes_text(double bytes);
std::string count_text(double count);

using Line = std::vector<std::string>;
// The first `texts` columns are aligned to the left, the others, of numbers, to the right.
std::string columns(const std::vector<Line>& lines, std::size_t texts);

}  // namespace tap::driver
