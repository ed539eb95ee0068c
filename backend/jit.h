// Native code in memory: kernels are compiled for this machine and stay callable while the Jit lives.
//
//   Jit jit;   KernelFunction f = jit.compile({lower(program, op)})[0];
#pragma once

#include <memory>
#include <vector>

#include "backend/abi.h"
#include "backend/loops.h"

namespace tap::backend {

class Jit {
 public:
  Jit();
  ~Jit();
  Jit(Jit&&) noexcept;

  // One function per kernel, in order. Symbols are numbered (k_0001), never taken from names.
  std::vector<KernelFunction> compile(const std::vector<Kernel>& kernels);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tap::backend
