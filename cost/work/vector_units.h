// The arithmetic units of a core, and how long instructions occupy them. A core has units for products, units for additions, and
// both sets may be the same, have some units in common, or none:
//
//   products 2, additions 2, both in turns 2 per cycle      x·y and x + y share two units
//   products 2, additions 2, both in turns 4                two units each: the shorter of both times is hidden
//   products 2, additions 2, both in turns 3                one is in common
//
// The time of a loop is the longest of that of the units for products, of those for additions, and of all together.
#pragma once

#include "cost/machine/device.h"

namespace tap::cost {

struct UnitTimes {  // seconds
  double products = 0, additions = 0, all = 0;
  double longest() const;
};

// Of `registers` instructions on full registers.
UnitTimes unit_times(const Device& device, ElementType type, Instruction kind, double registers);
void add(UnitTimes& times, const UnitTimes& more);

}  // namespace tap::cost
