#include "compiler/driver/show/sharding_moves.h"

#include <fmt/format.h>

#include <algorithm>

#include "passes/shardings/moves.h"
#include "support/byte_size.h"

namespace tap::driver {

std::string list_moves(const ir::Program& program) {
  std::vector<passes::Move> moves = passes::moves_of(program);
  std::size_t wide = 0, wider = 0;
  for (const passes::Move& move : moves) {
    wide = std::max(wide, move.what.size());
    wider = std::max(wider, move.step.size());
  }
  std::string text;
  std::int64_t all = 0;
  for (const passes::Move& move : moves) {
    text += fmt::format("{:{}}  {:{}}  {}{}\n", move.what, wide, move.step, wider,
                        byte_size(static_cast<double>(move.bytes)), move.implicit ? ", implicit" : "");
    all += move.bytes;
  }
  return text + fmt::format("{}{} per device\n", text.empty() ? "" : "\n", byte_size(static_cast<double>(all)));
}

std::vector<std::string> lines_of_moves(const ir::Program& program) {
  std::vector<std::string> lines;
  for (const passes::Move& move : passes::moves_of(program))
    lines.push_back(fmt::format("{}  {}  {}{}", move.what, move.step, byte_size(static_cast<double>(move.bytes)),
                                move.implicit ? ", implicit" : ""));
  return lines;
}

}  // namespace tap::driver
