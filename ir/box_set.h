// Sets of points, as unions of boxes of one rank: the cells that a buffer holds, or the points that were computed.
//
//   BoxSet s;   s.add({{{0, 4}}});   s.add({{{4, 9}}});      s.covers({{{2, 7}}}), and s.meets({{{8, 12}}})
#pragma once

#include "ir/box.h"

namespace tap::ir {

class BoxSet {
 public:
  void add(Box box);
  bool covers(const Box& box) const;  // all points of it
  bool meets(const Box& box) const;   // some point of it

 private:
  std::vector<Box> boxes_;
};

}  // namespace tap::ir
