// One call of a compiled kernel: the box, and where the tensors lie.
#pragma once

#include <optional>
#include <vector>

#include "backend/abi.h"
#include "ir/graph.h"
#include "support/tensor.h"

namespace tap::backend {

// A box of a tensor in memory. Kernels count cells from the tensor's origin, wherever the memory begins.
struct View {
  void* origin = nullptr;  // where cell 0 would be
  std::vector<std::int64_t> strides;
};

struct Call {
  std::int64_t first_tile = 0, end_tile = 1;
  std::vector<std::int64_t> box;
  std::vector<void*> buffers;
  std::vector<std::int64_t> strides;
  std::int32_t why = 0;
  KernelError error;

  void add(const View& view) {
    buffers.push_back(view.origin);
    strides.insert(strides.end(), view.strides.begin(), view.strides.end());
  }
  void run(KernelFunction function, void* scratch) {
    strides.push_back(0);  // never empty
    why = function(box.data(), buffers.data(), strides.data(), scratch, first_tile, end_tile, &error);
  }
};

}  // namespace tap::backend
