// One run over a sharding net, from what is known to a fixpoint, at one level: how much each operation may pass on yet.
#pragma once

#include "passes/shardings/propagate.h"
#include "passes/shardings/sharding_net.h"

namespace tap::passes {

// Lower levels first, so that what costs nothing decides before what costs something.
enum class SpreadLevel : std::uint8_t {
  in_place,      // what moves nothing, if none of its operands is used elsewhere
  in_place_all,  // …                  also if they are
  pass_through,  // factors that are no reduction and no permutation; of what is repeated only back to what it is made of
  all_but_repeat,  // all factors, with the same exception
  all,
};
inline constexpr SpreadLevel all_levels[] = {SpreadLevel::in_place, SpreadLevel::in_place_all,
                                             SpreadLevel::pass_through, SpreadLevel::all_but_repeat, SpreadLevel::all};

struct SpreadOptions {
  Strategy strategy = Strategy::aggressive;
  SpreadLevel level = SpreadLevel::all;
  bool conservative = false;
};

// Adds to `origins` what was set by which knot.
void spread(ShardingNet& net, const ir::Program& program, const SpreadOptions& options, std::vector<Origin>& origins);

}  // namespace tap::passes
