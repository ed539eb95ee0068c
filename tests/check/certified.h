// What the checker says of the stages behind the sharded graph, for tests that make them.
#pragma once

#include <stdexcept>

#include "ir/block_program.h"
#include "replay/replay.h"

namespace tap::check::test {

inline std::string first_refusal(const Verdict& verdict) {
  for (const Finding& f : verdict.findings)
    if (f.standing == Standing::refused) return std::string(name_of(f.obligation)) + ": " + f.where + ": " + f.detail;
  return "";
}
// What is proved of rows is so of all that is in them, one by one.
inline std::string refusal_of(const ir::BlockProgram& blocks) {
  Verdict verdict, each;
  check_expansion(blocks.program, blocks.graphs, "expand", verdict);
  if (verdict.refused()) return first_refusal(verdict);
  std::vector<ir::BlockGraph> listed;
  for (const ir::BlockGraph& graph : blocks.graphs) listed.push_back(by_device(graph));
  check_expansion(blocks.program, listed, "expand, each device", each);
  return each.refused() ? "of rows alone: " + first_refusal(each) : "";
}
inline std::string refusal_of(const ir::Program& program, const ir::Schedule& schedule) {
  Verdict verdict, each;
  check_schedule(program, schedule, "schedule", verdict);
  if (verdict.refused()) return first_refusal(verdict);
  check_schedule(program, by_memory(schedule), "schedule, each memory", each);
  return each.refused() ? "of rows alone: " + first_refusal(each) : "";
}

// For ExecuteOptions::scheduled, and the blocks that are given to an Executable.
inline void require_certified(const ir::Program& program, const ir::Schedule& schedule) {
  std::string why = refusal_of(program, schedule);
  if (!why.empty()) throw std::runtime_error("refused: " + why);
}
inline ir::BlockProgram certified(ir::BlockProgram blocks) {
  std::string why = refusal_of(blocks);
  if (!why.empty()) throw std::runtime_error("refused: " + why);
  return blocks;
}

}  // namespace tap::check::test
