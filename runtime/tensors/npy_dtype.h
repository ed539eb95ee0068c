// The 'descr' of a .npy header: `<f4`, `>i8`, `|b1`.
#pragma once

#include <string>
#include <string_view>

#include "support/element_type.h"

namespace tap {

struct NpyType {
  ElementType type;
  bool big_endian;
};

// Throws Failure, exit 3, which names the type and why it is unsupported.
NpyType parse_npy_type(std::string_view descr, const std::string& source_name);
// Null if NumPy has no such type.
const char* npy_type_of(ElementType type);  // <f4
const char* npy_name_of(ElementType type);  // float32

}  // namespace tap
