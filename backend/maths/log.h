// The parts of log that other functions build on.
#pragma once

#include "backend/maths/value.h"

namespace tap::backend::maths {

struct Parts {
  Real m;       // between sqrt(1/2) and sqrt(2)
  Real e;       // an integer
  Bits biased;  // e + bias, for normal numbers
};
// x = 2^e m. Pre: x is positive and finite, or the result is not used.
Parts split_any(Real x);

// log(1 + x + low) + extra ln 2; low is less than a unit in the last place of x, and extra is a small integer.
Real log1p_of(Real x, Real low, Real extra);

}  // namespace tap::backend::maths
