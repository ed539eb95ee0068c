#include "backend/schedule/conflicting_writes.h"

#include <algorithm>
#include <map>
#include <set>

namespace tap::backend {

using namespace ir;

std::vector<std::vector<Task>> serialise_conflicting_writes(const Operator& op, const std::vector<Task>& tasks) {
  std::set<std::uint32_t> shared;
  for (const Access& write : op.writes) shared.insert(write.invariant_dims.begin(), write.invariant_dims.end());
  if (shared.empty()) return {tasks};
  std::map<std::vector<std::int64_t>, std::vector<Task>> turns;  // by the start of the blocks of these dims
  auto add = [&](const Task& task) {
    std::vector<std::int64_t> begins;
    if (const auto* one = std::get_if<Application>(&task))
      for (std::uint32_t d : shared) begins.push_back(one->box.dims[d].lo);
    turns[begins].push_back(task);
  };
  for (const Task& task : tasks) {
    const auto* row = std::get_if<Application>(&task);
    auto steps_along = [&](const Level& level) {
      return std::any_of(shared.begin(), shared.end(), [&](std::uint32_t d) { return level.steps[d] != 0; });
    };
    const bool disjoint = row == nullptr || std::none_of(row->row.begin(), row->row.end(), steps_along);
    if (disjoint) add(task);
    else
      for (const Task& one : one_by_one({task})) add(one);
  }
  std::vector<std::vector<Task>> result;
  for (auto& [begins, turn] : turns) result.push_back(std::move(turn));
  return result;
}

}  // namespace tap::backend
