// The state of iterates: each trip reads the state that the previous trip left, in the same place.
//
//   iterate 5 (u = X) { v[i] = u[i - 1 else 0] + u[i]; v }      a trip reads u and leaves v
#pragma once

#include <vector>

#include "ir/graph_ids.h"

namespace tap::ir {

// By value of a graph: for the state at the start of a trip, the value that the trip leaves; for other values, the
// value itself. Only for graphs that are used solely as bodies of iterates.
std::vector<ValueId> trip_results(const Program& program, GraphId id);

// Whether all devices get what an iterate of the graph leaves in parts: operations read it, or the trips around the iterate do.
bool is_gathered_after_trips(const Program& program, GraphId id, ValueId result);

// By graph: whether main reaches it only through iterates without trips, so that its operations never run.
std::vector<bool> never_run(const Program& program);

}  // namespace tap::ir
