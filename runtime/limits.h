// Limits for data files. Every size in a file or a specification is checked against them before anything is
// allocated.
#pragma once

#include <cstdint>
#include <string>

#include "support/tensor.h"

namespace tap {

struct DataLimits {
  std::uint64_t bytes = std::uint64_t{1} << 40;  // of one tensor, and of all entries of an archive together
  std::uint64_t ratio = 1000;                    // unpacked size over packed size; checked for entries above 1 MiB
  std::uint64_t entries = 10000;                 // of an archive
  std::size_t dims = 64;                         // of one tensor, as in NumPy
};

// The bytes of a tensor whose shape comes from `source_name`. Throws Failure, exit 3: too many dims, or an overflow.
std::uint64_t checked_byte_size(ElementType type, const Shape& shape, const std::string& source_name,
                                const DataLimits& limits = {});

// A tensor of zeros. Throws Failure, exit 4, if this machine's memory cannot hold it.
Tensor make_tensor(ElementType type, Shape shape, const std::string& source_name);

// "f32 [2, 3]"
std::string describe(ElementType type, const Shape& shape);

}  // namespace tap
