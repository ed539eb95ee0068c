// What a program would cost if one of its values were sharded otherwise. An alternative differs in one mesh axis, which shards
// nothing or another axis of the value. It propagates anew, as if it were given, so its cost
// contains what it does to all other values.
//
//   H [{data}, {model}]     as it is                                249 us   224 KiB   32 KiB received
//                           [{}, {model}]                           801 us   …
//                           [{data, model}, {}]                     …
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cost/decide/pricer.h"
#include "ir/graph.h"
#include "passes/pass_manager.h"

namespace tap::cost {

struct PricedSharding {
  ir::Sharding sharding;
  bool as_it_is = false;
  // Nothing: shardings contradict each other, or the pricer's budget is exhausted.
  std::optional<Prediction> price = {};  // of a device
  double memory = 0;                     // bytes of a device, with its parts of the program's inputs and results
};

class ShardingAlternatives {
 public:
  // `program`: with its given shardings; `then`: what runs before they are followed. All outlive it.
  ShardingAlternatives(const ir::Program& program, std::vector<passes::Pass> then, passes::PassContext context,
                       Pricer& pricer);

  // First the program as it is, where the value is held as `now`. Pre: `now` is of a mesh of the program.
  std::vector<PricedSharding> of(ir::GraphId graph, ir::ValueId value, const ir::Sharding& now);

 private:
  void price(const ir::Program& program, PricedSharding& into);

  const ir::Program& program_;
  std::vector<passes::Pass> then_;
  passes::PassContext context_;
  Pricer& pricer_;
  std::optional<PricedSharding> as_it_is_;                  // of the whole program: the same for all values
  std::map<std::string, std::optional<Prediction>> known_;  // by the splits that follow from the shardings
};

}  // namespace tap::cost
