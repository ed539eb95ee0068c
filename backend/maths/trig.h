// Range reduction for sin, cos and tan: subtracts multiples of a quarter turn.
#pragma once

#include "backend/maths/value.h"

namespace tap::backend::maths {

struct QuarterTurns {
  Real r;         // |r| <= pi/4, but for rounding
  Real lost;      // what r lacks through its rounding
  Bits quadrant;  // in the lowest two bits, others above
};

// Of any x; of what is not a number, nan. Branches where a lane is huge: then the builder stands in another block afterwards.
QuarterTurns reduce_turns(Real x);

// Of huge finite x, lane by lane through a function that is added to the module (reduce_huge.cpp).
QuarterTurns reduce_huge(Real x);

}  // namespace tap::backend::maths
