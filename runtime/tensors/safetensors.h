// .safetensors: eight bytes with the length of a JSON header, the header, the data. Read strictly:
//
//   {"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {"format": "pt"}}
//
// The header is at most 100 MB and of exactly that form (no other keys, no key twice, no numbers but plain integers);
// the tensors' ranges cover the data without hole or overlap. Types: F64 F32 F16 BF16 I64 I32 I16 I8 U8 BOOL.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/limits.h"
#include "runtime/shared_bytes.h"
#include "runtime/tensors/content.h"

namespace tap {

struct SafetensorsEntry {
  std::string name;
  ElementType type = ElementType::f32;
  Shape shape;
  std::uint64_t begin = 0, end = 0;  // in the data
};

// Where the tensors of a file lie.
struct SafetensorsLayout {
  std::vector<SafetensorsEntry> entries;
  std::uint64_t data_offset = 0;
};
// From the start of a file of this size, its first `safetensors_head_bytes`. `source_name` names the file in messages, already
// quoted. Throws Failure.
SafetensorsLayout parse_safetensors_layout(const SharedBytes& head, std::uint64_t file_bytes,
                                           const std::string& source_name, const DataLimits& limits = {});
// Of a file that begins with these bytes, at least `safetensors_preamble` of them if it has so many. No more than are allowed.
inline constexpr std::size_t safetensors_preamble = 8;
std::uint64_t safetensors_head_bytes(std::span<const std::byte> start);

class SafetensorsFile {
 public:
  // Throws Failure.
  SafetensorsFile(SharedBytes bytes, std::string source_name, const DataLimits& limits = {});

  std::vector<std::string> names() const;  // in the header's order
  bool has(std::string_view name) const;
  Tensor load(std::string_view name) const;  // Pre: has(name)

 private:
  SharedBytes data_;
  std::string source_name_;
  std::vector<SafetensorsEntry> entries_;
};

// Larger elements first, otherwise in the given order, so that each tensor's data is aligned to its element size.
Content encode_safetensors(const std::vector<NamedTensor>& tensors);

}  // namespace tap
