// Cache misses by the classic argument: if the data of one iteration of a loop fits, it is still cached in the next
// one, and everything that the loop accesses is loaded once; otherwise each iteration loads its data again.
//
//   for i { for k { for j { c[i, j] += a[i, k] * b[k, j] } } }     if b fits, each of its cells is loaded once, otherwise once per i
//
// Of the statements of a body, a later one finds what an earlier one touched, if the data in between fits: a step of a tile reads
// what the step before wrote, even if the values of all steps together do not fit.
#pragma once

#include "cost/work/kernel_work.h"

namespace tap::cost {

// Fills in the facts about tensors, and the bytes of phases.
void count_traffic(const backend::Kernel& kernel, const ir::Box& box, const Device& device, KernelWork& work);

// The fraction of these bytes that a cache of `bytes` keeps: 1 well below its size, 0 well above, since its sets fill
// unevenly.
double share_kept(double touched, double bytes);

}  // namespace tap::cost
