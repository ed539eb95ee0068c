// Minima of vectors take one instruction that orders zeros, on processors that have it. What they compute is tested in cells_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/llvm/library.h"
#include "backend/lower/lowered.h"
#include "tests/backend/written_result.h"

namespace tap::backend::test {
namespace {

std::string assembly_of_map(const char* cell, const char* type, const char* target) {
  const ir::Program program =
      written_program(fmt::format("program p(x: {1}[64], y: {1}[64]) -> (z: {1}[64]) {{ z[i] = {0} }}", cell, type));
  const std::vector<Kernel> kernels{lowered(program, program[program[program.main].operations[0].op], {})};
  return emit({.prefix = "p", .kernels = &kernels, .tables = {}}, *target_named(target), {.assembly = true}).assembly;
}
bool has_word(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

TEST(VectorMinima, AreOneInstructionAndACheckForNan) {
  for (const auto& [cell, word] : {std::pair{"min(x[i], y[i])", "vmin"}, {"max(x[i], y[i])", "vmax"}})
    for (const auto& [type, range] : {std::pair{"f32", "vrangeps"}, {"f64", "vrangepd"}}) {
      const std::string with = assembly_of_map(cell, type, "x86-64-v4"),
                        without = assembly_of_map(cell, type, "x86-64-v3");
      EXPECT_TRUE(has_word(with, range) && !has_word(with, word)) << cell << " of " << type << with;
      EXPECT_TRUE(!has_word(without, "vrange") && has_word(without, word)) << cell << " of " << type;
    }
}

// One operand is no NaN and has one sign.
TEST(VectorMinima, OfAConstantAreLeftAlone) {
  EXPECT_FALSE(has_word(assembly_of_map("max(x[i] + y[i], 0)", "f32", "x86-64-v4"), "vrange"));
}

}  // namespace
}  // namespace tap::backend::test
