#include "ir/author_names.h"

#include "ir/graph.h"
#include "support/check.h"

namespace tap::ir {

const std::string& own_name(const Operator& op, const std::optional<OperationNames>& names) {
  return names ? names->name : op.name;
}

const std::string& own_dim_name(const Operator& op, const std::optional<OperationNames>& names, std::size_t dim) {
  return names ? names->dims.at(dim) : op.dims.at(dim).name;
}

OperationNames names_of(const Operator& op) { return {op.name, op.dim_names()}; }

std::optional<OperationNames> names_if_different(const Operator& shared, OperationNames own) {
  if (own == names_of(shared)) return std::nullopt;
  return own;
}

Operator with_author_names(const Program& program, const Operation& operation) {
  Operator op = program[operation.op];
  if (!operation.names) return op;
  TAP_CHECK(operation.names->dims.size() == op.dims.size(), "different numbers of names and index dims");
  op.name = operation.names->name;
  for (std::size_t d = 0; d < op.dims.size(); ++d) op.dims[d].name = operation.names->dims[d];
  return op;
}

}  // namespace tap::ir
