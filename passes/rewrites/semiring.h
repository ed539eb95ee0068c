// When products may be taken out of reductions: ⊗ distributes over the monoid's ⊕, both commute, and the identity of ⊕
// stays what it is under ⊗.
//
//   a * (b + c) = a * b + a * c        a + min(b, c) = min(a + b, a + c)        a and (b or c) = (a and b) or (a and c)
//
// No table says which these are: the law is tried on numbers, so that a user's monoid is as good as a built-in one. Integers
// wrap, so i64's min does not distribute over +, and f64's does. What was tried is assumed, not proved; whoever uses the
// law names it in a certificate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/operator.h"

namespace tap::passes {

// The cell operations that commute and associate.
bool may_be_product(ir::CellOp op);

// The law in words, where it held on every number that was tried; nothing if it does not hold, or cannot be tried.
std::optional<std::string> distributes(const ir::Monoid& plus, ir::CellOp times);

}  // namespace tap::passes
