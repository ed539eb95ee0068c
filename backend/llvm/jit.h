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

class SharedObjects;  // shared_objects.h

// Of the distinct kernels that were loaded: how many of them this process compiled, found, and had from another process.
struct KernelCounts {
  std::size_t compiled = 0, cached = 0, received = 0;
  double seconds = 0;  // until all were there, with their tests
};

class Jit {
 public:
  explicit Jit(ObjectOptions options = {});
  ~Jit();
  Jit(Jit&&) noexcept;

  // One function per kernel, in order. If the ObjectCompiler does not cache immediately, kernels are cached after their
  // test. With `shared`, other processes compile some of them.
  std::vector<KernelFunction> compile(const std::vector<Kernel>& kernels, const KernelTrial& trial = {},
                                      SharedObjects* shared = nullptr);
  // The object's function. Loads each symbol once.
  KernelFunction load(const Object& object);
  std::size_t cached() const;  // how many kernels were cached
  const KernelCounts& counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tap::backend
