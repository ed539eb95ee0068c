// Which bytes each cache misses, by the classic argument: what one round of a loop touches is still there in the next one if all
// of it fits, and what a loop touches is fetched once; else each round fetches again what it touches.
//
//   for i { for k { for j { c[i, j] += a[i, k] * b[k, j] } } }     b fits: each of its cells is fetched once; else once per i
#pragma once

#include "cost/work/kernel_work.h"

namespace tap::cost {

std::vector<TensorWork> traffic_of(const backend::Kernel& kernel, const ir::Box& box, const Device& device);

// How much of what fits `bytes` a cache keeps of so many: 1 well below its size, 0 well above, for its sets fill unevenly.
double share_kept(double touched, double bytes);

}  // namespace tap::cost
