// Copies the cells of tensors between files that divide them differently, in slabs of bounded size: a tensor need not fit in
// memory. Every cell is read once and written once, in long runs.
//
//   f32[6, 4] from 2 parts of 3 rows to 2 of 2 columns, slabs of 2 rows:  rows 0..2 → both, rows 2..4 of both parts → both, …
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/driver/reshard/stored_parts.h"
#include "runtime/write_file.h"

namespace tap::driver {

// What a file is to hold of a tensor.
struct WrittenPart {
  std::size_t tensor = 0;
  ir::Box box;
  std::string name;  // in an archive
};
struct WrittenFile {
  std::string path;  // .npy with one part, or .safetensors
  std::vector<WrittenPart> parts;
};

inline constexpr std::int64_t slab_bytes = std::int64_t{16} << 20;

// Pieces of the tensor, in order, of at most `most` cells: one index along the outer axes, a range along one, all of the inner ones.
// So its part of every box is one run.
void for_each_slab(const Shape& shape, std::int64_t most, const std::function<void(const ir::Box&)>& each);

// Writes all files, or none and throws Failure.
void write_resharded(const PartedTensors& from, const std::vector<WrittenFile>& files,
                     std::int64_t bytes_of_slab = slab_bytes);

}  // namespace tap::driver
