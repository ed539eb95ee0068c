// Native code in memory: kernels are compiled for this machine and stay callable while the Jit lives.
//
//   Jit jit;   KernelFunction f = jit.compile({lower(program, op)})[0];
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/abi.h"
#include "backend/llvm/object_compiler.h"

namespace tap::backend {

// The self-check of kernels: `run` throws if one is wrong; `against`: the key of each kernel's self-check
// (ObjectCompiler::compile). Cached kernels were tested before.
struct KernelTrial {
  std::vector<std::string> against = {};
  std::function<void(std::size_t kernel, KernelFunction function)> run = {};
};

class Jit {
 public:
  explicit Jit(ObjectOptions options = {});
  ~Jit();
  Jit(Jit&&) noexcept;

  // One function per kernel, in order. If the ObjectCompiler does not cache immediately, kernels are cached after their
  // test.
  std::vector<KernelFunction> compile(const std::vector<Kernel>& kernels, const KernelTrial& trial = {});
  std::size_t cached() const;  // how many of them were cached

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tap::backend
