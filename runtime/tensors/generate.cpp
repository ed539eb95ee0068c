#include "runtime/tensors/generate.h"

#include "runtime/failure.h"
#include "runtime/tensors/tensor_part.h"

namespace tap {
namespace {

std::uint64_t first_state(std::uint64_t seed) { return seed * 0xD1B54A32D192ED03ull; }

// A run of the tensor's elements: the first of them, its position in the whole tensor, and how many.
void fill_rand(Tensor& tensor, std::uint64_t seed, const Run& run) {
  ElementType type = tensor.type();
  std::uint64_t state = first_state(seed);
  // Maps the 32 high bits to 17 (or 9) values by multiplication.
  std::uint64_t values = type == ElementType::u8 ? 9 : 17;
  std::int64_t least = type == ElementType::u8 ? 0 : -8;
  for (std::int64_t n = 0; n < run.count; ++n) {
    const std::int64_t at = run.in_part + n;
    std::uint64_t h = splitmix64(state + static_cast<std::uint64_t>(run.in_whole + n));
    if (is_float(type)) tensor.store_f64(at, static_cast<double>(h & 255) / 128 - 1);
    else if (is_bool(type)) tensor.store_i64(at, static_cast<std::int64_t>(h & 1));
    else tensor.store_i64(at, least + static_cast<std::int64_t>(((h >> 32) * values) >> 32));
  }
}

void fill_randn(Tensor& tensor, std::uint64_t seed, const Run& run) {
  std::uint64_t state = first_state(seed);
  for (std::int64_t n = 0; n < run.count; ++n) {
    std::int64_t sum = 0;
    for (std::uint64_t part = 0; part < 3; ++part) {
      std::uint64_t h = splitmix64(state + 3 * static_cast<std::uint64_t>(run.in_whole + n) + part);
      for (int shift = 0; shift < 64; shift += 16) sum += static_cast<std::int64_t>(h >> shift & 0xFFFF);
    }
    // Each number is its 16 bits and a half, over 65536; twelve halves are 6.
    tensor.store_f64(run.in_part + n, static_cast<double>(sum + 6 - 6 * 65536) / 65536);
  }
}

}  // namespace

std::uint64_t splitmix64(std::uint64_t state) {
  std::uint64_t z = state + 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

void fill(Tensor& tensor, const Maker& maker, std::string_view spec) {
  fill_part(tensor, whole_part(tensor.shape()).begin, tensor.shape(), maker, spec);
}

void fill_part(Tensor& tensor, const Shape& begin, const Shape& whole, const Maker& maker, std::string_view spec) {
  auto each_run = [&](auto fill_run) { for_each_run(whole, {begin, tensor.shape()}, fill_run); };
  switch (maker.kind) {
    case Maker::Kind::zeros: break;  // a new Tensor is already zero
    case Maker::Kind::ones:
      for (std::int64_t at = 0; at < tensor.size(); ++at) tensor.store_i64(at, 1);
      return;
    case Maker::Kind::constant:
      for (std::int64_t at = 0; at < tensor.size(); ++at) store(tensor, at, maker.constant, spec);
      return;
    case Maker::Kind::iota:
      return each_run([&](const Run& run) {
        for (std::int64_t n = 0; n < run.count; ++n) tensor.store_i64(run.in_part + n, run.in_whole + n);
      });
    case Maker::Kind::rand: return each_run([&](const Run& run) { fill_rand(tensor, maker.seed, run); });
    case Maker::Kind::randn:
      if (!is_float(tensor.type())) {
        throw wrong_command(Code::data_spec,
                            quoted(spec) + " needs a tensor of floats, not of " + std::string(name_of(tensor.type())),
                            "rand:SEED works for every type");
      }
      return each_run([&](const Run& run) { fill_randn(tensor, maker.seed, run); });
  }
}

}  // namespace tap
