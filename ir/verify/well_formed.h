// Whether what was read is a program at all: every reference, every rank and every type in it fits, so that whoever reads it
// need not ask again, and no text can make the checker fail. Nothing here computes with what the texts say.
#pragma once

#include <optional>
#include <string>

#include "ir/block_graph.h"
#include "ir/schedule.h"

namespace tap::ir {

// What does not fit, in words.
std::optional<std::string> ill_formed(const Program& program);
std::optional<std::string> ill_formed(const Program& program, const std::vector<BlockGraph>& blocks);
std::optional<std::string> ill_formed(const Program& program, const Schedule& schedule);

}  // namespace tap::ir
