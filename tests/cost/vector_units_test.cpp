// Units for products and units for additions: apart, in common, or some of each.
#include "cost/work/vector_units.h"

#include <gtest/gtest.h>

#include "compiler/pipeline/pipeline.h"
#include "cost/work/kernel_work.h"
#include "tests/passes/lowered.h"

namespace tap::cost {
namespace {

constexpr ElementType f32 = ElementType::f32;

// Per second: products alone, additions alone, both in turns, in full registers.
Device device_of(double products, double additions, double mixed) {
  Device device = builtin({}, 1);
  const auto lanes = static_cast<double>(device.core.vector_bytes) / 4;
  device.rates.of(f32, Instruction::arithmetic) = products * lanes;
  device.rates.of(f32, Instruction::add) = additions * lanes;
  device.mixed[static_cast<std::size_t>(f32)] = mixed * lanes;
  return device;
}

double seconds(const Device& device, double products, double additions) {
  UnitTimes times = unit_times(device, f32, Instruction::arithmetic, products);
  add(times, unit_times(device, f32, Instruction::add, additions));
  return times.longest();
}

TEST(VectorUnits, ProductsAndAdditions) {
  struct Case {
    double products, additions, mixed;  // rates
    double ten_and_ten, ten_and_forty, only_products, only_additions;
  };
  for (const Case& c : {Case{2, 2, 2, 10, 25, 5, 5},        // the same two units
                        Case{2, 2, 4, 5, 20, 5, 5},         // two each
                        Case{2, 2, 3, 20 / 3., 20, 5, 5},   // one of three in common
                        Case{2, 4, 4, 5, 12.5, 5, 2.5},     // products on two of four
                        Case{1, 2, 4 / 3., 15, 30, 10, 5},  // the same, on which a product takes twice as long
                        Case{2, 1, 4 / 3., 15, 45, 5, 10},  // … an addition
                        Case{2, 2, 1, 10, 25, 5, 5}}) {     // less than is possible: as on the same units
    const Device device = device_of(c.products, c.additions, c.mixed);
    SCOPED_TRACE(testing::Message() << c.products << ", " << c.additions << ", " << c.mixed);
    EXPECT_NEAR(seconds(device, 10, 10), c.ten_and_ten, 1e-9);
    EXPECT_NEAR(seconds(device, 10, 40), c.ten_and_forty, 1e-9);
    EXPECT_NEAR(seconds(device, 10, 0), c.only_products, 1e-9);
    EXPECT_NEAR(seconds(device, 0, 10), c.only_additions, 1e-9);
  }
}

TEST(VectorUnits, OtherInstructionsTakeTimeOfAllUnits) {
  const Device device = device_of(2, 2, 4);
  for (std::size_t k = 0; k < instruction_count; ++k) {
    const auto kind = static_cast<Instruction>(k);
    const UnitTimes times = unit_times(device, f32, kind, 8);
    const double alone = 8 * 16 / device.rates.of(f32, kind);
    EXPECT_DOUBLE_EQ(times.longest(), alone) << instructions[k].name;
    const bool is_either = kind == Instruction::arithmetic || kind == Instruction::add;
    EXPECT_DOUBLE_EQ(times.all, is_either ? alone / 2 : alone) << instructions[k].name;
  }
}

KernelWork work_on(const Device& device, const std::string& body) {
  auto outcome = tap::test::compile_text(
      "program p(A: f32[112, 256], B: f32[256, 64]) -> (C: f32[112, 64]) { C[i, j] = " + body + " }");
  EXPECT_TRUE(outcome.compiled) << outcome.messages;
  pipeline::Options options;
  options.stop = pipeline::Stage::schedule;
  const pipeline::Compilation made = pipeline::compile(outcome.compiled->program, options);
  const auto& call = std::get<ir::KernelCall>(made.schedule->sequences[0][0][0].what);
  return work_of(made.lowered->kernels.kernels[call.kernel], call.box, device);
}

TEST(VectorUnits, SubtractionsHideBehindProducts) {
  const char* distance = "sum[k] (A[i, k] - B[k, j]) * (A[i, k] - B[k, j])";
  const Device shared = device_of(6e9, 6e9, 6e9), apart = device_of(6e9, 6e9, 12e9);
  const KernelWork work = work_on(apart, distance);
  const double each = 112.0 * 256 * 64 / 16;
  EXPECT_EQ(work.instructions.of(f32, Instruction::arithmetic), each);
  EXPECT_EQ(work.instructions.of(f32, Instruction::add), each);
  EXPECT_NEAR(work_on(shared, distance).busy / work.busy, 2, 0.1);
  // Nothing to hide: only products with their sums, or only additions.
  for (const char* body : {"sum[k] A[i, k] * B[k, j]", "sum[k] (A[i, k] + B[k, j])"})
    EXPECT_EQ(work_on(shared, body).busy, work_on(apart, body).busy) << body;
}

// Minima are no additions: with what a NaN needs they take several instructions.
TEST(VectorUnits, MinimaHaveTheirOwnRate) {
  const char* body = "max[k] min(A[i, k], B[k, j])";
  Device device = builtin({}, 1);
  const KernelWork work = work_on(device, body);
  EXPECT_GE(work.instructions.of(f32, Instruction::minimum), 2.0 * 112 * 256 * 64 / 16);
  device.rates.of(f32, Instruction::minimum) /= 3;
  EXPECT_NEAR(work_on(device, body).busy / work.busy, 3, 0.1);
}

}  // namespace
}  // namespace tap::cost
