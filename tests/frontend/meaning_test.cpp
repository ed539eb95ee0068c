// What programs mean: each case runs on the oracle, its result worked out by hand. Traps are those of the project's list.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/frontend/compile_source.h"

namespace tap::test {
namespace {

using Values = std::vector<double>;
using Outputs = std::vector<Values>;

TEST(Meaning, LinearAddsItsBiasOnce) {  // trap 15
  EXPECT_EQ(
      run_text("use std\nprogram p(X: f32[1, 2], W: f32[2, 1], b: f32[1]) -> (Y: f32[1, 1]) { Y = linear(X, W, b) }",
               {{1, 2}, {3, 4}, {10}}),
      (Outputs{{21}}));
}

TEST(Meaning, NonLinearConsumersWaitForTheSum) {  // trap 16
  EXPECT_EQ(run_text("program p(x: f32[2]) -> (y: f32[]) { y[] = abs(sum[i] x[i]) }", {{3, -5}}), (Outputs{{2}}));
}

TEST(Meaning, IterateKeepsTheFillOutside) {  // trap 37
  const char* text = R"(program p(x0: f32[3]) -> (z: f32[3]) {
    z = iterate 2 (x = x0) { y[i] = x[i-1 else 0] + x[i] + x[i+1 else 0]; y }
  })";
  EXPECT_EQ(run_text(text, {{1, 1, 1}}), (Outputs{{5, 7, 5}}));
}

TEST(Meaning, IterateSeesItsCounterAndOuterValues) {
  const char* text = R"(program p(x: f32[3], w: f32[2, 3]) -> (z: f32[3], n: i64[]) {
    one[] = i64(1)
    zero[] = i64(0)
    (z, n) = iterate t in 0..2 (v = x, k = zero) {
      u[i] = v[i] * w[t, i]
      m[] = k[] + one[] + t
      (u, m)
    }
  })";
  EXPECT_EQ(run_text(text, {{1, 2, 3}, {1, 2, 3, 4, 5, 6}}), (Outputs{{4, 20, 54}, {3}}));
}

TEST(Meaning, NestedIteratesSeeBothCounters) {
  const char* text = R"(program p(x: f32[1], w: f32[2, 3]) -> (z: f32[1]) {
    z = iterate a in 0..2 (v = x) {
      r = iterate b in 0..3 (u = v) { n[i] = u[i] + w[a, b]; n }
      r
    }
  })";
  EXPECT_EQ(run_text(text, {{0}, {1, 2, 3, 4, 5, 6}}), (Outputs{{21}}));
}

TEST(Meaning, SeveralEquationsWriteOneResult) {
  EXPECT_EQ(run_text("program p(a: f32[2], b: f32[3]) -> (y: f32[5]) { y[i] = a[i] for i in 0..2\n y[2 + j] = b[j] }",
                     {{1, 2}, {3, 4, 5}}),
            (Outputs{{1, 2, 3, 4, 5}}));
}

TEST(Meaning, LeftSidesMayBeAffine) {
  EXPECT_EQ(run_text("program p(x: f32[3]) -> (y: f32[6]) { y[2*i + r] = x[i] for r in 0..2 }", {{1, 2, 3}}),
            (Outputs{{1, 1, 2, 2, 3, 3}}));
  EXPECT_EQ(run_text("program p(x: f32[2, 3]) -> (f: f32[6]) { f[(i..)] = x[i..] }", {{1, 2, 3, 4, 5, 6}}),
            (Outputs{{1, 2, 3, 4, 5, 6}}));
  EXPECT_EQ(run_text("program p(x: f32[3]) -> (y: f32[3]) { y[i] = x[3 - 1 - i] }", {{1, 2, 3}}), (Outputs{{3, 2, 1}}));
}

TEST(Meaning, DimsInExpressionsAreTheirSizes) {
  EXPECT_EQ(run_text("dim n = 4\nprogram p(x: f32[n]) -> (y: f32[n]) { y[i] = x[n - 1 - i] * f32(n) }", {{1, 2, 3, 4}}),
            (Outputs{{16, 12, 8, 4}}));
}

TEST(Meaning, PrefixSumsFollowTheIndex) {
  EXPECT_EQ(run_text("program p(x: i32[4]) -> (y: i32[4]) { y[i] = sum[k in 0..i+1] x[k] }", {{1, 2, 3, 4}}),
            (Outputs{{1, 3, 6, 10}}));
}

TEST(Meaning, GuardsAreLazy) {
  EXPECT_EQ(run_text("program p(x: f32[4]) -> (y: f32[4]) { y[i] = if i > 0 then x[i - 1] else 0 }", {{1, 2, 3, 4}}),
            (Outputs{{0, 1, 2, 3}}));
  EXPECT_EQ(run_text("program p(x: i32[3], d: i32[3]) -> (y: i32[3]) { y[i] = if d[i] != 0 then x[i] / d[i] else -1 }",
                     {{7, 8, -9}, {2, 0, 2}}),
            (Outputs{{3, -1, -5}}));
}

TEST(Meaning, ReductionsUnderAGuardAreNotEvaluatedWhereItFails) {
  EXPECT_EQ(run_text("program p(x: f32[3, 2]) -> (y: f32[3]) { y[i] = if i > 0 then sum[k] x[i - 1, k] else 0 }",
                     {{1, 2, 3, 4, 5, 6}}),
            (Outputs{{0, 3, 7}}));
  EXPECT_EQ(
      run_text("program p(x: i32[2], d: i32[2]) -> (y: i32[2]) { y[i] = if d[i] > 0 then sum[k] x[k] / d[i] else 0 }",
               {{4, 6}, {2, 0}}),
      (Outputs{{5, 0}}));
}

TEST(Meaning, SoftmaxInOneLineIsLinearWork) {
  Outcome outcome = compile_text(
      "program p(x: f32[2, 3]) -> (y: f32[2, 3]) { y[i, j] = exp(x[i, j] - (max[k] x[i, k])) / (sum[k] exp(x[i, k] - "
      "(max[m] x[i, m]))) }");
  ASSERT_TRUE(outcome.compiled) << outcome.messages;
  for (const auto& op : outcome.compiled->program.operators) EXPECT_LE(op.dims.size(), 2u);
}

TEST(Meaning, EmptyMaximumAndMinimum) {
  double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(run_text("program p(x: f32[2, 0]) -> (a: f32[2], b: f32[2], c: f32[2]) { a[i] = max[k] x[i, k]\n b[i] = "
                     "min[k] x[i, k]\n c[i] = sum[k] x[i, k] }",
                     {{}}),
            (Outputs{{-inf, -inf}, {inf, inf}, {0, 0}}));
}

TEST(Meaning, GathersAreCheckedAndScattersSum) {
  EXPECT_EQ(run_text("program p(t: f32[3, 2], ids: i64[2]) -> (y: f32[2, 2]) { y[n, d] = t[ids[n], d] }",
                     {{1, 2, 3, 4, 5, 6}, {2, 0}}),
            (Outputs{{5, 6, 1, 2}}));
  EXPECT_EQ(
      run_text("program p(t: f32[3], ids: i64[2]) -> (y: f32[2]) { y[n] = t[ids[n] else 9] }", {{1, 2, 3}, {5, -1}}),
      (Outputs{{9, 9}}));
  EXPECT_THROW(run_text("program p(t: f32[3], ids: i64[2]) -> (y: f32[2]) { y[n] = t[ids[n]] }", {{1, 2, 3}, {3, 0}}),
               ir::EvaluationError);
  EXPECT_EQ(
      run_text("program p(g: f32[4], ids: i64[4]) -> (y: f32[3]) { y[v] = sum[t] (if ids[t] == v then g[t] else 0) }",
               {{1, 2, 3, 4}, {0, 2, 2, 0}}),
      (Outputs{{5, 0, 5}}));
}

TEST(Meaning, IndexVariablesAreValues) {
  EXPECT_EQ(run_text("program p(x: f32[2, 2]) -> (y: f32[2, 2]) { y[i, j] = if j <= i then x[i, j] else -inf }",
                     {{1, 2, 3, 4}})[0][1],
            -std::numeric_limits<double>::infinity());
  EXPECT_EQ(run_text("program p(x: i64[3]) -> (y: i64[3]) { y[i] = 10 * i + x[i] }", {{1, 2, 3}}),
            (Outputs{{1, 12, 23}}));
}

TEST(Meaning, IntegersWrapAndFloor) {
  EXPECT_EQ(run_text("program p(x: i8[2]) -> (y: i8[]) { y[] = sum[i] x[i] }", {{100, 100}}), (Outputs{{-56}}));
  EXPECT_EQ(run_text("program p(x: i8[2]) -> (y: i32[]) { y[] = sum[i] i32(x[i]) }", {{100, 100}}), (Outputs{{200}}));
  EXPECT_EQ(run_text("program p(x: i32[2]) -> (q: i32[2], r: i32[2]) { q[i] = x[i] / 2\n r[i] = x[i] % 3 }", {{-7, 7}}),
            (Outputs{{-4, 3}, {2, 1}}));
  EXPECT_EQ(run_text("program p(x: f32[4]) -> (y: i8[4]) { y[i] = i8(x[i]) }", {{-2.9, 300, -300, std::nan("")}}),
            (Outputs{{-2, 127, -128, 0}}));
}

TEST(Meaning, SixteenBitFloatsRoundOnceAtTheCell) {
  // 2048 + 1 + 1 is 2050 in f16; rounding after each step would stay at 2048.
  EXPECT_EQ(run_text("program p(x: f16[3]) -> (y: f16[], z: f16[]) { y[] = sum[i] x[i]\n z[] = x[0] + x[1] + x[2] }",
                     {{2048, 1, 1}}),
            (Outputs{{2050}, {2050}}));
}

TEST(Meaning, TupleReductionsMayLackInvariantIndices) {
  const char* text = R"(use std
    program p(t: f32[2, 3], v: f32[3, E]) -> (mx: f32[2], s: f32[2], o: f32[2, E]) {
      (mx[i], s[i], o[i, c]) = online[j] (t[i, j], 1, v[j, c])
    }
    dim E = 2)";
  Outputs full = run_text(text, {{0, 0, 0, 0, 0, 0}, {1, 2, 3, 4, 5, 6}});
  EXPECT_EQ(full, (Outputs{{0, 0}, {3, 3}, {9, 12, 9, 12}}));
  CompileOptions none;
  none.dims["E"] = {0};  // without any column, the maximum and the sum still have their cells
  EXPECT_EQ(run_text(text, {{0, 0, 0, 0, 0, 0}, {}}, none), (Outputs{{0, 0}, {3, 3}, {}}));
}

TEST(Meaning, ComponentsThatDependOnAMissingIndexAreRefused) {  // C08
  Outcome outcome = compile_text(
      "use std\nprogram p(t: f32[2, 3], v: f32[3, 2]) -> (mx: f32[2], s: f32[2], o: f32[2]) { (mx[i], s[i], o[i]) = "
      "online[j] (t[i, j], 1, v[j, c]) }\n");
  EXPECT_FALSE(outcome.compiled);
}

TEST(Meaning, UserMonoidsOfOneComponent) {
  const char* text = R"(monoid product(v: i32) { identity 1
      combine (a, b) = a.v * b.v }
    program p(x: i32[2, 3]) -> (y: i32[2], z: i32[]) {
      y[i] = product[k] (x[i, k])
      z[] = 1 + product[k in 0..3] (x[0, k])
    })";
  EXPECT_EQ(run_text(text, {{1, 2, 3, 4, 5, 6}}), (Outputs{{6, 120}, {7}}));
}

TEST(Meaning, OperatorsOnCellsAreInlined) {
  EXPECT_EQ(run_text("op twice(x: T[d..]) -> (y: T[d..]) where T: number { y[i..] = 2 * x[i..] }\n"
                     "op square_sum(a: T[d..], b: T[d..]) -> (y: T[d..]) where T: number { s[i..] = a[i..] + b[i..]\n "
                     "y[i..] = s[i..] * s[i..] }\n"
                     "program p(x: f32[2]) -> (y: f32[2]) { y[i] = twice(x[i]) + square_sum(x[i], 1) }",
                     {{1, 2}}),
            (Outputs{{6, 13}}));
}

TEST(Meaning, LiteralsTakeTheirContextsType) {
  EXPECT_EQ(run_text("program p(x: f16[1], k: i8[1]) -> (y: f16[1], z: i8[1]) { y[i] = (1 + 2) * x[i] + 0.5\n z[i] = "
                     "if k[i] > 3 then -128 else 1 }",
                     {{2}, {4}}),
            (Outputs{{6.5}, {-128}}));
}

TEST(Meaning, BroadcastPacksAlignRight) {
  EXPECT_EQ(run_text("use std\nprogram p(a: i32[2, 1, 3], b: i32[2, 3]) -> (y: i32[2, 2, 3]) { y = add(a, b) }",
                     {{0, 1, 2, 10, 11, 12}, {100, 100, 100, 200, 200, 200}}),
            (Outputs{{100, 101, 102, 200, 201, 202, 110, 111, 112, 210, 211, 212}}));
}

TEST(Meaning, LocalsAreAsLargeAsTheirWrites) {
  EXPECT_EQ(
      run_text("program p(x: f32[3]) -> (y: f32[7]) { h[2*i + 1] = x[i]\n h[2*i] = 0 for i in 0..4\n y[i] = h[i] }",
               {{1, 2, 3}}),
      (Outputs{{0, 1, 0, 2, 0, 3, 0}}));
}

TEST(Meaning, LocalsKeepTheirPacks) {
  const char* text = R"(op f<a: int>(x: T[p.., n, q..]) -> (y: T[p.., q..]) where T: float, rank(q) == -1 - a {
      most[i.., j..] = max[k] x[i.., k, j..]
      twice[i.., j..] = 2 * most[i.., j..]
      y[i.., j..] = twice[i.., j..]
    }
    program p(x: f32[2, 2, 2]) -> (y: f32[2, 2]) { y = f<-2>(x) })";
  EXPECT_EQ(run_text(text, {{1, 2, 3, 4, 5, 6, 7, 8}}), (Outputs{{6, 8, 14, 16}}));
}

TEST(Meaning, ParametersSizesAndConditions) {
  const char* text =
      R"(op pool<k: int, stride: int = 1>(x: T[n]) -> (y: T[(n - k) / stride + 1]) where T: float, k > 0 {
      y[i] = max[u in 0..k] x[stride * i + u]
    }
    program p(x: f32[6]) -> (y: f32[2]) { y = pool<3, stride = 3>(x) })";
  EXPECT_EQ(run_text(text, {{1, 5, 2, 7, 3, 4}}), (Outputs{{5, 7}}));
}

TEST(Meaning, LocalDefinitionsShadowImportedOnes) {
  EXPECT_EQ(run_text("use std\nop relu(x: T[d..]) -> (y: T[d..]) where T: number { y[i..] = 7 * x[i..] }\nprogram p(x: "
                     "f32[1]) -> (a: f32[1], b: f32[1]) { a = relu(x)\n b = std.relu(x) }",
                     {{-1}}),
            (Outputs{{-7}, {0}}));
}

TEST(Meaning, FunctionsOfWholeTensors) {
  EXPECT_EQ(run_text("program p(x: f32[2], z: f32[2]) -> (y: f32[2], k: i32[2]) { y = max(x, z)\n k = i32(abs(x)) }",
                     {{1, -5}, {3, -7}}),
            (Outputs{{3, -5}, {1, 5}}));
}

TEST(Meaning, GenericMonoidsTakeTheirTypesFromTheirOperands) {
  const char* plus = "monoid plus(v: T) where T: number { identity 0\n combine (a, b) = a.v + b.v }\n";
  // 2^24 + 1 is a number of f64 and i32 and not of f32.
  EXPECT_EQ(run_text(plus + std::string("program p(x: f64[2], z: i32[2]) -> (y: f64[], w: i32[]) {"
                                        " y[] = plus[k] (x[k])\n w[] = 1 + plus[k] (z[k]) }"),
                     {{16777216, 1}, {16777216, 1}}),
            (Outputs{{16777217}, {16777218}}));
  // f16 combines in f32 and is rounded once: 2048 + 1 + 1.
  Outcome half = compile_text(plus + std::string("program p(x: f16[3]) -> (y: f16[]) { y[] = plus[k] (x[k]) }"));
  ASSERT_TRUE(half.compiled) << half.messages;
  EXPECT_EQ(half.compiled->program[half.compiled->program.main].operations.size(), 1u);
  EXPECT_EQ(run_text(plus + std::string("program p(x: f16[3]) -> (y: f16[]) { y[] = plus[k] (x[k]) }"), {{2048, 1, 1}}),
            (Outputs{{2050}}));
  // A literal takes the type of what it is written to, where nothing else says one.
  EXPECT_EQ(
      run_text(plus + std::string("program p(x: u8[3]) -> (y: u8[]) { y[] = plus[k in 0..3] (100) }"), {{0, 0, 0}}),
      (Outputs{{44}}));
}

TEST(Meaning, ComponentsOfOneReductionMayHaveSeveralTypes) {
  const char* text = R"(use std
    program p(x: i8[2, 3], z: bf16[3]) -> (v: i8[2], at: i64[2], w: bf16[], where: i64[]) {
      (v[i], at[i]) = argmax[k] (x[i, k], k)
      (w[], where[]) = argmin[k] (z[k], k)
    })";
  EXPECT_EQ(run_text(text, {{1, 7, 7, -3, -2, -128}, {4, -256, 2}}), (Outputs{{7, -2}, {1, 1}, {-256}, {1}}));
}

TEST(Meaning, EachTypeOfAGenericMonoidIsCheckedOnce) {
  Outcome outcome = compile_text(R"(use std
    program p(x: f16[4], z: f32[4], u: f64[4]) -> (a: f16[], b: f32[], c: f64[]) {
      (m[], s[]) = logsumexp[k] (x[k], 1)
      (n[], t[]) = logsumexp[k] (z[k], 1)
      (o[], r[]) = logsumexp[k] (u[k], 1)
      a[] = m[] + log(s[])
      b[] = n[] + log(t[])
      c[] = o[] + log(r[])
    })");
  ASSERT_TRUE(outcome.compiled) << outcome.messages;
  auto& monoids = outcome.compiled->program.monoids;
  auto is_it = [](const ir::Monoid& m) { return m.name == "logsumexp"; };
  EXPECT_EQ(std::count_if(monoids.begin(), monoids.end(), is_it), 2);  // f16 combines as f32 does
}

TEST(Meaning, SixteenBitReductionsAreOneOperation) {
  auto operations = [](const std::string& body) {
    Outcome outcome = compile_text("program p(x: f16[2, 3], ids: i64[3]) -> (y: f16[2]) {" + body + "}");
    if (!outcome.compiled) throw std::runtime_error(outcome.messages);
    return outcome.compiled->program[outcome.compiled->program.main].operations.size();
  };
  EXPECT_EQ(operations("y[i] = sum[k] x[i, k] * x[i, k]"), 1u);
  EXPECT_EQ(operations("y[i] = max[k] x[i, k]"), 1u);
  EXPECT_EQ(operations("y[i] = sum[k] (if ids[k] == i then x[0, k] else 0)"),
            2u);  // a scatter accumulates in its cells
}

TEST(Meaning, AnyIsTheClassOfAllTypes) {
  const char* text = R"(op choose(c: bool[n], a: T[n], b: T[n]) -> (y: T[n]) where T: any {
      y[i] = if c[i] then a[i] else b[i] }
    program p(c: bool[2], a: bool[2], b: bool[2]) -> (y: bool[2]) { y = choose(c, a, b) })";
  EXPECT_EQ(run_text(text, {{1, 0}, {0, 0}, {1, 1}}), (Outputs{{0, 1}}));
}

TEST(Meaning, ComputeConvertsToTheComputeType) {
  const char* text = R"(op wide(x: T[n]) -> (y: f32[n]) where T: float { y[i] = T.compute(x[i]) / 3 }
    program p(x: f16[1], z: bf16[1]) -> (y: f32[1], w: f32[1]) { y = wide(x)
      w = wide(z) })";
  double third = static_cast<double>(1.0f / 3.0f);
  EXPECT_EQ(run_text(text, {{1}, {1}}), (Outputs{{third}, {third}}));
}

// All names of a text replaced: what is equal stays equal, whatever it is called.
TEST(Meaning, EqualEquationsShareAnOperatorWhateverTheirNames) {
  Outcome outcome = compile_text(R"(
    program p(x: f32[3, 4], z: f32[3, 4]) -> (y: f32[3], w: f32[3]) {
      y[i] = sum[k] x[i, k] * x[i, k]
      w[row] = sum[column] z[row, column] * z[row, column]
      split w on column into 2
    })");
  ASSERT_TRUE(outcome.compiled) << outcome.messages;
  const ir::Program& program = outcome.compiled->program;
  const ir::Graph& main = program[program.main];
  ASSERT_EQ(main.operations.size(), 2u);
  EXPECT_EQ(program.operators.size(), 1u);
  EXPECT_EQ(main.operations[0].names, std::nullopt);
  EXPECT_EQ(main.operations[1].names, (ir::OperationNames{"w", {"row", "column"}}));
  EXPECT_EQ(ir::verify(program), std::vector<std::string>{});
}

TEST(Meaning, ErrorsUseTheNamesOfTheEquation) {
  Outcome outcome = compile_text(R"(
    program p(x: f32[3], z: f32[3]) -> (y: f32[3], w: f32[3]) {
      y[i] = x[i + 1]
      w[row] = z[row + 1]
    })");
  EXPECT_NE(outcome.messages.find("at i=2"), std::string::npos) << outcome.messages;
  EXPECT_NE(outcome.messages.find("at row=2"), std::string::npos) << outcome.messages;
}

TEST(Meaning, ProjectionsUseTheNamesOfTheSource) {
  Outcome outcome = compile_text("program p(left: f32[3]) -> (twice: f32[3]) { twice[i] = 2 * left[i] }");
  ASSERT_TRUE(outcome.compiled);
  EXPECT_EQ(outcome.compiled->program.operators[0].operand_names, std::vector<std::string>{"left"});
  EXPECT_EQ(outcome.compiled->program.operators[0].result_names, std::vector<std::string>{"twice"});
}

TEST(Meaning, RenamingDoesNotChangeOperators) {
  Outcome a = compile_text(
      "op f(x: T[n]) -> (y: T[n]) where T: number { y[i] = x[i] + 1 }\nprogram p(x: f32[3]) -> (y: f32[3]) { y = f(x) "
      "}");
  Outcome b = compile_text(
      "op g(u: T[n]) -> (v: T[n]) where T: number { v[k] = u[k] + 1 }\nprogram q(z: f32[3]) -> (w: f32[3]) { w = g(z) "
      "}");
  ASSERT_TRUE(a.compiled && b.compiled);
  EXPECT_TRUE(ir::equal_structure(a.compiled->program.operators[0], b.compiled->program.operators[0]));
}

}  // namespace
}  // namespace tap::test
