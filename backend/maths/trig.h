// Range reduction for sin, cos and tan: subtracts multiples of a quarter turn.
#pragma once

#include "backend/maths/value.h"

namespace tap::backend::maths {

struct QuarterTurns {
  Real r;         // |r| <= pi/4, except for rounding
  Real lost;      // the rounding error of r
  Bits quadrant;  // in the lowest two bits, others above
};

// For any x; nan if it is not finite. Branches if a lane is huge: the builder then ends in a different block.
QuarterTurns reduce_turns(Real x);

// For huge finite x, lane by lane, by a function that is added to the module (reduce_huge.cpp).
QuarterTurns reduce_huge(Real x);

}  // namespace tap::backend::maths
