// The author's names of an operation and its index dims. Equal equations share one operator, which keeps the first names;
// an operation written with other names keeps those itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::ir {

struct OperationNames {
  std::string name;
  std::vector<std::string> dims;  // one per index dim
  bool operator==(const OperationNames&) const = default;
};

// The author's names of an operation that has these names, and of its dim.
const std::string& own_name(const Operator& op, const std::optional<OperationNames>& names);
const std::string& own_dim_name(const Operator& op, const std::optional<OperationNames>& names, std::size_t dim);
OperationNames names_of(const Operator& op);
// The author's names that an operation must store: none if they equal its operator's.
std::optional<OperationNames> names_if_different(const Operator& shared, OperationNames own);
// The operator, with the names that the operation's author gave.
Operator with_author_names(const Program& program, const Operation& operation);

}  // namespace tap::ir
