// The minimal work of a program: its arithmetic, from the points of its operators, and the bytes of its inputs and
// results. Reported speeds are this work divided by the run time, so programs that compute the same function can be
// compared.
#pragma once

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::driver {

struct ProgramWork {
  double flops =
      0;  // operations on cells, of any type: an addition is one, as is an exponential; index arithmetic is none
  double bytes = 0;  // each input read once, each result written once
  bool operator==(const ProgramWork&) const = default;
};
// Of the main graph. Points that a constraint leaves out are counted as if they were there.
ProgramWork work_of(const ir::Program& program);

double bytes_of(const ir::TensorType& type);  // a double, for no number of cells is too large

}  // namespace tap::driver
