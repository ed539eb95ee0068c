#include "runtime/tensors/safetensors.h"

#include "round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tap::fuzz::check_archive<tap::SafetensorsFile>(data, size, tap::encode_safetensors, tap::fuzz::small_limits());
  return 0;
}
