// A table of the operations in a schedule with their names for messages, each listed once.
#pragma once

#include <map>

#include "backend/schedule/schedule.h"

namespace tap::backend {

class OperationTexts {
 public:
  OperationTexts(const ir::Program& program, std::vector<ScheduledOperation>& texts)
      : program_(program), texts_(texts) {}
  // The number of an operation of a graph that runs at the end of this path; different paths have different `path_number`s. A
  // group's inner operations follow it, in the order of the kernel's sections.
  std::size_t of(std::size_t path_number, const ir::Path& path, ir::GraphId graph, ir::OperationId operation);

 private:
  void add(const ir::Graph& graph, ir::OperationRef what);
  void add_inside(const ir::Path& group, ir::GraphId graph);

  const ir::Program& program_;
  std::vector<ScheduledOperation>& texts_;
  std::map<std::pair<std::size_t, ir::OperationId>, std::size_t> known_;
};

}  // namespace tap::backend
