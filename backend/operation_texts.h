// What messages say of the operations of a schedule, each told once.
#pragma once

#include <map>

#include "backend/schedule.h"

namespace tap::backend {

class OperationTexts {
 public:
  OperationTexts(const ir::Program& program, std::vector<OperationText>& texts) : program_(program), texts_(texts) {}
  // The number of an operation's text. After a group those of the operations inside follow, in order, as the kernel numbers
  // its sections.
  std::size_t of(ir::GraphId graph, ir::OperationId operation);

 private:
  void add(const ir::Graph& graph, const ir::Operation& operation);
  void add_inside(ir::GraphId group);

  const ir::Program& program_;
  std::vector<OperationText>& texts_;
  std::map<std::pair<ir::GraphId, ir::OperationId>, std::size_t> known_;
};

}  // namespace tap::backend
