#include "runtime/tensors/npz.h"

#include "round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tap::fuzz::check_archive<tap::NpzFile>(data, size, tap::encode_npz, tap::fuzz::small_limits());
  return 0;
}
