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

// The expected cell: its value, and the tolerance for a float (infinite: any value).
struct ExpectedCell {
  std::size_t offset = 0;  // in the tensor's bytes
  double number = 0;       // for a float type
  std::int64_t integer = 0;
  double bound = 0;
  std::vector<std::int64_t> at = {};  // its coordinates in the whole tensor
  bool optional = false;              // may also stay unchanged
};

struct CheckedTensor {
  std::string name;
  ElementType element = ElementType::f32;
  std::vector<std::byte> bytes;             // guards, gaps and cells
  std::int64_t origin = 0;                  // position of the whole tensor's cell 0 relative to them; may be outside
  std::vector<std::int64_t> strides;        // in cells, by axis
  std::vector<ExpectedCell> expected = {};  // all cells that are written; all other bytes must not change
};

struct CheckCase {
  std::vector<std::int64_t> box;                             // lo, hi by dim
  std::vector<std::pair<std::int64_t, std::int64_t>> calls;  // by call: first and end of its tiles
  std::vector<CheckedTensor> tensors;                        // operands, then results
  std::size_t scratch = 0;
  bool fails = false;  // the operator fails on this box; then only the guard bytes of results are checked
};

// The first difference to the expected memory, in words; nothing if there is none.
std::optional<std::string> difference(const CheckCase& trial, const std::vector<std::vector<std::byte>>& after,
                                      bool failed);
// Calls the kernel here and compares.
std::optional<std::string> try_kernel(const CheckCase& trial, KernelFunction function);

}  // namespace tap::backend
