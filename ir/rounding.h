// Does the order show in which a monoid combines? Of floats that are added it does, of the greatest of them it does not.
#pragma once

#include "ir/monoid.h"

namespace tap::ir {

bool rounds(const Monoid& monoid);

}  // namespace tap::ir
