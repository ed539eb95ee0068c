// The oracle itself: what the language reference says, by hand, and the examples against the interpreter.
#include "tests/oracle/oracle.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/driver/standard_library.h"
#include "compiler/frontend/elaborate/compile.h"
#include "compiler/frontend/syntax/parse.h"
#include "ir/interpret/interpret.h"
#include "tests/examples/programs.h"
#include "tests/examples/sizes.h"

namespace tap::oracle {
namespace {

ast::Module parsed(const std::string& text) {
  SourceMap sources;
  Diagnostics diagnostics;
  auto module = parse(sources, sources.add("test.tap", text), {}, diagnostics);
  if (!module) throw std::runtime_error("does not parse");
  return std::move(*module);
}
const ast::Module& library() {
  static const ast::Module module = parsed(std::string(embedded::std_tap));
  return module;
}

Tensor tensor(ElementType type, Shape shape, const std::vector<double>& values) {
  Tensor t(type, std::move(shape));
  for (std::size_t k = 0; k < values.size(); ++k) t.store_f64(static_cast<std::int64_t>(k), values[k]);
  return t;
}

std::vector<double> cells(const std::string& text, const std::vector<Tensor>& inputs) {
  const Tensor result = evaluate(parsed(text), library(), inputs).at(0);
  std::vector<double> values;
  for (std::int64_t k = 0; k < result.size(); ++k) values.push_back(result.load_f64(k));
  return values;
}

using Numbers = std::vector<double>;
const Tensor ones = tensor(ElementType::f32, {3}, {1, 1, 1});

TEST(Oracle, FillsStayFillsInAnIterate) {
  EXPECT_EQ(cells("program p(x: f32[3]) -> (y: f32[3]) { y = iterate 2 (v = x) { w[i] = v[i-1 else 0] + v[i] + v[i+1 "
                  "else 0]; w } }",
                  {ones}),
            (Numbers{5, 7, 5}));
}

TEST(Oracle, ABiasIsAddedOnce) {
  EXPECT_EQ(cells("use std\nprogram p(x: f32[1, 2], w: f32[2, 1], b: f32[1]) -> (y: f32[1, 1]) { y = linear(x, w, b) }",
                  {tensor(ElementType::f32, {1, 2}, {1, 2}), tensor(ElementType::f32, {2, 1}, {3, 4}),
                   tensor(ElementType::f32, {1}, {10})}),
            (Numbers{21}));
}

TEST(Oracle, TriangularWriters) {
  EXPECT_EQ(cells("program p(x: f32[3]) -> (y: f32[2, 3]) { y[i, j] = x[j] for i in 0..2, j in 0..i + 1; y[i, j] = "
                  "-x[j] for j in i + 1..3 }",
                  {ones}),
            (Numbers{1, -1, -1, 1, 1, -1}));
}

TEST(Oracle, WritesMustPartitionTheResult) {
  EXPECT_THROW(cells("program p(x: f32[3]) -> (y: f32[4]) { y[i] = x[i] for i in 0..3 }", {ones}), Fault);
  EXPECT_THROW(cells("program p(x: f32[3]) -> (y: f32[3]) { y[i] = x[i]; y[0] = x[0] }", {ones}), Fault);
  EXPECT_THROW(cells("program p(x: f32[3]) -> (y: f32[3]) { y[i] = x[i + 1] }", {ones}), Fault);
}

TEST(Oracle, UntakenBranchIsNotEvaluated) {
  EXPECT_EQ(cells("program p(x: f32[3]) -> (y: f32[3]) { y[i] = if i > 0 then x[i - 1] else 7 }", {ones}),
            (Numbers{7, 1, 1}));
  EXPECT_THROW(cells("program p(x: i32[1]) -> (y: i32[1]) { y[i] = 1 / x[i] }", {tensor(ElementType::i32, {1}, {0})}),
               Stop);
}

TEST(Oracle, HalfPrecisionRoundsAtTheCell) {
  const Tensor h = tensor(ElementType::bf16, {2}, {256, 1});
  EXPECT_EQ(cells("program p(x: bf16[2]) -> (y: bf16[]) { y[] = x[0] + x[1] - x[0] }", {h}), (Numbers{1}));
  EXPECT_EQ(cells("program p(x: bf16[2]) -> (y: bf16[]) { t[] = x[0] + x[1]; y[] = t[] - x[0] }", {h}), (Numbers{0}));
}

TEST(Oracle, Integers) {
  const Tensor x = tensor(ElementType::i8, {2}, {-7, 127});
  EXPECT_EQ(cells("program p(x: i8[2]) -> (y: i8[2]) { y[i] = x[i] / 2 }", {x}), (Numbers{-4, 63}));
  EXPECT_EQ(cells("program p(x: i8[2]) -> (y: i8[2]) { y[i] = x[i] % 4 }", {x}), (Numbers{1, 3}));
  EXPECT_EQ(cells("program p(x: i8[2]) -> (y: i8[2]) { y[i] = x[i] + 1 }", {x}), (Numbers{-6, -128}));
  EXPECT_EQ(cells("program p(x: i8[2]) -> (y: u8[2]) { y[i] = u8(x[i]) }", {x}), (Numbers{249, 127}));
  EXPECT_EQ(cells("program p(x: f32[3]) -> (y: i8[3]) { y[i] = i8(x[i]) }",
                  {tensor(ElementType::f32, {3}, {300, -1e30, NAN})}),
            (Numbers{127, -128, 0}));
}

TEST(Oracle, MaximumAndMinimum) {
  const Tensor x = tensor(ElementType::f32, {2}, {-0.0, 0.0});
  EXPECT_FALSE(std::signbit(cells("program p(x: f32[2]) -> (y: f32[]) { y[] = max(x[0], x[1]) }", {x})[0]));
  EXPECT_TRUE(std::signbit(cells("program p(x: f32[2]) -> (y: f32[]) { y[] = min[i] x[i] }", {x})[0]));
  EXPECT_TRUE(std::isnan(
      cells("program p(x: f32[2]) -> (y: f32[]) { y[] = max[i] x[i] }", {tensor(ElementType::f32, {2}, {NAN, 9})})[0]));
  EXPECT_EQ(cells("program p(x: f32[0]) -> (y: f32[]) { y[] = max[i] x[i] }", {tensor(ElementType::f32, {0}, {})})[0],
            -INFINITY);
}

TEST(Oracle, PacksAndBroadcasts) {
  const Tensor x = tensor(ElementType::i32, {2, 2}, {1, 2, 3, 4}), row = tensor(ElementType::i32, {2}, {10, 20});
  EXPECT_EQ(cells("use std\nprogram p(x: i32[2, 2], z: i32[2]) -> (y: i32[2, 2]) { y = add(x, z) }", {x, row}),
            (Numbers{11, 22, 13, 24}));
  EXPECT_EQ(cells("use std\nprogram p(x: i32[2, 2]) -> (y: i32[2]) { y = sum_axis<-1>(x) }", {x}), (Numbers{3, 7}));
  EXPECT_EQ(cells("use std\nprogram p(x: i32[2, 2]) -> (y: i32[4, 1]) { y = reshape<4, 1>(transpose(x)) }", {x}),
            (Numbers{1, 3, 2, 4}));
}

TEST(Oracle, NonCommutativeMonoid) {
  EXPECT_EQ(cells("use std\nprogram p(a: i64[3]) -> (s: i64[], y: i64[]) { (s[], y[]) = affine[k] (a[k], 1) }",
                  {tensor(ElementType::i64, {3}, {2, 3, 4})}),
            (Numbers{24}));
}

// Every example: the interpreter comes to the same, but for the last digits of functions.
TEST(Oracle, Examples) {
  LawMemory laws;
  int programs = 0;
  for (const Example& example : examples) {
    if (std::string(example.file) == "smooth.tap") continue;  // an outside kernel
    const std::string text = text_of_file(std::string(TAP_SOURCE_DIR) + "/examples/" + example.file);
    for (const std::string& name : programs_in(text)) {
      SCOPED_TRACE(std::string(example.file) + " " + name);
      SourceMap sources;
      Diagnostics diagnostics;
      CompileOptions options;
      options.program = name;
      options.standard_library = embedded::std_tap;
      options.laws = &laws;
      for (const auto& [dim, size] : example.dims) options.dims[dim] = {size};
      auto compiled = compile(sources, sources.add(example.file, text), options, diagnostics);
      ASSERT_TRUE(compiled);
      const ir::Program& program = compiled->program;
      std::vector<Tensor> inputs;
      for (ir::ValueId v : program[program.main].inputs) {
        const ir::TensorType& type = program[program.main][v].type;
        Tensor t(type.element, type.shape);
        for (std::int64_t k = 0; k < t.size(); ++k)
          t.store_f64(k, static_cast<double>((5 * k + 1) % 9) / (is_float(type.element) ? 8 : 9));
        inputs.push_back(std::move(t));
      }
      const auto expected = ir::interpret(program, program.main, inputs).outputs;
      const auto found = evaluate(parsed(text), library(), inputs, {name, example.dims});
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t k = 0; k < found.size(); ++k) {
        ASSERT_EQ(found[k].shape(), expected[k].shape());
        for (std::int64_t c = 0; c < found[k].size(); ++c) {
          const double a = found[k].load_f64(c), b = expected[k].load_f64(c);
          EXPECT_TRUE(std::fabs(a - b) <= 1e-5 * std::max(1.0, std::fabs(b)) || (std::isnan(a) && std::isnan(b)))
              << a << " and " << b;
        }
      }
      ++programs;
    }
  }
  EXPECT_GT(programs, 10);
}

}  // namespace
}  // namespace tap::oracle
