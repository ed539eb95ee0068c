// The data that loops touch: a box of each tensor, and the room that it takes in a cache.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "backend/loops/loops.h"
#include "cost/machine/device.h"
#include "cost/work/loop_values.h"

namespace tap::cost {

// The part of a tensor that some loops touch.
struct Touched {
  std::vector<Interval> box;
  double times = 0;  // accesses
  bool reads = false, writes = false;
};
using TouchedAll = std::vector<std::optional<Touched>>;  // by tensor

// By cache level and memory (backend::memory_of).
using Room = std::vector<std::vector<double>>;

// Walks loops with the variables of those around them at given values, and inner variables anywhere in their ranges.
class TouchWalk {
 public:
  TouchWalk(const backend::Kernel& kernel, const Device& device, LoopValues& values)
      : kernel_(kernel), device_(device), values_(values) {}

  std::size_t levels() const { return device_.levels.empty() ? 0 : device_.levels.size() - 1; }
  TouchedAll none() const { return TouchedAll(kernel_.tensors.size()); }
  TouchedAll touches(const std::vector<backend::Statement>& body);
  TouchedAll touches(const backend::Statement& statement);
  TouchedAll touches(const backend::For& loop);

  double bytes_of(std::uint32_t tensor, const Touched& touched) const;
  // What takes as long as these bytes besides: the first lines of each contiguous run come before the prefetcher knows it.
  double starts_of(std::uint32_t tensor, const Touched& touched) const;
  Room room_for(const TouchedAll& all) const;

 private:
  // One access in a statement.
  struct Access {
    std::uint32_t tensor = 0;
    std::vector<Terms> at;
    std::vector<bool> data_dependent;  // by axis
    bool writes = false;
  };

  struct Runs {
    double lines = 1, count = 1;
  };
  Runs runs_of(std::uint32_t tensor, const Touched& touched) const;
  const std::vector<Access>& accesses_of(const backend::Statement& statement);
  void touch(const std::vector<backend::Statement>& body, double times, TouchedAll& all);
  void touch(const backend::Statement& statement, double times, TouchedAll& all);
  void touch(const backend::For& loop, double times, TouchedAll& all);
  void touch(const Access& access, double times, TouchedAll& all);
  Interval extent_of(std::uint32_t tensor, std::size_t axis) const;
  Interval along(const Access& access, std::size_t axis) const;
  double room_for(std::uint32_t tensor, const Touched& touched, std::size_t level) const;

  const backend::Kernel& kernel_;
  const Device& device_;
  LoopValues& values_;
  std::unordered_map<const backend::Statement*, std::vector<Access>> accesses_;
};

}  // namespace tap::cost
