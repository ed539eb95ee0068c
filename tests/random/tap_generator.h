// Random Tap programs out of a sequence of choices: legal by construction, and exact, so that every way to evaluate one must
// give the same bits. A shorter sequence, or smaller numbers in it, give a simpler program, which is how a failing one is
// reduced.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "support/tensor.h"

namespace tap::random {

class Choices {
 public:
  explicit Choices(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}
  // One of 0 … n-1; 0 when the sequence is used up.
  std::int64_t operator()(std::int64_t n) { return at_ < bytes_.size() ? bytes_[at_++] % n : 0; }
  std::size_t used() const { return at_; }

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

struct TapProgram {
  std::string text;
  std::set<std::string> features;  // what of the language it uses
  std::vector<bool> constant;      // which inputs are given once
  bool special = false;            // floats may be NaN, infinite and -0
  std::size_t rounded = 0;         // so many of the last results are of functions whose last digits nobody promises
};
TapProgram generate(Choices& choose);

// The features that generate() knows, so that a missing one is noticed.
const std::vector<std::string>& all_features();

enum class Values {
  small,    // small integers
  special,  // and NaN, infinities, -0; integers of any size, least and greatest among them
  any,      // floats that are no integers, too: sums of them round
};
Tensor input_values(ElementType type, const Shape& shape, Values values, Choices& choose);

}  // namespace tap::random
