// Why the cost model decided as it did: the alternatives that it priced, the one that it took first, with the terms in which
// they differ.
//
//   the cost model considered 2 alternatives for S, P.m, P.s, P, Y:
//     alternative                                          time    bytes  compute      l2  memory
//     fuse S, P.m, P.s, P, Y over h, i  taken            109 ms  257 MiB  61.4 ms   62 ms   20 ms
//     as they are                       1.31 x the time  143 ms  769 MiB  61.5 ms   54 ms   55 ms
#pragma once

#include <string>
#include <vector>

#include "cost/decide/considered.h"

namespace tap::driver {

// What was considered about the operation of this name, or about those into which it was expanded. Empty: nothing.
std::string why_decided(const std::vector<cost::Consideration>& considered, const std::string& name,
                        const cost::Cluster& cluster);
// The lines of the plan that name it. Empty: none.
std::string lines_about(const ir::Plan& plan, const std::string& name);

}  // namespace tap::driver
