// Groups that no kernel computes, as the executor calls them: a tile is a box of the group, run by run_group.h.
#pragma once

#include <map>

#include "backend/compiled_program.h"
#include "backend/run_group.h"

namespace tap::backend {

class HostGroups {
 public:
  HostGroups(const CompiledProgram& compiled, const Schedule& schedule);

  // tap::executor::HostFunction; `self` is a HostGroups.
  static std::int32_t run(void* self, std::int64_t number, void* const* arguments, const std::int64_t* counters,
                          std::int64_t depth, std::int64_t first, std::int64_t end, KernelError* error);
  std::size_t take_most_bytes();  // that values inside of groups had at a time
  bool out_of_memory() const { return out_of_memory_; }

 private:
  void number_operations(ir::GraphId group, std::map<std::pair<ir::GraphId, ir::OperationId>, std::int64_t>& numbers);
  GroupArguments arguments_of(const GroupCall& call, void* const* arguments) const;

  const CompiledProgram& compiled_;
  const Schedule& schedule_;
  std::vector<const GroupCall*> calls_;  // by number
  // By group: where among the operations of the schedule those inside of it are.
  std::map<ir::OperatorId, std::map<std::pair<ir::GraphId, ir::OperationId>, std::int64_t>> sections_;
  InnerMemory memory_;
  std::atomic<bool> out_of_memory_ = false;
};

}  // namespace tap::backend
