// The folder of `--keep DIR`: cells that a run has computed, one file for each result, whose name is the hash of
// everything that its cells depend on. A file states its name and the hash of its cells, so one that was truncated,
// changed, or renamed from another result is noticed. Files appear by rename.
//
//   DIR/9c1e….shard      tapc shard 1 9c1e… 77a0…      then the cells
//
// Kept cells become results, so only their owner may be able to write to the folder and its files, as in the kernel
// cache (backend/llvm/kernel_cache.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/llvm/digest.h"
#include "runtime/tensors/tensor_part.h"

namespace tap::driver {

// A box of a row-major tensor in memory.
struct KeptPart {
  std::byte* tensor = nullptr;
  std::size_t element_bytes = 0;
  Shape shape;      // of the tensor
  TensorPart part;  // of it
};

// Several threads may use one object, and several processes one folder.
class KeptFolder {
 public:
  // Creates a missing folder for its owner alone. Throws Failure, exit 4.
  explicit KeptFolder(std::string path);
  ~KeptFolder();
  KeptFolder(const KeptFolder&) = delete;
  KeptFolder& operator=(const KeptFolder&) = delete;

  // Whether the file is there and sound; else `problem` says why not, and is empty if there is none.
  bool has(const backend::Digest& name, const std::vector<KeptPart>& parts, std::string& problem) const;
  // The same, and its cells are in the parts; otherwise these are unchanged. Throws Failure if the file changes meanwhile.
  bool restore(const backend::Digest& name, const std::vector<KeptPart>& parts, std::string& problem) const;
  int store(const backend::Digest& name, const std::vector<KeptPart>& parts) const;  // 0, or an errno
  bool is_empty() const;                                                             // there is no result of any run

  const std::string& path() const { return path_; }
  std::string file_of(const backend::Digest& name) const;  // its path

 private:
  std::string path_;
  int folder_ = -1;
};

}  // namespace tap::driver
