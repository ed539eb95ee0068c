// One random program, evaluated in every way there is: by the oracle from its text, by the interpreter, under a random plan
// and random shardings, on devices of their own, and as native code; all must give the same bits.
#pragma once

#include "ir/plan.h"
#include "tests/random/tap_generator.h"

namespace tap::random {

struct Trial {
  TapProgram source;
  ir::Plan plan;
  std::string failure;  // empty: all is well
  std::vector<Tensor> inputs, expected;
  bool fuse_more = false, strict = false, sharded = false;
  std::size_t used = 0;            // of the choices
  bool refused = false;            // the plan requests what cannot be
  std::set<std::string> features;  // what of plans and of native code was tried
};

// What else than all_features() a run of many programs is to show, and in how many of a hundred at least.
struct PlanFeature {
  const char* name;
  double least;
};
const std::vector<PlanFeature>& plan_features();

// Without `native`, nothing is compiled.
Trial attempt(const std::vector<std::uint8_t>& bytes, bool native = true);
// Shorter sequences and smaller numbers, as long as it fails.
std::vector<std::uint8_t> reduced(std::vector<std::uint8_t> bytes);
std::vector<std::uint8_t> bytes_of(std::uint64_t seed);

// Empty, or which result differs, where, and both values. The last `rounded` results may differ in their last digits, and
// zeros in their sign, where a step has said that it assumes that this does not matter.
std::string difference(const std::vector<Tensor>& found, const std::vector<Tensor>& expected, std::size_t rounded,
                       bool signs_of_zeros = true);

// The program's results by the oracle. Throws oracle::Stop and oracle::Fault.
std::vector<Tensor> by_the_oracle(const std::string& text, const std::vector<Tensor>& inputs);

}  // namespace tap::random
