// Compiles kernels to objects: one module per kernel, in parallel on threads, skipping those that are in the cache.
// An object has one function, hidden in libraries, whose symbol is the hash of everything that its bytes depend on: the emitted LLVM IR,
// the options, this build of tapc and LLVM, the processor. So equal kernels have equal symbols, and no symbol is
// derived from a name.
//
//   ObjectCompiler compiler({.cache = cache});
//   for (const Object& object : compiler.compile(kernels)) …    object.symbol, object.bytes: an ELF file
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/llvm/kernel_cache.h"
#include "backend/llvm/target.h"
#include "backend/loops/loops.h"

namespace tap::backend {

struct ObjectOptions {
  std::size_t threads = 0;             // 0: a few, all processors
  std::shared_ptr<KernelCache> cache;  // null: every kernel is compiled
  bool cache_immediately = true;       // objects are cached at once; else when they are passed to `keep`
  std::optional<Target> target = {};   // of objects for files; null: for this process
};

struct Object {
  std::string symbol;  // k_1f3a09c2…
  std::string bytes;
  bool cached = false;     // found in the cache
  bool received = false;   // compiled by another process (shared_objects.h)
  Digest key = {};         // its key in the cache
  std::uint64_t size = 0;  // of its loops as a text: about what it costs to compile
};

class ObjectCompiler {
 public:
  explicit ObjectCompiler(ObjectOptions options);
  ~ObjectCompiler();
  ObjectCompiler(ObjectCompiler&&) noexcept;

  // One object per kernel, in order; equal kernels give equal objects and are compiled once. `self_check_key`:
  // by kernel, what its cache key additionally depends on (self_check.h); may be empty.
  std::vector<Object> compile(const std::vector<Kernel>& kernels,
                              const std::vector<std::string>& self_check_key = {}) const;
  void keep(const Object& object) const;
  // The same in two steps: those that the cache has, and of the others only their keys; then the chosen ones of these.
  std::vector<Object> find(const std::vector<Kernel>& kernels,
                           const std::vector<std::string>& self_check_key = {}) const;
  void complete(const std::vector<Kernel>& kernels, const std::vector<bool>& chosen,
                std::vector<Object>& objects) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tap::backend
