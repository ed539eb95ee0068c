// Replaces the counter of an iterate by an affine function of another counter, or by a number, wherever it occurs: in
// accesses, constraints and cells of the operations of its body, and of the regions inside them.
//
//   y[i] = x[i] + c      c := 4*c + 1        y[i] = x[i] + (4*c + 1)
#pragma once

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::passes {

// factor * c + offset for a counter c over `trips`; without trips just the number `offset`, and the dim is gone.
struct CounterValue {
  std::optional<ir::Range> trips;
  std::int64_t factor = 1;
  std::int64_t offset = 0;
};

// Operators and graphs that the replacement makes are added to the program.
class CounterReplacement {
 public:
  CounterReplacement(ir::Program& program, CounterValue value) : program_(program), value_(value) {}

  // The operation as it is with that value for the counter of the level: 0 for one that stands in the body itself. False
  // if it does not mention it, and stays.
  bool replace(ir::Operation& operation, std::uint32_t level = 0);

 private:
  std::optional<ir::GraphId> replace(ir::GraphId graph, std::uint32_t level);
  bool replace_region(ir::Operator& op, std::uint32_t level);

  ir::Program& program_;
  CounterValue value_;
};

}  // namespace tap::passes
