// Floating-point functions, generic over Real (value.h): within 2 units in the last place, and exact for special
// values (nan, infinities, signed zeros, subnormals, overflow). docs/accuracy.md gives their errors and costs.
//
// Most are straight-line code. sin, cos and tan branch to a slow path if any lane is huge, so the builder may end in
// a different block.
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
