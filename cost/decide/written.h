// Choices that are rewritten without a line in the plan, to a product in another order or to a fold, which may cost more than
// what was written: at small sizes, or where most iterations are left out.
//
//   y[i, r] = sum[j, k] x[i, j, k] * b[j, r] * c[k, r]      in two products by default; as one reduction where j and k are few
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tap::cost {

struct WrittenChoice {
  std::vector<std::string> names;   // of equal choices, as in a plan
  ir::Program written, by_default;  // as programs of their own
};

// Pre: choices have been offered, and none is picked. Choices that a plan mentions, with names in `fixed`, are skipped, as are
// those within choices and those that can't be programs of their own.
std::vector<WrittenChoice> written_choices(const ir::Program& program, const std::set<std::string>& fixed);

}  // namespace tap::cost
