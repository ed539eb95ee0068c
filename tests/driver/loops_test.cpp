// The loops of every example and every standard operator: the verifier finds nothing, the text says all there is, and
// names mean nothing.
#include <gtest/gtest.h>

#include <regex>

#include "backend/compiled_program.h"
#include "backend/loops/loops_text.h"
#include "backend/loops/loops_verify.h"
#include "passes/splits/expand.h"
#include "tests/examples/programs.h"
#include "tests/examples/sizes.h"
#include "tests/frontend/compile_source.h"
#include "tests/kernel_text/parse_kernel.h"

namespace tap::driver {
namespace {

int expect_texts(const ir::Program& program, const std::string& where) {
  SCOPED_TRACE(where);
  int kernels = 0;
  for (const backend::Kernel& kernel : backend::lower(passes::expand(program)).kernels.kernels) {
    EXPECT_EQ(backend::verify(kernel), std::vector<std::string>{});
    std::string text = backend::print(kernel);
    auto parsed = backend::parse_kernel(text);
    if (const auto* error = std::get_if<ir::TextError>(&parsed)) {
      ADD_FAILURE() << error->line << ":" << error->column << ": " << error->message << "\n" << text;
      continue;
    }
    EXPECT_TRUE(std::get<backend::Kernel>(parsed) == kernel) << text;
    EXPECT_EQ(backend::print(std::get<backend::Kernel>(parsed)), text);
    std::string canonical = backend::canonical(kernel);
    EXPECT_EQ(backend::canonical(std::get<backend::Kernel>(backend::parse_kernel(canonical))), canonical);
    ++kernels;
  }
  return kernels;
}

TEST(Loops, TextOfEveryExample) {
  int kernels = 0;
  for (const Example& example : examples) {
    std::string source = text_of_file(std::string(TAP_SOURCE_DIR) + "/examples/" + example.file);
    for (const std::string& name : programs_in(source)) {
      CompileOptions options;
      options.program = name;
      for (const auto& [dim, size] : example.dims) options.dims[dim] = {size};
      auto outcome = tap::test::compile_text(source, options);
      ASSERT_TRUE(outcome.compiled) << example.file << outcome.messages;
      kernels += expect_texts(outcome.compiled->program, std::string(example.file) + " " + name);
    }
  }
  EXPECT_GT(kernels, 50);
}

TEST(Loops, TextOfEveryStandardOperator) {
  LawMemory laws;
  StandardOperators operators(laws);
  int kernels = 0;
  for (const Signature& signature : operators.all()) kernels += expect_texts(operators.at(signature), signature.name);
  EXPECT_GT(kernels, 150);
}

// Every name of a program but those of types and functions, and of the library's operators.
std::string renamed(const std::string& source, const std::vector<std::string>& names) {
  std::string result = source;
  for (std::size_t k = 0; k < names.size(); ++k)
    result = std::regex_replace(result, std::regex("\\b" + names[k] + "\\b"), "other_" + std::to_string(k * 7 % 100));
  return result;
}

TEST(Loops, NamesDoNotMatter) {
  const std::string source = R"(
monoid best(value: f32, place: f32) {
  identity (-inf, 0)
  combine (a, b) = (max(a.value, b.value), a.place + b.place)
}
op nearest(points: f32[count, d], centre: f32[d]) -> (which: f32[], far: f32[count]) {
  far[p] = sum[c] (points[p, c] - centre[c]) * (points[p, c] - centre[c])
  (unused[], which[]) = best[p] (0.0 - far[p], far[p] * f32(p))
}
program main(lo_i: f32[6, 3], acc0: f32[3], ids: i64[6]) -> (index: f32[], spread: f32[6], taken: f32[6, 3]) {
  (index, spread) = nearest(lo_i, acc0)
  taken[u, v] = lo_i[ids[u], v else 0.5] + (if u > 2 then acc0[v] else 0)
}
)";
  const std::vector<std::string> names = {"best",  "value",  "place", "nearest", "points", "centre", "which", "far",
                                          "count", "d",      "p",     "c",       "unused", "lo_i",   "acc0",  "ids",
                                          "index", "spread", "taken", "u",       "v",      "main"};
  auto loops = [](const std::string& text) {
    auto outcome = tap::test::compile_text(text);
    EXPECT_TRUE(outcome.compiled) << outcome.messages << text;
    std::vector<std::string> all;
    if (!outcome.compiled) return all;
    expect_texts(outcome.compiled->program, text);
    for (const auto& kernel : backend::lower(passes::expand(outcome.compiled->program)).kernels.kernels)
      all.push_back(backend::canonical(kernel));
    return all;
  };
  std::vector<std::string> expected = loops(source);
  EXPECT_GE(expected.size(), 3u);
  EXPECT_EQ(loops(renamed(source, names)), expected);
}

}  // namespace
}  // namespace tap::driver
