// What is known of the laws of monoids, by their structure: Z3 takes tenths of a second for one, and a program uses one
// monoid at many places. Whoever compiles many programs hands one memory to all of them.
#pragma once

#include <deque>

#include "compiler/frontend/laws.h"

namespace tap {

class LawMemory {
 public:
  // Of the monoid, whose `fold` may use others of the program. The reference stays valid.
  const LawVerdict& verdict(const ir::Program& program, const ir::Monoid& monoid);

 private:
  struct Known {
    ir::Monoid monoid;
    std::vector<ir::Monoid> used;  // by its fold, in the order of its cells
    LawVerdict verdict;
  };
  std::deque<Known> known_;
};

}  // namespace tap
