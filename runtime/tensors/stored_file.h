// A tensor file that is read piece by piece, for tensors that do not fit in memory: what its header says, and cells of it.
//
//   StoredFile file("x.npy");
//   file.tensors()[0]                                 f32[1000000, 4096], its cells begin at byte 128
//   file.read(file.tensors()[0], {{0, 0}, {2, 2}})    the tensor of these four cells
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/tensors/tensor_part.h"
#include "runtime/tensors/unpack.h"

namespace tap {

struct StoredTensor {
  std::string name;  // empty in a .npy file
  Packing packing;
  Shape shape;
  std::uint64_t offset = 0;  // of its first cell in the file
};

class StoredFile {
 public:
  // Reads the header. Throws Failure: not a regular file, malformed, truncated, an archive of compressed tensors.
  explicit StoredFile(std::string path);

  const std::string& path() const { return path_; }
  const std::vector<StoredTensor>& tensors() const { return tensors_; }

  // The cells of a part, row-major. No descriptor stays open, since there may be thousands of files. Throws Failure, also if the file
  // has changed since its header was read.
  Tensor read(const StoredTensor& tensor, const TensorPart& part) const;

 private:
  struct Identity {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t seconds = 0, nanoseconds = 0;
    bool operator==(const Identity&) const = default;
  };
  class Opened;

  void read_npy_head(const Opened& file);
  void read_safetensors_head(const Opened& file);

  std::string path_;
  Identity identity_;
  std::vector<StoredTensor> tensors_;
};

}  // namespace tap
