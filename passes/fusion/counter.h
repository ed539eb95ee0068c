// Replaces the counter of an iterate by an affine function of another counter, or by a number, wherever it occurs: in
// accesses, constraints and cells of the operations of its body, and of the regions inside them.
//
//   y[i] = x[i] + c      c := 4*c + 1        y[i] = x[i] + (4*c + 1)
#pragma once

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::passes {

// factor * c + offset for a counter c over `trips`; without trips, just the number `offset`, and the dim is removed.
struct CounterValue {
  std::optional<ir::Range> trips;
  std::int64_t factor = 1;
  std::int64_t offset = 0;
};

// Adds the operators and graphs that the replacement makes to the program.
class CounterReplacement {
 public:
  CounterReplacement(ir::Program& program, CounterValue value) : program_(program), value_(value) {}

  // Replaces the counter of this level in the operation; level 0 is for an operation directly in the body. False if the
  // operation does not use the counter; it then stays.
  bool replace(ir::Operation& operation, std::uint32_t level = 0);

 private:
  std::optional<ir::GraphId> replace(ir::GraphId graph, std::uint32_t level);
  bool replace_region(ir::Operator& op, std::uint32_t level);

  ir::Program& program_;
  CounterValue value_;
};

}  // namespace tap::passes
