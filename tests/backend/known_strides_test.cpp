// Constant strides where every call has whole rows, and only there; and loops that fill or copy memory stay vector loops.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>

#include "backend/llvm/library.h"
#include "backend/loops/loops_text.h"
#include "backend/loops/loops_verify.h"
#include "backend/lower/lowered.h"
#include "backend/trial/self_check.h"
#include "ir/interpret/interpret.h"
#include "tests/backend/written_result.h"
#include "tests/ir/parse_plan.h"

namespace tap::backend::test {
namespace {

// The loops of the first operation.
Kernel first_kernel(const std::string& text, const LowerOptions& options = {}) {
  const ir::Program program = written_program(text);
  return lowered(program, program[program[program.main].operations.at(0).op], options);
}

std::vector<std::uint32_t> whole_axes_of(const Kernel& kernel) {
  std::vector<std::uint32_t> whole;
  for (std::size_t t = 0; t < kernel.operands + kernel.results; ++t) whole.push_back(kernel.tensors[t].whole);
  return whole;
}

constexpr const char* transposed_sum =
    "program p(X: f32[30, 20, 10], W: f32[20, 30]) -> (Y: f32[30, 20, 10]) {{ Y[i, j, k] = X[i, j, k] + W[j, i] }}";

TEST(KnownStrides, AreThoseOfWholeRows) {
  const std::string text = fmt::format(transposed_sum);
  EXPECT_EQ(whole_axes_of(first_kernel(text)), (std::vector<std::uint32_t>{2, 1, 2}));
  EXPECT_NE(print(first_kernel(text)).find("whole t1 1\n"), std::string::npos);
  LowerOptions any_box;
  any_box.any_box = true;
  EXPECT_EQ(whole_axes_of(first_kernel(text, any_box)), (std::vector<std::uint32_t>{0, 0, 0}));
}

// What is read is the middle of each row; memory may have no more.
TEST(KnownStrides, AreNotThoseOfPartsOfRows) {
  EXPECT_EQ(whole_axes_of(first_kernel("program p(X: f32[30, 20], W: f32[18, 30]) -> (Y: f32[30, 18]) "
                                       "{ Y[i, j] = X[i, j + 1] + W[j, i] }")),
            (std::vector<std::uint32_t>{0, 1, 1}));
}

// The self-check has memory for a few rows with their distances.
TEST(KnownStrides, AreShort) {
  auto of = [](std::int64_t cells) {
    return whole_axes_of(first_kernel(fmt::format(
        "program p(X: f32[3, {0}], W: f32[{0}, 3]) -> (Y: f32[3, {0}]) {{ Y[i, j] = X[i, j] + W[j, i] }}", cells)));
  };
  EXPECT_EQ(of(1 << 16), (std::vector<std::uint32_t>{1, 1, 1}));
  EXPECT_EQ(of((1 << 16) + 1), (std::vector<std::uint32_t>{0, 1, 0}));
  EXPECT_EQ(of(0), (std::vector<std::uint32_t>{0, 0, 0}));
}

TEST(KnownStrides, AreThoseOfTheMemory) {
  TensorArgument tensor{"t", {ElementType::f32, {5, 1, 7}}};
  tensor.whole = 2;
  EXPECT_TRUE(has_known_strides(tensor, {3, 1, 7}));
  EXPECT_FALSE(has_known_strides(tensor, {3, 1, 6}));
  EXPECT_FALSE(has_known_strides(tensor, {3, 2, 7}));
  EXPECT_FALSE(has_known_strides(tensor, {3, 7}));
  EXPECT_TRUE(has_known_strides(tensor, {0, 0, 0}));  // of a block without points
  tensor.whole = 0;
  EXPECT_TRUE(has_known_strides(tensor, {3, 2, 6}));
}

TEST(KnownStrides, GiveTheSameInBlocksAndOverDevices) {
  const char* plans[] = {"",
                         "split Y dim i into 3 over sequential",
                         "split Y dim j into 3 over sequential",
                         "split Y dim k into 4 over sequential",
                         "split Y dim j into 2 over axis m.x",
                         "split Y dim k into [0, 3, 10] over axis m.x"};
  const ir::Program program = written_program("mesh m = [x: 2]\n" + fmt::format(transposed_sum));
  const std::vector<Tensor> inputs = whole_inputs(program);
  const auto oracle = interpret(program, program.main, inputs).outputs;
  for (const char* plan : plans) {
    ExecuteOptions options;
    options.threads = 2;
    Executable native = executable(program, std::get<Plan>(parse_plan(fmt::format("plan 2\n{}", plan))), options);
    expect_same_bits(native.run(inputs), oracle, plan);
  }
}

// Code generation has no library to call: it would turn such a call back into a loop, over bytes.
TEST(LoopsOverMemory, AreNotCallsOfALibrary) {
  for (const char* text : {"program p() -> (Y: f32[100, 1000]) { Y[i, j] = 0 }",
                           "program p(X: f32[100, 1000]) -> (Y: f32[100, 1000]) { Y[i, j] = X[i, j] }"}) {
    const std::vector<Kernel> kernels{first_kernel(text)};
    const std::string code = emit(Library{"p", &kernels, {}}, *target_named("x86-64-v3"), {.llvm = true}).llvm;
    EXPECT_FALSE(std::regex_search(code, std::regex("llvm\\.mem(set|cpy|move)"))) << code;
    EXPECT_TRUE(std::regex_search(code, std::regex("store <[0-9]+ x"))) << code;
  }
}

}  // namespace
}  // namespace tap::backend::test
