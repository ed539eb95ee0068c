// Result buffers for native code with guard bytes around each: a kernel that writes out of bounds is detected. Used
// only by tests (TAPC_SELF_CHECK=thorough), since it copies every result.
//
//   GuardedResults guarded;   for (Tensor& output : outputs) views.push_back(guarded.add(output));   …
//   guarded.take();           throws InternalError if a guard was overwritten, else the outputs have what was written
#pragma once

#include <cstddef>
#include <vector>

#include "support/tensor.h"

namespace tap {

bool tests_are_thorough();

class GuardedResults {
 public:
  // A buffer as large as the tensor, which must outlive `take`.
  void* add(Tensor& result);
  void take();

 private:
  struct Memory {
    Tensor* result;
    std::vector<std::byte> bytes;
    std::size_t begin;  // of the result in the buffer
  };
  std::vector<Memory> results_;
};

}  // namespace tap
