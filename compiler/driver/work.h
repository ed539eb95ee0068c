// The minimal work of a program: its arithmetic, from the points of its operators, and the bytes of its inputs and
// results. Reported speeds are this work divided by the run time, so programs that compute the same function can be
// compared.
#pragma once

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::driver {

struct ProgramWork {
  double flops = 0;  // operations on cells, of any type; an exponential is one; without index arithmetic
  double bytes = 0;  // each input read once, each result written once
  bool operator==(const ProgramWork&) const = default;
};
// Of the main graph. Counts points that a constraint excludes.
ProgramWork work_of(const ir::Program& program);

double bytes_of(const ir::TensorType& type);  // a double, since the number of cells is unlimited

}  // namespace tap::driver
