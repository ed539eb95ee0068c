// One test case of a compiled kernel (self_check.h) as plain data: the calls, the initial memory, and the expected
// memory. It can run here, or be written to a file for another machine.
//
// A tensor contains only the part that the box touches. Its rows have gaps, and it is surrounded by guard bytes:
//
//   guard … guard | x00 x01 x02 gap gap gap | x10 x11 x12 gap gap gap | guard … guard
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "backend/abi.h"
#include "support/element_type.h"

namespace tap::backend {

// What a cell must be: the value, and how far a float may be from it (infinite: anything).
struct WantedCell {
  std::size_t offset = 0;  // in the tensor's bytes
  double number = 0;       // of a float type
  std::int64_t integer = 0;
  double bound = 0;
  std::vector<std::int64_t> at = {};  // its coordinates in the whole tensor
  bool optional = false;              // may also be left as it was
};

struct CheckedTensor {
  std::string name;
  ElementType element = ElementType::f32;
  std::vector<std::byte> bytes;         // guards, gaps and cells
  std::int64_t origin = 0;              // where in them, or outside them, cell 0 of the whole tensor is
  std::vector<std::int64_t> strides;    // in cells, by axis
  std::vector<WantedCell> wanted = {};  // all that is written; whatever else there is must stay as it is
};

struct CheckCase {
  std::vector<std::int64_t> box;                             // lo, hi by dim
  std::vector<std::pair<std::int64_t, std::int64_t>> calls;  // first and end of the tiles of each
  std::vector<CheckedTensor> tensors;                        // operands, then results
  std::size_t scratch = 0;
  bool fails = false;  // the operator has no value there; then only the bytes around the results are checked
};

// Nothing if memory is as it must be; else the first difference, in words.
std::optional<std::string> difference(const CheckCase& trial, const std::vector<std::vector<std::byte>>& after,
                                      bool failed);
// Calls the kernel here and compares.
std::optional<std::string> try_kernel(const CheckCase& trial, KernelFunction function);

}  // namespace tap::backend
