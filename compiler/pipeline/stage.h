// The stages of compilation. passes/pass_table.cpp lists the passes of each graph stage; what follows the sharded
// graph is not a pass, since its result is not a graph.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "passes/pass_table.h"

namespace tap::pipeline {

enum class Stage : std::uint8_t { text, parsed, built, decided, simplified, fused, sharded, blocks, loops, schedule };

struct StageInfo {
  Stage stage;
  std::string_view name;
  std::string_view makes;   // the type of the stage's result
  std::string_view reason;  // why it has this position
};
// In order.
std::span<const StageInfo> stages();
// The passes of a stage that makes a graph, in order; including those on request.
std::span<const passes::Pass> passes_of(Stage stage);

}  // namespace tap::pipeline
