#include "runtime/limits.h"

#include <unistd.h>

#include <new>

#include "runtime/failure.h"
#include "support/checked.h"

namespace tap {
namespace {

std::uint64_t physical_memory() {
  static const std::uint64_t bytes =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

std::uint64_t checked_byte_size(ElementType type, const Shape& shape, const std::string& source_name,
                                const DataLimits& limits) {
  if (shape.size() > limits.dims) {
    throw wrong_data(Code::data_limit, source_name + " has " + plural(shape.size(), "dim") + "; at most " +
                                           std::to_string(limits.dims) + " are supported");
  }
  std::int64_t bytes = 0;
  try {
    bytes = checked::mul(element_count(shape), static_cast<std::int64_t>(size_of(type)));
  } catch (const Overflow&) {
    throw wrong_data(Code::data_shape,
                     source_name + " has the shape " + to_string(shape) + ", whose size does not fit in 64 bits");
  }
  if (static_cast<std::uint64_t>(bytes) > limits.bytes) {
    throw resource_failure(Code::data_limit, source_name + " is " + describe(type, shape) + " of " +
                                                 plural(static_cast<std::uint64_t>(bytes), "byte") + "; at most " +
                                                 std::to_string(limits.bytes) + " are allowed");
  }
  return static_cast<std::uint64_t>(bytes);
}

Tensor make_tensor(ElementType type, Shape shape, const std::string& source_name) {
  std::uint64_t bytes = checked_byte_size(type, shape, source_name);
  std::string what = describe(type, shape);
  // The system overcommits and kills the process on access, so compare here.
  if (bytes <= physical_memory()) {
    try {
      return Tensor(type, std::move(shape));
    } catch (const std::bad_alloc&) {}
  }
  throw resource_failure(Code::out_of_memory,
                         source_name + " is " + what + ": its " + plural(bytes, "byte") + " do not fit in memory");
}

std::string describe(ElementType type, const Shape& shape) { return std::string(name_of(type)) + to_string(shape); }

}  // namespace tap
