// Reads block graphs and schedules with bounds checks: a fault is thrown and reported with its location.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "ir/verify/well_formed.h"
#include "support/checked.h"

namespace tap::ir {

struct IllFormedStage {
  std::string what;
};

class StageReader {
 public:
  explicit StageReader(const Program& program) : p_(program) {}

 protected:
  void at(std::string where) { at_ = std::move(where); }
  void need(bool holds, const char* what = "invalid reference or rank") const {
    if (!holds) throw IllFormedStage{at_ + ": " + what};
  }
  template <class Id, class List>
  void in_range(Id id, const List& list) const {
    need(id.index() < list.size());
  }

  // Each level has a step for every number of the items in the row.
  template <class T>
  void row(T first) const {
    const Numbers numbers = numbers_of(first);
    for (const Level& level : row_of(first)) {
      need(level.count > 1 && level.steps.size() == numbers.rank() + numbers.others.size(),
           "a row has fewer than two members, or a wrong number of steps");
      bool moves = std::ranges::any_of(level.steps, [](std::int64_t step) { return step != 0; });
      need(moves || std::is_same_v<T, Buffer>, "a row has no steps");
    }
    member(first, count_of(row_of(first)) - 1);  // throws Overflow
  }
  // A member of `list`, with all its numbers along the row of `first`; it is given by number `other` after those of the
  // box.
  template <class T, class Id, class List>
  void in_range(const Member<Id>& one, const List& list, T first, std::size_t other) const {
    in_range(one.id, list);
    std::int64_t least = one.number, most = one.number;
    for (const Level& level : row_of(first)) {
      const std::int64_t by = checked::mul(level.steps[numbers_of(first).rank() + other], level.count - 1);
      (by < 0 ? least : most) = checked::add(by < 0 ? least : most, by);
    }
    need(least >= 0 && most < count_of(list[one.id.index()].row), "a row has no such member");
  }

  const Program& p_;

 private:
  std::string at_ = "the stage";
};

// Checks the memory of a schedule whose references are valid (well_formed_memory.cpp).
void read_memory(const Program& program, const Schedule& schedule);

template <class Read>
std::optional<std::string> first_fault(Read read) {
  try {
    read();
  } catch (const IllFormedStage& found) { return found.what; } catch (const Overflow&) {
    return "the numbers of a row do not fit in 64 bits";
  }
  return std::nullopt;
}

}  // namespace tap::ir
