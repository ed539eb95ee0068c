// Native code in memory: kernels are compiled for this machine and stay callable while the Jit lives.
//
//   Jit jit;   KernelFunction f = jit.compile({lower(program, op)})[0];
#pragma once

#include <memory>
#include <vector>

#include "backend/abi.h"
#include "backend/object_compiler.h"

namespace tap::backend {

class Jit {
 public:
  explicit Jit(ObjectOptions options = {});
  ~Jit();
  Jit(Jit&&) noexcept;

  // One function per kernel, in order.
  std::vector<KernelFunction> compile(const std::vector<Kernel>& kernels);
  std::size_t cached() const;  // how many of them the cache had

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tap::backend
