// What an operation's author calls it and its index dims. Equal equations share one operator, which keeps the names that it was
// first written with; an operation that was written with others says so.
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

// What the author of an operation, which has these names, called it and its dim.
const std::string& own_name(const Operator& op, const std::optional<OperationNames>& names);
const std::string& own_dim_name(const Operator& op, const std::optional<OperationNames>& names, std::size_t dim);
OperationNames names_of(const Operator& op);
// What an operation keeps of its author's names: nothing if they are those of the operator that it shares.
std::optional<OperationNames> names_if_different(const Operator& shared, OperationNames own);
// The operator with the names that the operation's author gave.
Operator in_own_words(const Program& program, const Operation& operation);

}  // namespace tap::ir
