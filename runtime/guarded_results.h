// Memory for results of native code with bytes around each that nobody may change: a kernel that writes a cell too many is
// seen where it happens. Tests run so (TAPC_SELF_CHECK=thorough), and nobody else: it costs a copy of every result.
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
  // Where the result goes, as large as the tensor, which must live until `take`.
  void* add(Tensor& result);
  void take();

 private:
  struct Memory {
    Tensor* result;
    std::vector<std::byte> bytes;
    std::size_t begin;  // of the result in them
  };
  std::vector<Memory> results_;
};

}  // namespace tap
