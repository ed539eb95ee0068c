// One propagation run over a sharding net, to a fixpoint, at one level, which limits what each operation propagates.
#pragma once

#include "passes/shardings/propagate.h"
#include "passes/shardings/sharding_net.h"

namespace tap::passes {

// Lower levels first, so that what costs nothing decides before what costs something.
enum class PropagationLevel : std::uint8_t {
  in_place,      // what moves nothing, if none of its operands is used elsewhere
  in_place_all,  // …                  also if they are
  pass_through,  // factors that are no reduction and no permutation; of what is repeated only back to what it is made of
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

// Adds to `origins` which hyperedge set what.
void run_propagation(ShardingNet& net, const ir::Program& program, const PropagationRunOptions& options,
                     std::vector<Origin>& origins);

}  // namespace tap::passes
