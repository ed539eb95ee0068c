// Stores that bypass the caches: the same results wherever the tensor begins, and where rows or parts end within a line.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/llvm/library.h"
#include "backend/loops/loops_text.h"
#include "backend/lower/lowered.h"
#include "backend/machine_of.h"
#include "backend/tiles/non_temporal_results.h"
#include "ir/interpret/interpret.h"
#include "tests/backend/written_result.h"
#include "tests/ir/parse_plan.h"

namespace tap::backend::test {
namespace {

// Every result is larger than its last cache.
ir::Machine without_last_cache() {
  ir::Machine machine = machine_of(*target_named("native"));
  machine.l3_bytes = 0;
  return machine;
}

std::vector<Tensor> inputs_of_small_numbers(const ir::Program& program) {
  std::vector<Tensor> inputs;
  for (ValueId id : program[program.main].inputs) {
    const TensorType& type = program[program.main][id].type;
    Tensor tensor(type.element, type.shape);
    for (std::int64_t c = 0; c < tensor.size(); ++c) tensor.store_f64(c, static_cast<double>((7 * c + 3) % 11 - 5));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

void expect_as_interpreted(const std::string& text, const std::string& plan) {
  const ir::Program program = written_program(text);
  const std::vector<Tensor> inputs = inputs_of_small_numbers(program);
  const auto oracle = interpret(program, program.main, inputs).outputs;
  ExecuteOptions options;
  options.machine = without_last_cache();
  options.threads = 2;
  Executable native = executable(program, std::get<Plan>(parse_plan("plan 2\n" + plan)), options);
  expect_same_bits(native.run(inputs), oracle, fmt::format("{} under {}", text, plan));
}

TEST(NonTemporalResults, AreTheSameAtAnyAddress) {
  const char* programs[] = {
      "program p(X: {0}[{1}, {2}]) -> (Y: {0}[{1}, {2}]) {{ Y[i, j] = X[i, j] * 3 + 1 }}",
      "program p(X: {0}[{1}, {2}], W: {0}[{2}, {1}]) -> (Y: {0}[{1}, {2}]) {{ Y[i, j] = X[i, j] - W[j, i] }}",
      "program p(X: {0}[{1}, 7], W: {0}[7, {2}]) -> (Y: {0}[{1}, {2}]) {{ Y[i, j] = sum[k] X[i, k] * W[k, j] }}"};
  for (const char* program : programs)
    for (const char* type : {"f32", "f64", "i8"})
      for (auto [rows, columns] : {std::pair{1, 200}, {13, 64}, {6, 48}, {33, 16}, {5, 67}})
        for (const char* plan : {"", "split Y dim i into 3 over sequential", "split Y dim j into 3 over sequential"})
          expect_as_interpreted(fmt::format(fmt::runtime(program), type, rows, columns), plan);
}

TEST(NonTemporalResults, AreLargeAndHaveRowsOfWholeLines) {
  const ir::Machine machine;
  const std::int64_t cells = machine.l3_bytes / 4;
  auto has_them = [&](Shape shape) { return is_non_temporal({ElementType::f32, std::move(shape)}, machine); };
  EXPECT_TRUE(has_them({cells + 1}));
  EXPECT_FALSE(has_them({cells}));
  EXPECT_TRUE(has_them({cells / 16 + 1, 16}));
  EXPECT_FALSE(has_them({cells, 17}));
  EXPECT_FALSE(has_them({}));
}

// What a kernel reads again must be in the caches.
TEST(NonTemporalResults, AreNotRead) {
  auto loops = [](const std::string& text) {
    const ir::Program program = written_program(text);
    LowerOptions options;
    options.machine = without_last_cache();
    return print(lowered(program, program[program[program.main].operations.at(0).op], options));
  };
  EXPECT_NE(loops("program p(X: f32[64]) -> (Y: f32[64]) { Y[i] = X[i] + 1 }").find("nontemporal t1\n"),
            std::string::npos);
  EXPECT_EQ(
      loops("program p(X: f32[64, 4096], W: f32[4096, 64]) -> (Y: f32[64, 64]) { Y[i, j] = sum[k] X[i, k] * W[k, j] }")
          .find("nontemporal"),
      std::string::npos);
}

}  // namespace
}  // namespace tap::backend::test
