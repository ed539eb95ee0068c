// Operators under the names that the authors of their operations gave, without a copy for each operation:
//   X1[i, j] = max[q] X0[i, j] * V[q]    X2[i, j] = max[q] X1[i, j] * V[q]    share one operator, named X1 and X2
#pragma once

#include <map>

#include "ir/author_names.h"
#include "ir/graph.h"

namespace tap::passes {

// Pre: the program's operators stay; new ones may be added.
class NamedOperators {
 public:
  explicit NamedOperators(const ir::Program& program) : program_(program) {}
  // Valid until the next one is asked for, or the program has a new operator.
  const ir::Operator& of(const ir::Operation& operation) {
    if (!operation.names) return program_[operation.op];
    auto [at, fresh] = copies_.try_emplace(operation.op);
    if (fresh || at->second.dim_names() != operation.names->dims)
      at->second = ir::with_author_names(program_, operation);
    else at->second.name = operation.names->name;
    return at->second;
  }

 private:
  const ir::Program& program_;
  std::map<ir::OperatorId, ir::Operator> copies_;
};

}  // namespace tap::passes
