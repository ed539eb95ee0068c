// Composes two operators: in the consumer, the read of a value is replaced by the map that computes it.
//
//   h[i] = x[i] + 1   and   y[i, j] = h[i + 1 else 0] * w[j]
//   is   y[i, j] = (if 0 <= i + 1 and i + 1 < n then f32(x[i + 1] + 1) else 0) * w[j]
//
// The value still rounds to its type, and reads out of bounds still give the fill.
#pragma once

#include <optional>
#include <string>

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::passes {

// A map with one result, each of whose cells can be computed separately: the cell's position determines every index
// dim.
struct Producer {
  const ir::Operator* op = nullptr;
  std::vector<ir::AffineExpr> dims;  // by index dim, over the axes of the result; not used for counters
};
// Empty if the operator is not such a map; `why` is then the end of a sentence about it.
std::optional<Producer> as_producer(const ir::Operator& op, std::string& why);

// An operand of the consumer that is replaced.
struct ReplacedOperand {
  std::uint32_t tensor = 0;
  Producer producer;
  std::vector<ir::ValueId> operands;  // the values that the producer is applied to
};
struct Composition {
  ir::Operator op;
  std::vector<ir::ValueId> operands;       // the values that the new operator is applied to
  std::vector<std::uint32_t> reads;        // the consumer's reads that were replaced …
  std::vector<std::uint32_t> replaced_by;  // … and by which of the replaced operands
};

// Pre: a map or a reduction that reads the replaced operands by affine accesses only. Throws Overflow for coordinates.
Composition compose(const ir::Operator& consumer, const std::vector<ir::ValueId>& operands,
                    const std::vector<ReplacedOperand>& replaced);

}  // namespace tap::passes
