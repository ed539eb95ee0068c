// Tensors whose cells lie in one file or several: which box each file holds.
//
//   y-00001-of-00002.safetensors: Y[0..3, 0..4], y-00002-of-00002.safetensors: Y[3..5, 0..4]     Y is f32[5, 4] in two parts
#pragma once

#include <string>
#include <vector>

#include "ir/box.h"
#include "ir/shardings/sharding.h"
#include "runtime/tensors/stored_file.h"

namespace tap::driver {

struct StoredPart {
  ir::Box box;
  std::size_t file = 0;
  StoredTensor cells;
};
struct PartedTensor {
  std::string name;  // empty in .npy files
  ElementType type = ElementType::f32;
  Shape shape;
  std::vector<StoredPart> parts;     // their boxes partition the tensor
  std::vector<StoredPart> repeated;  // the boxes of others again: their cells must be equal
};
struct PartedTensors {
  std::vector<StoredFile> files;
  std::vector<PartedTensor> tensors;
};

// How the tensors are said to be divided.
struct DividedBy {
  const ir::Mesh* mesh = nullptr;
  const ir::Sharding* sharding = nullptr;  // null: as the names in the files say
};

// The tensor `entry` of the file or the parts called `path`, or all. Reads headers only. Throws Failure, exit 3: files that
// do not form these tensors.
PartedTensors open_parts(const std::string& path, const std::string& entry, const DividedBy& by);

// Whether it gives any device less than the whole tensor.
bool divides(const DividedBy& by);

}  // namespace tap::driver
