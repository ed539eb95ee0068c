// From the bytes of a file to a tensor: used in place if they have the layout of a Tensor (row-major, little-endian,
// aligned to 64 bytes), otherwise converted. Bool is always copied, and checked to be 0 or 1: generated code relies
// on it, and a mapped file might change.
#pragma once

#include <string>

#include "runtime/shared_bytes.h"
#include "support/tensor.h"

namespace tap {

struct Packing {
  ElementType type = ElementType::f32;
  bool big_endian = false;
  bool fortran_order = false;  // the first index varies fastest
};

// Pre: bytes.size() fits type and shape. Throws Failure: a bool that is neither 0 nor 1, or out of memory.
Tensor unpack(const SharedBytes& bytes, const Packing& packing, Shape shape, const std::string& source_name);

}  // namespace tap
