// Batches whose tiles are all of equal work: threads take them in few portions (support/portions.h).
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "backend/loops/loops.h"
#include "ir/schedule.h"

namespace tap::backend {

class EqualTiles {
 public:
  // Refers to the kernels.
  explicit EqualTiles(const std::vector<Kernel>& kernels) : kernels_(kernels) {}

  // Calls of one kernel on boxes of one size, along whose tiles and from one to the next the work is the same.
  bool of(const ir::Batch& batch);

 private:
  bool works_equally(std::size_t kernel, std::size_t dim);

  const std::vector<Kernel>& kernels_;
  std::map<std::pair<std::size_t, std::size_t>, bool> known_;  // by kernel and dim
};

}  // namespace tap::backend
