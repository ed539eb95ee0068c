// Whether parsed data is well-formed: every reference, rank and type is valid, so that later code need not check
// again, and no text can crash the checker. Nothing here evaluates the program.
#pragma once

#include <optional>
#include <string>

#include "ir/block_graph.h"
#include "ir/schedule.h"

namespace tap::ir {

// The first fault, as a sentence.
std::optional<std::string> ill_formed(const Program& program);
std::optional<std::string> ill_formed(const Program& program, const std::vector<BlockGraph>& blocks);
std::optional<std::string> ill_formed(const Program& program, const Schedule& schedule);

}  // namespace tap::ir
