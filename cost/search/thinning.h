// Chooses a few of many labels so that none that is dropped is far from all that are kept.
//
//   71 us 7.6 KiB, 80 us 7.5 KiB, 1.00 s 3 KiB, 1.01 s 3 KiB, 1.02 s 3 KiB    three of them: 71 us, 80 us, 1.00 s
#pragma once

#include <cstddef>
#include <vector>

#include "cost/search/label.h"

namespace tap::cost {

// The numbers of those to keep, in order: the first, the best in each objective if there is room, then each time the one that
// loses most if the nearest of those kept stands for it. What it loses is the largest factor by which an objective grows. In
// time proportional to labels · most. Pre: not empty, most > 0.
std::vector<std::size_t> kept_after_thinning(const std::vector<Label>& labels, std::size_t most);

}  // namespace tap::cost
