// One operation with a body of cells (a map, or a reduction of a map), evaluated over its whole domain.
#pragma once

#include <string>
#include <vector>

#include "ir/author_names.h"
#include "ir/interpret/interpret.h"
#include "ir/interpret/interpret_cell.h"

namespace tap::ir::oracle {

struct OperationInput {
  const Program& program;
  const Operator& op;
  const InterpretOptions& options;
  const std::vector<std::int64_t>& counters;  // of the enclosing iterates, the innermost last
  std::vector<const Datum*> operands;
  std::vector<std::string> operand_names;
  const std::optional<OperationNames>& names;
  std::string result = {};  // the first value that it writes; identifies the operation in failures
};

// Writes its part of each result, which has its full shape already. Throws EvaluationError. With a box, evaluates only
// the points in it (one application).
void evaluate_operation(const OperationInput& input, const std::vector<Datum*>& results,
                        const std::optional<Box>& box = {});

}  // namespace tap::ir::oracle
