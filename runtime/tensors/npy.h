// NumPy's .npy files, versions 1.0, 2.0 and 3.0, read strictly: the header is exactly a dict literal with the keys
// 'descr', 'fortran_order' and 'shape', nothing in it is evaluated and nothing is unpickled.
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
//
// Types: f8 f4 f2 i8 i4 i2 i1 u1 b1. Little-endian row-major data is used in place; big-endian and Fortran-ordered
// data is converted. NumPy has no bf16 (libraries write it as `<V2`, which does not identify the type): such a file
// is rejected; use .safetensors for bf16.
#pragma once

#include <span>
#include <string>

#include "runtime/limits.h"
#include "runtime/shared_bytes.h"
#include "support/tensor.h"

namespace tap {

struct NpyHeader {
  ElementType type = ElementType::f32;
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
  std::size_t data_offset = 0;
  bool operator==(const NpyHeader&) const = default;
};

// `source_name` names the file in messages, already quoted. All throw Failure.
NpyHeader parse_npy_header(std::span<const std::byte> bytes, const std::string& source_name,
                           const DataLimits& limits = {});
// Throws Failure unless a file of this size ends with the last cell.
void require_npy_size(const NpyHeader& header, std::uint64_t file_bytes, const std::string& source_name,
                      const DataLimits& limits = {});
Tensor parse_npy(const SharedBytes& bytes, const std::string& source_name, const DataLimits& limits = {});

// Of a file that begins with these bytes, at least `npy_preamble` of them if it has so many: where its header ends.
inline constexpr std::size_t npy_preamble = 12;
std::uint64_t npy_head_bytes(std::span<const std::byte> start);

bool npy_can_hold(ElementType type);
// What precedes the data, a multiple of 64 bytes. Pre: npy_can_hold(type).
std::string npy_header(ElementType type, const Shape& shape);

}  // namespace tap
