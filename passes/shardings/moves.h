// The data that moves between devices for a program's shardings: the collectives of each operation, halos, and which
// of them are implicit.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/graph_ids.h"
#include "passes/caution.h"
#include "passes/shardings/plan_shardings.h"
#include "support/diagnostic.h"

namespace tap::passes {

struct Move {
  std::string what;                      // X for Y
  std::string step;                      // all_gather [{a}, {}] -> pod[{}, {}]
  std::int64_t bytes = 0;                // that the busiest device receives, each time
  bool implicit = false;                 // forced by an operation's other tensors
  std::string value = {}, reader = {};   // X, Y; no reader for a result
  std::string operation = {};            // that needs or computes it
  std::string collective = {}, to = {};  // all_gather, pod[{}, {}]: a step, and the sharding that the reshard leads to
  std::string moved_for = {};            // an earlier reader that needs the same; then no bytes are moved
  double times = 1;                      // trips of the iterates around it
  // The bytes of each device that was looked at; none: all receive as much.
  std::map<std::int64_t, std::int64_t> of_devices = {};
};
// Of the device that receives most in all: each move may have another busiest one.
double bytes_of_all(const std::vector<Move>& moves);

// Of the graphs that main reaches, in order.
std::vector<Move> moves_of(const ir::Program& program, const Caution& caution = {});
// … where these sites are divided so, whatever shardings imply. Of `copied` inputs each reader has a copy of its own.
std::vector<Move> moves_of(const ir::Program& program, const ChosenSites& sites, const Caution& caution = {},
                           const std::set<ir::ValueId>& copied = {});

// Reports tensors whose reshard is forced by an operation's other tensors; combining partials and slicing do not count.
// An error (T0909) with `refuse`, else a warning (T0910), with the first reshard and the bytes of all.
std::optional<Diagnostic> implicit_moves(const ir::Program& program, bool refuse);

}  // namespace tap::passes
