// A compiled library, loaded for `tapc run MANIFEST`. Everything is checked before any of its code runs: its hash,
// the version of its ABI, the processor's features, its functions. The bytes that are loaded are those that were
// hashed.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/bindings/manifest.h"
#include "runtime/kernel_abi.h"
#include "support/tensor.h"

namespace tap::driver {

class LoadedLibrary {
 public:
  // `path`: of the manifest. Throws Failure, exit 3.
  LoadedLibrary(const Manifest& manifest, const std::string& path);
  ~LoadedLibrary();
  LoadedLibrary(const LoadedLibrary&) = delete;
  LoadedLibrary& operator=(const LoadedLibrary&) = delete;

  // Inputs in the manifest's order, including constants. Throws ir::EvaluationError; Failure, exit 3, if the library's
  // tensors differ from the manifest's.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs, std::size_t threads,
                          const std::vector<OutsideFunction>& kernels) const;

 private:
  void* function(const std::string& word) const;
  void require_shapes() const;
  void check(std::int32_t status, void* context) const;
  void require_missed(std::int32_t status, const char* what) const;

  const Manifest& manifest_;
  std::string shown_;  // the library's path
  int file_ = -1;
  void* handle_ = nullptr;
};

}  // namespace tap::driver
