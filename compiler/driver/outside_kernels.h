// Calls outside kernels from shared libraries that the command line names.
//
//   void smooth_rows(const int64_t* box, const int64_t* extents, const tap_region* regions);
//
// The box is the whole index space, so it is one call per operation. Each region is the hull of what the points of the
// box read or write; cells of a read outside of its tensor are there and hold the fill.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "support/tensor.h"

namespace tap::driver {

class OutsideKernels {
 public:
  explicit OutsideKernels(const std::vector<std::string>& libraries);  // throws Failure if one cannot be loaded
  ~OutsideKernels();
  OutsideKernels(const OutsideKernels&) = delete;
  OutsideKernels& operator=(const OutsideKernels&) = delete;

  // False if no library has the kernel.
  bool call(const ir::Operator& op, const std::vector<Tensor>& operands, std::vector<Tensor>& results) const;

 private:
  std::vector<void*> handles_;
};

}  // namespace tap::driver
