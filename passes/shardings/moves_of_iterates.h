// What moves before and after the trips of iterates: an iterate begins with all of each operand on every device, and what the last trip
// leaves in parts is gathered, unless nothing reads it.
//
//   A[i] = X[i] * 2, i over x       Z = iterate 10 (u = A) { v[i] = u[i] + W[i], i over x; v }       C[i] = Z[i] * 3
//   A for Z: all_gather             Z: all_gather
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "passes/shardings/moves.h"

namespace tap::passes {

// What the trips of an iterate only read: every device has all of it before the first one.
bool is_given_to_trips(const ir::Program& program, ir::GraphId id, ir::ValueId value);
// What an iterate leaves: every device has all of it.
bool is_left_by_iterate(const ir::Program& program, ir::GraphId id, ir::ValueId value);
bool is_held_whole(const std::optional<ir::Sharding>& held);

// `copied`: inputs of which each reader has a copy of its own.
void add_moves_of_iterates(const ir::Program& program, ir::GraphId id, const std::string& path,
                           const std::set<ir::ValueId>& copied, std::vector<Move>& list);

// How often each graph runs, by the first path to it.
std::map<ir::GraphId, double> times_of_graphs(const ir::Program& program);

}  // namespace tap::passes
