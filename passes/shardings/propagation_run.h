// One propagation run over a sharding net, to a fixpoint, at one level, which limits what each operation propagates.
#pragma once

#include "passes/shardings/propagate.h"
#include "passes/shardings/sharding_net.h"

namespace tap::passes {

// Lower levels first, so that free propagation precedes propagation with a cost.
enum class PropagationLevel : std::uint8_t {
  in_place,             // operations that move no data, if their operands have no other uses
  in_place_all,         // …                          also if they have
  pass_through,         // factors that are neither reduction nor permutation; for a broadcast operand only backward
  all_except_repeated,  // all factors, with the same exception
  all,
};
inline constexpr PropagationLevel all_levels[] = {PropagationLevel::in_place, PropagationLevel::in_place_all,
                                                  PropagationLevel::pass_through, PropagationLevel::all_except_repeated,
                                                  PropagationLevel::all};

struct PropagationRunOptions {
  Strategy strategy = Strategy::aggressive;
  PropagationLevel level = PropagationLevel::all;
  bool conservative = false;
};

// Records in `origins` which hyperedge set each axis.
void run_propagation(ShardingNet& net, const ir::Program& program, const PropagationRunOptions& options,
                     std::vector<Origin>& origins);

}  // namespace tap::passes
