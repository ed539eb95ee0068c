// What the checker says of the stages behind the sharded graph, for tests that make them.
#pragma once

#include <stdexcept>

#include "replay/replay.h"

namespace tap::check::test {

inline std::string first_refusal(const Verdict& verdict) {
  for (const Finding& f : verdict.findings)
    if (f.standing == Standing::refused) return std::string(name_of(f.obligation)) + ": " + f.where + ": " + f.detail;
  return "";
}
inline std::string refusal_of(const ir::BlockProgram& blocks) {
  Verdict verdict;
  check_expansion(blocks.program, blocks.graphs, "expand", verdict);
  return first_refusal(verdict);
}
inline std::string refusal_of(const ir::Program& program, const ir::Schedule& schedule) {
  Verdict verdict;
  check_schedule(program, schedule, "schedule", verdict);
  return first_refusal(verdict);
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
