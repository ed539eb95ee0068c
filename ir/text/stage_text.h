// The text forms of the stages after the sharded graph, which refer to the values and operations of its program by
// number.
//
//   tap-blocks 1
//   graph 0
//     held 0 value 0 [0..10]
//     held 1 value 1 [0..4] device 0
//     inputs (0)
//     apply 0 on [0..4] device 0 (0) -> (1)       // y[0..4]@0 = copy(x[0..10])
//     move 1 [0..4] from 1 to 2                   // the transfer, which is operation 1
//     output (3, 4)
//
// and of a schedule (schedule.h). parse_blocks(print(b)) == b.graphs, parse_schedule(print(s)) == s
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "ir/block_graph.h"
#include "ir/certificate.h"
#include "ir/schedule.h"
#include "ir/text.h"

namespace tap::ir {

// With `explained`, every line has a comment that names its parts.
std::string print(const BlockProgram& blocks, bool explained = false);
std::variant<std::vector<BlockGraph>, TextError> parse_blocks(std::string_view text);

std::string print(const Schedule& schedule);
std::variant<Schedule, TextError> parse_schedule(std::string_view text);

// A stage of any kind, in the order of StageKind; the first word of the text determines the kind.
using StageValue = std::variant<Program, std::vector<BlockGraph>, Schedule>;
std::variant<StageValue, TextError> parse_stage(std::string_view text);

}  // namespace tap::ir
