#include "runtime/tensors/npy.h"

#include "round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tap;
  try {
    Tensor tensor = parse_npy(fuzz::bytes_from(data, size), "`fuzz`", fuzz::small_limits());
    std::string written = flatten({npy_header(tensor.type(), tensor.shape()), tensor});
    fuzz::require_equal(tensor, parse_npy(fuzz::bytes_from(written), "`again`", fuzz::small_limits()));
  } catch (const Failure& failure) { fuzz::require(!failure.diagnostic.message.empty()); }
  return 0;
}
