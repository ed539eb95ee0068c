// The functions of floats, each for any Real (value.h): within 2 units in the last place, right at every edge (nan,
// infinities, signed zeros, subnormals, overflow). What they leave and what it costs stands in docs/accuracy.md.
//
// Most are straight-line code. sin, cos and tan of huge numbers go through a branch that is taken where any lane is huge,
// so the builder may stand in another block afterwards.
#pragma once

#include "backend/maths/value.h"

namespace tap::backend::maths {

Real exp(Real x);
Real expm1(Real x);
Real log(Real x);
Real log1p(Real x);
Real sin(Real x);
Real cos(Real x);
Real tan(Real x);
Real asin(Real x);
Real acos(Real x);
Real atan(Real x);
Real sinh(Real x);
Real cosh(Real x);
Real tanh(Real x);
Real asinh(Real x);
Real acosh(Real x);
Real atanh(Real x);
Real erf(Real x);
Real sigmoid(Real x);
Real pow(Real x, Real y);

}  // namespace tap::backend::maths
