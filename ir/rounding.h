// Whether the order of combination affects the result of a monoid: for a float sum it does, for a maximum it does
// not.
#pragma once

#include "ir/monoid.h"

namespace tap::ir {

bool rounds(const Monoid& monoid);

}  // namespace tap::ir
