// Wrong kernels, each with one thing wrong, and what the verifier says of it.
#include <gtest/gtest.h>

#include <functional>

#include "backend/loops/loops_text.h"
#include "backend/loops/loops_verify.h"
#include "tests/kernel_text/parse_kernel.h"

namespace tap::backend {
namespace {

Kernel unverified(const std::string& text) {
  auto parsed = parse_kernel(text);
  if (const auto* error = std::get_if<ir::TextError>(&parsed)) {
    ADD_FAILURE() << error->line << ":" << error->column << ": " << error->message << "\n" << text;
    return {};
  }
  return std::get<Kernel>(std::move(parsed));
}

const std::string valid_kernel = R"(kernel (x: f32[40], n: i64[40]) -> (y: f32[40], s: f32[]) over (i)
  cut i by 16 worth 1
  local p: f32[40] holds [16] at (i0)
  acc0: f32x16[2]
  acc1: f32
  acc2: f32
  acc3: f32
  for i0 in lo_i..hi_i step 16
    unroll u in 0 of 2
      acc0[u] = 0.0
      lanes i in i0..hi_i of 16
        p[i] = x[i]
        fetch y[i + 16]
        acc0[u] = acc0[u] + p[i]
        y[i] = x[39 - i] + x[i - 1? else 0.5]
    acc1 = fold acc0[0] by (acc2; acc3) -> acc2 + acc3
    s[] = acc1
  for i in lo_i..hi_i
    let v = (abs(n[i]))
    if 39 - v >= 0, (n[i] < 3)
      y[i] = 100.0 / f32(7 / n[i]) + x[(n[i])?]!
)";

struct Mutant {
  const char* from;
  const char* to;
  const char* expected_error;  // a part of it
};

TEST(VerifyLoops, ValidKernelPasses) { EXPECT_EQ(verify(unverified(valid_kernel)), std::vector<std::string>{}); }

TEST(VerifyLoops, InvalidTextsAreRejected) {
  const Mutant mutants[] = {
      {"y[i] = x[39 - i]", "y[i] = x[39 - v]", "v is used out of scope"},
      {"    s[] = acc1", "    s[] = f32(i)", "i is used out of scope"},
      {"holds [16] at (i0)", "holds [16] at (v)", "v is used out of scope"},
      {"lanes i in i0..hi_i of 16", "lanes i0 in i0..hi_i of 16", "i0 is already defined in this scope"},
      {"for i0 in lo_i", "for i0 in i0", "i0 is used out of scope"},
      {"unroll u in 0 of 2", "unroll u in 0 of 3", "acc0[0..3] of 2"},
      {"unroll u in 0 of 2", "for u in 0..2", "is not a number after unrolling"},
      {"unroll u in 0 of 2", "unroll u in 0 of 0", "unrolled 0 times"},
      {"of 16\n        p", "of 8\n        p", "acc0 has 16 lanes, but is assigned 8"},
      {"of 16\n        p", "of 12\n        p", "12 lanes are not a power of two"},
      {"f32x16", "f32x15", "acc0 has 15 lanes, which is not a power of two"},
      {"unroll u in 0 of 2", "lanes u in 0 of 16", "a loop over lanes occurs in the lanes of u"},
      {"        p[i] = x[i]\n", "        for j in 0..2\n          p[i] = x[i]\n",
       "a serial loop occurs in the lanes of i"},
      {"        p[i] = x[i]\n", "        if i >= 0\n          p[i] = x[i]\n", "a condition occurs in the lanes of i"},
      {"        p[i] = x[i]\n", "        acc1 = x[i]\n", "acc1 has 1 lanes, but is assigned 16"},
      {"        p[i] = x[i]\n", "        unroll q in i of 2\n          p[i] = x[i]\n",
       "a bound depends on the lanes of i"},
      {"        p[i] = x[i]\n", "        p[i] = x[i]!\n", "straight-line code computes a cell that may fail"},
      {"        p[i] = x[i]\n", "        p[i] = f32(3 / n[i])\n", "straight-line code computes a cell that may fail"},
      {"        p[i] = x[i]\n", "        x[i] = p[i]\n", "store to tensor 0, which is not a result"},
      {"        p[i] = x[i]\n", "        p[i] = n[i]\n", "i64 is stored to a tensor of f32"},
      {"        p[i] = x[i]\n", "        p[i, i] = x[i]\n", "2 coordinates for 1 axes"},
      {"        p[i] = x[i]\n", "        p[i] = x[i, 0]\n", "2 coordinates for 1 axes"},
      {"        p[i] = x[i]\n", "        p[i] = x[i] + n[i]\n", "is i64, expected f32"},
      {"fetch y[i + 16]", "fetch y[i, i]", "2 coordinates for 1 axes"},
      {"fetch y[i + 16]", "fetch y[v]", "v is used out of scope"},
      {"        p[i] = x[i]\n", "        p[i] = x[(x[i])?]!\n", "a coordinate is f32"},
      {"(abs(n[i]))", "(i32(n[i]))", "a variable is i32, expected i64"},
      {"(n[i] < 3)", "(n[i])", "a condition is i64"},
      {"x[(n[i])?]!", "x[(n[i])?]", "it may fail, so it must not be evaluated early"},
      {"else 0.5", "else 1", "the fill is i64, but the tensor is f32"},
      {"fold acc0[0]", "fold acc1", "a fold combines 1 and 1 lanes"},
      {"(acc2; acc3) -> acc2 + acc3", "(acc2; acc2) -> acc2 + acc2", "a fold uses a name twice"},
      {"-> acc2 + acc3", "-> acc2 + acc1", "a fold computes with acc1"},
      {"    s[] = acc1", "    s[] = acc0[1]", "acc0 has 16 lanes, but 1 are computed"},
      {"for i0 in lo_i..hi_i step 16", "for i0 in lo_i..hi_i step 16 down", "it cannot have a step of 16"},
      {"for i0 in lo_i..hi_i step 16", "for i0 in lo_i..hi_i step 0", "its step is 0"},
      {"for i0 in lo_i..hi_i step 16", "for i0 in lo_i step 16", "it has no upper bound"},
      {"for i0 in lo_i..hi_i", "for i0 in lo_i..floor((hi_i) / 0)", "a bound is divided by 0"},
      {"cut i by 16", "cut i by 0", "invalid multiple 0 for splits of the box"},
      {"holds [16] at (i0)", "holds [16, 2] at (i0)", "2 extents for 1 axes"},
      {"holds [16] at (i0)", "holds [16] at (i0, 0)", "an origin with 2 coordinates for 1 axes"},
      {"  cut", "  section 0 at (i) from (v) of ()\n  cut", "section 0 begins at v, which is not in scope"},
      {"    s[] = acc1", "    section 3\n      s[] = acc1", "section 3 of 1"},
      {"      acc0[u] = 0.0", "      acc0[u], acc0[u] = 0.0, 1.0", "acc0 is assigned twice at once"},
  };
  for (const Mutant& mutant : mutants) {
    std::string text = valid_kernel;
    std::size_t at = text.find(mutant.from);
    ASSERT_NE(at, std::string::npos) << mutant.from;
    text.replace(at, std::string(mutant.from).size(), mutant.to);
    auto problems = verify(unverified(text));
    bool reported = false;
    for (const std::string& problem : problems)
      reported = reported || problem.find(mutant.expected_error) != std::string::npos;
    EXPECT_TRUE(reported) << mutant.to << ": not " << mutant.expected_error << ", but "
                          << (problems.empty() ? "nothing" : problems[0]);
  }
}

// n[…] at a coordinate that is n[…] itself.
void depend_on_itself(Kernel& kernel) {
  for (std::uint32_t c = 0; c < kernel.exprs.size(); ++c) {
    const ir::CellNode& node = kernel.exprs[ir::CellId(c)];
    if (node.op == ir::CellOp::read && node.type == ElementType::i64)
      kernel.loads[node.attribute].at[0].data = ir::CellId(c);
  }
}

// What no text can say.
TEST(VerifyLoops, InvalidTablesAreRejected) {
  struct Change {
    std::function<void(Kernel&)> change;
    const char* expected_error;
  };
  const Change changes[] = {
      {[](Kernel& k) { k.variables.clear(); }, "0 variables for a box of 1 dims"},
      {[](Kernel& k) { k.tile_dim = 1; }, "invalid split of dim 1 of 1"},
      {[](Kernel& k) { k.worth = 0; }, "the least number of parts of a call is 0"},
      {[](Kernel& k) { k.sections.clear(); }, "section 0 is missing"},
      {[](Kernel& k) { k.sections[0].at.push_back(0); }, "1 dim starts for 2 dims"},
      {[](Kernel& k) { k.sections[0].at[0] = 99; }, "variable 99 of"},
      {[](Kernel& k) { k.tensors[0].local = k.tensors[4].local; }, "local memory occurs among the arguments"},
      {[](Kernel& k) { k.tensors[4].local.reset(); }, "local memory occurs among the arguments"},
      {[](Kernel& k) { k.tensors[4].local->reuses = 4; },
       "it reuses tensor 4, which has no memory of its own before it"},
      {[](Kernel& k) { k.tensors[4].local->reuses = 3; },
       "it reuses tensor 3, which has no memory of its own before it"},
      {[](Kernel& k) { k.results = 9; }, "5 tensors for 2 operands and 9 results"},
      {[](Kernel& k) { k.accumulators[0].count = 0; }, "acc0 is an empty array"},
      {[](Kernel& k) { k.slots[0].accumulator = 9; }, "acc9 of 4"},
      {[](Kernel& k) { k.slots[0].at.coefficients.resize(99); }, "99 coefficients"},
      {[](Kernel& k) { k.loads[0].tensor = 9; }, "tensor 9 of 5"},
      {[](Kernel& k) { k.loads[0].fill = ir::CellId(9999); }, "has no cell"},
      {[](Kernel& k) { depend_on_itself(k); }, "depends on itself"},
      {[](Kernel& k) { k.exprs.index(77); }, "index 77 is out of range"},
      {[](Kernel& k) { k.exprs.read(77, ElementType::f32); }, "read 77 is out of range"},
      {[](Kernel& k) { k.exprs.argument(77, ElementType::f32); }, "argument 77 of"},
      {[](Kernel& k) { std::get<For>(k.body[0].node).variable = 99; }, "variable 99 of"},
      {[](Kernel& k) { std::get<For>(k.body[0].node).lower.clear(); }, "it has no lower bound"},
      {[](Kernel& k) { std::get<For>(k.body[0].node).count = 3; }, "a serial loop must not have the count 3"},
  };
  const Kernel kernel = unverified(valid_kernel);
  for (const Change& one : changes) {
    Kernel changed = kernel;
    one.change(changed);
    auto problems = verify(changed);
    bool reported = false;
    for (const std::string& problem : problems)
      reported = reported || problem.find(one.expected_error) != std::string::npos;
    EXPECT_TRUE(reported) << "not " << one.expected_error << ", but " << (problems.empty() ? "nothing" : problems[0]);
  }
}

TEST(LoopsText, NamesAndConstantsAreExact) {
  const std::string text = R"(kernel (x: f64[3], h: f16[3]) -> (y: f64[3], b: bool[3]) over (i)
  for i in lo_i..hi_i
    let %0 = -x[i] * -(2.0_f64) - -0.0_f64
    let %1 = if isnan(x[i]) then nan_f64 else -inf_f64
    y[i], b[i] = %0 + %0 / (%1 - %1) + f64(-inf), (h[i] == 0.1_f16) == (not h[i] < 65504.0_f16 and true)
)";
  // 0.1 is no f16, the nearest one is.
  auto inexact = parse_kernel(text);
  ASSERT_TRUE(std::holds_alternative<ir::TextError>(inexact));
  EXPECT_EQ(std::get<ir::TextError>(inexact).line, 5u);
  std::string exact = text;
  exact.replace(exact.find("0.1_f16"), 7, "0.125_f16");
  EXPECT_EQ(verify(unverified(exact)), std::vector<std::string>{});
  EXPECT_EQ(print(unverified(exact)), exact);
}

TEST(LoopsText, NamesOfAllKindsArePrinted) {
  Kernel kernel = unverified(valid_kernel);
  for (std::string& name : kernel.variables) name = "for";
  for (TensorArgument& tensor : kernel.tensors) tensor.name = "acc0 \"\n";
  EXPECT_EQ(canonical(kernel), canonical(unverified(valid_kernel)));
  Kernel named = normal(kernel);
  EXPECT_TRUE(unverified(print(kernel)) == named) << print(kernel);
  EXPECT_NE(canonical(kernel), print(kernel));
}

TEST(LoopsText, EveryPartIsInTheKey) {
  const char* changes[][2] = {{"i by 16", "i by 8"},
                              {"worth 1", "worth 2"},
                              {"f32[40], n", "f32[41], n"},
                              {"else 0.5]", "else 0.25]"},
                              {"of 16\n        p", "of 16\n        p"},
                              {"]!", "]"},
                              {"acc3: f32", "acc3: f32[2]"},
                              {"holds [16]", "holds [17]"},
                              {"< 3)", "<= 3)"},
                              {"fetch y[i + 16]", "fetch y[i]"},
                              {"lanes i in i0..hi_i", "lanes i in i0"}};
  for (const auto& [from, to] : changes) {
    std::string text = valid_kernel;
    text.replace(text.find(from), std::string(from).size(), to);
    bool same = std::string(from) == to;
    EXPECT_EQ(canonical(unverified(text)) == canonical(unverified(valid_kernel)), same) << to;
  }
}

TEST(LoopsText, ParseErrors) {
  const Mutant mutants[] = {{"let v = (abs(n[i]))", "let v = (abs(n[i])", "`)` is missing"},
                            {"fold acc0[0] by", "fold acc0[0]", "`by` is missing"},
                            {"p[i] = x[i]", "p[i] = q[i]", "`q` is not a tensor"},
                            {"p[i] = x[i]", "p[i] = frob(x[i])", "`frob` is not a function"},
                            {"p[i] = x[i]", "p[i] = max(x[i])", "`max` takes 2 arguments, got 1"},
                            {"p[i] = x[i]", "p[i] = %7", "`%7` has no cell yet"},
                            {"p[i] = x[i]", "p[i] = 1.5_f33", "`f33` is not an element type"},
                            {"p[i] = x[i]", "p[i] = x[i] +", "is not a variable"},
                            {"p[i] = x[i]", "p[i], p[i] = x[i]", "1 cells for 2 places"},
                            {"fetch y[i + 16]", "fetch q[i + 16]", "`q` is not a tensor"},
                            {"fetch y[i + 16]", "fetch y[i + 16] = 0", "expected the end of the line, found"},
                            {"acc2: f32", "acc7: f32", "expected `acc2`"},
                            {"        y[i] = x[39", "       y[i] = x[39", "inconsistent indentation"},
                            {"kernel (x", "kernel (n", "two tensors are called `n`"}};
  for (const Mutant& mutant : mutants) {
    std::string text = valid_kernel;
    text.replace(text.find(mutant.from), std::string(mutant.from).size(), mutant.to);
    auto parsed = parse_kernel(text);
    ASSERT_TRUE(std::holds_alternative<ir::TextError>(parsed)) << mutant.to;
    const std::string& message = std::get<ir::TextError>(parsed).message;
    EXPECT_NE(message.find(mutant.expected_error), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace tap::backend
