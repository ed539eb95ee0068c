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

// How kernels are tried before they are used: `run` throws if one is wrong; `against`: by kernel (ObjectCompiler::compile).
// Those that the cache has were tried before.
struct KernelTrial {
  std::vector<std::string> against = {};
  std::function<void(std::size_t kernel, KernelFunction function)> run = {};
};

class Jit {
 public:
  explicit Jit(ObjectOptions options = {});
  ~Jit();
  Jit(Jit&&) noexcept;

  // One function per kernel, in order. Of an ObjectCompiler that does not keep at once, what was tried is kept.
  std::vector<KernelFunction> compile(const std::vector<Kernel>& kernels, const KernelTrial& trial = {});
  std::size_t cached() const;  // how many of them the cache had

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tap::backend
