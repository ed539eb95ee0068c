// Whether products may be moved out of reductions: ⊗ distributes over the monoid's ⊕, both commute, and the identity
// of ⊕ is absorbing under ⊗.
//
//   a * (b + c) = a * b + a * c        a + min(b, c) = min(a + b, a + c)        a and (b or c) = (a and b) or (a and c)
//
// No table lists them: the law is tested on samples, so that a user's monoid is treated like a built-in one. Integers
// wrap, so min of i64 does not distribute over +, and min of f64 does. A tested law is assumed, not proved; its use
// is named in the certificate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/operator.h"

namespace tap::passes {

// The cell operations that commute and associate.
bool may_be_product(ir::CellOp op);

// The law in words, if it held for every sample; nothing if it does not hold, or cannot be tested.
std::optional<std::string> distributes(const ir::Monoid& plus, ir::CellOp times);

}  // namespace tap::passes
