// Why the cost model decided as it did: the alternatives that it priced, the one that it took first, with the terms in which
// they differ. And what a value would cost if it were sharded otherwise.
//
//   the cost model considered 2 alternatives for S, P.m, P.s, P, Y:
//     alternative                                          time    bytes  compute      l2  memory
//     fuse S, P.m, P.s, P, Y over h, i  taken            109 ms  257 MiB  61.4 ms   62 ms   20 ms
//     as they are                       1.31 x the time  143 ms  769 MiB  61.5 ms   54 ms   55 ms
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "cost/decide/considered.h"
#include "cost/decide/sharding_alternatives.h"
#include "ir/graph.h"

namespace tap::driver {

// Whether it is the operation of this name, one of those into which it was expanded, or one of its body.
bool is_about(const std::string& operation, const std::string& name);

// What was considered about it.
std::vector<cost::Consideration> considered_about(const std::vector<cost::Consideration>& considered,
                                                  const std::string& name);
std::string why_decided(const std::vector<cost::Consideration>& considered, const cost::Cluster& cluster);
// Why nothing was considered of an iterate's work. Empty: another operation computes the value.
std::string nothing_decided(const ir::Graph& graph, ir::ValueId value, const ir::Program& program);
// The lines of the plan that name it. Empty: none.
std::string lines_about(const ir::Plan& plan, const std::string& name);

// Empty if there is no other sharding.
std::string other_shardings(const std::vector<cost::PricedSharding>& alternatives, const ir::Program& program,
                            const cost::Cluster& cluster);

// The same for reports, with every term that is not 0.
nlohmann::ordered_json decisions_json(const std::vector<cost::Consideration>& considered, const cost::Cluster& cluster);
nlohmann::ordered_json alternatives_json(const std::vector<cost::PricedSharding>& alternatives,
                                         const ir::Program& program, const cost::Cluster& cluster);

}  // namespace tap::driver
