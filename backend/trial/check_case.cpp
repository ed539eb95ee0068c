#include "backend/trial/check_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/interpret/interpret_bounds.h"
#include "support/alignment.h"
#include "support/tensor.h"

namespace tap::backend {
namespace {

constexpr std::size_t scratch_guard = 256;
constexpr std::byte noise{0xff};  // a NaN for floats

// A copy with a buffer's alignment.
class Aligned {
 public:
  explicit Aligned(std::size_t size) : memory_(size + buffer_alignment) {
    auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    data_ = memory_.data() + (buffer_alignment - address % buffer_alignment) % buffer_alignment;
  }
  Aligned(Aligned&&) = default;  // the bytes do not move
  Aligned(const Aligned&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::vector<std::byte> memory_;
  std::byte* data_;
};

Tensor one_cell(ElementType type, const std::byte* from) {
  Tensor cell(type, {1});
  std::memcpy(cell.mutable_data(), from, size_of(type));
  return cell;
}

std::string text_of(ElementType type, double number, std::int64_t integer) {
  return is_float(type) ? fmt::format("{}", number) : fmt::format("{}", integer);
}

// Integers also have a bound above 0 if they are computed from floats.
bool is_within_bound(ElementType type, double number, std::int64_t integer, const ExpectedCell& expected) {
  using ir::oracle::distance;
  if (std::isinf(expected.bound)) return true;
  if (is_float(type))
    return number == expected.number ||
           distance(type, ir::oracle::number(number), ir::oracle::number(expected.number)) <= expected.bound;
  return distance(type, ir::oracle::integer(integer), ir::oracle::integer(expected.integer)) <= expected.bound;
}

std::optional<std::string> wrong_cell(const CheckedTensor& tensor, const ExpectedCell& expected,
                                      const std::byte* bytes) {
  const Tensor got = one_cell(tensor.element, bytes + expected.offset);
  const double number = is_float(tensor.element) ? got.load_f64(0) : 0;
  const std::int64_t integer = is_float(tensor.element) ? 0 : got.load_i64(0);
  const bool is_value = !is_bool(tensor.element) || static_cast<unsigned>(bytes[expected.offset]) <= 1;
  if (is_value && is_within_bound(tensor.element, number, integer, expected)) return {};
  return fmt::format("{}[{}] is {}, not {}", tensor.name, fmt::join(expected.at, ", "),
                     text_of(tensor.element, number, integer),
                     text_of(tensor.element, expected.number, expected.integer));
}

std::optional<std::string> difference_of(const CheckedTensor& tensor, const std::vector<std::byte>& after, bool fails,
                                         bool result) {
  std::vector<bool> may_change(tensor.bytes.size(), false);
  const std::size_t size = size_of(tensor.element);
  for (const ExpectedCell& expected : tensor.expected)
    std::fill_n(may_change.begin() + static_cast<std::ptrdiff_t>(expected.offset), size, true);
  auto is_left = [&](const ExpectedCell& expected) {
    return expected.optional &&
           std::memcmp(after.data() + expected.offset, tensor.bytes.data() + expected.offset, size) == 0;
  };
  for (const ExpectedCell& expected : tensor.expected)
    if (!fails && !is_left(expected))
      if (auto wrong = wrong_cell(tensor, expected, after.data())) return wrong;
  for (std::size_t k = 0; k < after.size(); ++k) {
    if (may_change[k] || after[k] == tensor.bytes[k]) continue;
    const auto from = static_cast<std::int64_t>(k) - tensor.origin;
    return fmt::format("{}: byte {} from its cell 0, which is {}, is overwritten", tensor.name, from,
                       result ? "not among the cells that are computed" : "of an operand");
  }
  return {};
}

}  // namespace

std::optional<std::string> difference(const CheckCase& trial, const std::vector<std::vector<std::byte>>& after,
                                      bool failed) {
  if (failed != trial.fails)
    return failed ? "it fails, but the operator has a value" : "it has a value, but the operator fails";
  for (std::size_t t = 0; t < trial.tensors.size(); ++t)
    if (auto found = difference_of(trial.tensors[t], after[t], trial.fails, !trial.tensors[t].expected.empty()))
      return found;
  return {};
}

std::optional<std::string> try_kernel(const CheckCase& trial, KernelFunction function) {
  std::vector<Aligned> memory;
  std::vector<void*> buffers;
  std::vector<std::int64_t> strides;
  for (const CheckedTensor& tensor : trial.tensors) {
    memory.emplace_back(tensor.bytes.size());
    std::memcpy(memory.back().data(), tensor.bytes.data(), tensor.bytes.size());
    // Cell 0 may be far outside the part; the address is never dereferenced.
    buffers.push_back(reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(memory.back().data()) +
                                              static_cast<std::uintptr_t>(tensor.origin)));
    strides.insert(strides.end(), tensor.strides.begin(), tensor.strides.end());
  }
  strides.push_back(0);  // never empty
  const std::size_t scratch_bytes = trial.scratch + 2 * scratch_guard;
  const Aligned scratch(scratch_bytes);
  std::fill_n(scratch.data(), scratch_bytes, noise);
  std::fill_n(scratch.data() + scratch_guard, std::min(trial.scratch, scratch_state), std::byte{0});
  bool failed = false;
  for (auto [first, end] : trial.calls) {
    KernelError error;
    failed = failed || function(trial.box.data(), buffers.data(), strides.data(), scratch.data() + scratch_guard, first,
                                end, &error) != 0;
  }
  std::vector<std::vector<std::byte>> after;
  for (std::size_t t = 0; t < memory.size(); ++t)
    after.emplace_back(memory[t].data(), memory[t].data() + trial.tensors[t].bytes.size());
  if (auto found = difference(trial, after, failed)) return found;
  for (std::size_t k = 0; k < scratch_guard; ++k)
    if (scratch.data()[k] != noise || scratch.data()[scratch_bytes - 1 - k] != noise)
      return "it writes outside its own memory";
  return {};
}

}  // namespace tap::backend
