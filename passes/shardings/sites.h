// Sites: where a graph relates the axes of values. Each operation is one, with its operator's factors; operations
// that write parts of the same value form one site, since the value has one sharding.
//
//   y[i] = a[i];  y[n + j] = b[j]      one site, ([c], [c])->([c]) {c = n + m} replicated={c}
#pragma once

#include <map>

#include "passes/shardings/factors.h"

namespace tap::passes {

struct Site {
  std::vector<ir::OperationId> operations;
  std::vector<ir::ValueId> operands;                            // one per factors.operands
  std::vector<std::pair<ir::OperationId, std::uint32_t>> uses;  // likewise: the operation and the number of its operand
  std::vector<ir::ValueId> results;
  Factors factors;
  bool moves_no_data = false;
  std::vector<bool> broadcast = {};  // by operand: repeated along a factor of a result
};

// The factors of a program's operators, each computed once.
class FactorTable {
 public:
  explicit FactorTable(const ir::Program& program) : program_(program) {}
  const Factors& operator[](ir::OperatorId op);

 private:
  const ir::Program& program_;
  std::map<ir::OperatorId, Factors> found_;
};

// In the order of each site's first operation; operations with regions are not sites.
std::vector<Site> sites_of(const ir::Program& program, const ir::Graph& graph, FactorTable& table);
// A site of one operation, which may be a group.
Site site_of(const ir::Program& program, const ir::Graph& graph, ir::OperationId operation, FactorTable& table);

// Whether the operation copies its operand, or a part of it, cell for cell.
bool is_copy(const ir::Operator& op);
// … the whole operand, each cell to the same position.
bool is_identity(const ir::Operator& op);

}  // namespace tap::passes
