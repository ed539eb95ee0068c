// What stands in a program once is looked at once, however often it is used: chains of 40 links, each of which uses the one
// before it twice or three times, would otherwise be trees of 2^40 or 3^40 parts. Each case runs; a test that does not end
// has failed. Operators whose number does grow like that are refused.
#include <gtest/gtest.h>

#include <functional>

#include "tests/frontend/compile_source.h"

namespace tap::test {
namespace {

constexpr int links = 40;

using Link = std::function<std::string(const std::string& previous)>;

// let a0 = FIRST, a1 = LINK(a0), …, a40 = LINK(a39) in a40
std::string chain(const std::string& first, const Link& link) {
  std::string text = "let a0 = " + first;
  for (int k = 1; k <= links; ++k) text += ", a" + std::to_string(k) + " = " + link("a" + std::to_string(k - 1));
  return text + " in a" + std::to_string(links);
}

// y of n = 4 cells, where each is an expression of x: i32[4] = [5, 0, -3, 2] and of i.
std::vector<double> run_cell(const std::string& expression) {
  return run_text("program p(x: i32[4]) -> (y: i32[4]) { y[i] = " + expression + " }", {{5, 0, -3, 2}}).front();
}

// The same recurrence on numbers, modulo 2^32 as i32 wraps.
std::vector<double> by_hand(const std::function<std::int64_t(std::int64_t)>& link,
                            std::vector<std::int64_t> values = {5, 0, -3, 2}) {
  std::vector<double> result;
  for (std::int64_t value : values) {
    for (int k = 0; k < links; ++k) value = static_cast<std::int32_t>(link(value));
    result.push_back(static_cast<double>(value));
  }
  return result;
}

TEST(Sharing, ConditionsAndBranches) {
  EXPECT_EQ(run_cell(chain("x[i]", [](auto& a) { return "if " + a + " > 3 then " + a + " - 3 else " + a + " + 2"; })),
            by_hand([](std::int64_t a) { return a > 3 ? a - 3 : a + 2; }));
  EXPECT_EQ(run_cell(chain("i32(i)", [](auto& a) { return "if " + a + " > 3 then " + a + " - 3 else " + a + " + 2"; })),
            by_hand([](std::int64_t a) { return a > 3 ? a - 3 : a + 2; }, {0, 1, 2, 3}));
}

TEST(Sharing, BranchesThatAreNotTaken) {
  EXPECT_EQ(
      run_cell(chain(
          "x[i]", [](auto& a) { return "(if x[i] > 1 then " + a + " else 1) + (if x[i] > 2 then " + a + " else 0)"; })),
      (std::vector<double>{static_cast<std::int32_t>(5 * (std::int64_t{1} << links)), 1, 1, 2}));
}

// `link` with a for each A.
std::string with_operand(std::string link, const std::string& a) {
  for (std::size_t at; (at = link.find('A')) != std::string::npos;) link.replace(at, 1, a);
  return link;
}

TEST(Sharing, AndAndOr) {
  for (const char* link : {"A and A", "A or A", "A and not A", "(A and x[i] > 1) or (A and x[i] < -1)"}) {
    std::string cells = "if (" + chain("x[i] != 0", [&](auto& a) { return with_operand(link, a); }) + ") then 1 else 0";
    bool never = std::string(link) == "A and not A";
    EXPECT_EQ(run_cell(cells), (never ? std::vector<double>{0, 0, 0, 0} : std::vector<double>{1, 0, 1, 1})) << link;
  }
}

TEST(Sharing, GuardsOfReads) {
  for (const char* link :
       {"A and A", "A and (i < 9 and A)", "(A and i > 0) or (A and i < 9)", "if A then i > 0 and A else not (not A)"}) {
    std::string cells =
        "if (" + chain("i > 0", [&](auto& a) { return with_operand(link, a); }) + ") then x[i - 1] else 7";
    EXPECT_EQ(run_cell(cells), (std::vector<double>{7, 5, 0, -3})) << link;
  }
}

TEST(Sharing, AffineIndices) {
  std::string text = chain("i", [](auto& a) { return a + " + " + a + " - i"; });  // i + i - i is i
  text.replace(text.rfind("a40"), 3, "x[a40]");
  EXPECT_EQ(run_cell(text), (std::vector<double>{5, 0, -3, 2}));
}

TEST(Sharing, CoordinatesAndFills) {
  EXPECT_EQ(run_cell(chain("x[i]", [](auto& a) { return "x[i - 1 else " + a + "] + x[i + 1 else " + a + "]"; })),
            (std::vector<double>{5 + 40 * 0, 5 - 3, 0 + 2, 40 * -3 + 2}));
}

TEST(Sharing, OperatorsOnCells) {
  std::string nested = "x[i]";
  for (int k = 0; k < links; ++k) nested = "f(" + nested + ")";
  auto run = [&](const std::string& body) {
    return run_text("op f(x: T[]) -> (y: T[]) where T: number { " + body +
                        " }\nprogram p(x: i32[4]) -> (y: i32[4]) { y[i] = " + nested + " }",
                    {{5, 0, -3, 2}})
        .front();
  };
  EXPECT_EQ(run("y[] = if x[] > 0 then x[] - 1 else -2 * x[]"),
            by_hand([](std::int64_t x) { return x > 0 ? x - 1 : -2 * x; }));
  EXPECT_EQ(run("a[] = x[] + x[]\n b[] = a[] - x[]\n y[] = b[] - a[] + x[]"),
            by_hand([](std::int64_t x) { return x - 2 * x + x; }));
}

TEST(Sharing, TheStandardLeakyRelu) {
  std::string nested = "x[i]";
  for (int k = 0; k < links; ++k) nested = "leaky_relu<0.5>(" + nested + ")";
  EXPECT_EQ(run_text("use std\nprogram p(x: f64[2]) -> (y: f64[2]) { y[i] = " + nested + " }", {{3, -1}}).front(),
            (std::vector<double>{3, -1.0 / (std::int64_t{1} << links)}));
}

TEST(Sharing, LiteralsTakeTheirTypeOnce) {
  EXPECT_EQ(run_cell(chain("1", [](auto& a) { return "if " + a + " > 3 then " + a + " - 3 else " + a + " + 2"; })),
            by_hand([](std::int64_t a) { return a > 3 ? a - 3 : a + 2; }, {1, 1, 1, 1}));
  std::string nested = "1";
  for (int k = 0; k < links; ++k) nested = "(if 1 < " + nested + " then 1 else 2)";
  EXPECT_EQ(run_cell(nested), (std::vector<double>{1, 1, 1, 1}));
}

// Reductions that can fail are guarded by the conditions that lead to them.
TEST(Sharing, ReductionsThatCanFail) {
  EXPECT_EQ(run_cell("if x[i] == 0 then 100 else (" +
                     chain("sum[k] x[k] / x[i]",
                           [](auto& a) { return "if " + a + " > 3 then " + a + " - 3 else " + a + " + 2"; }) +
                     ")"),
            [] {
              auto result = by_hand([](std::int64_t a) { return a > 3 ? a - 3 : a + 2; }, {0, 0, -2, 1});
              result[1] = 100;
              return result;
            }());
}

TEST(Sharing, Monoids) {
  auto run = [](const std::string& combine) {
    return run_text("monoid m(v: f64) { identity 0\n combine (a, b) = " + combine +
                        " }\nprogram p(x: f64[3]) -> (y: f64[]) { y[] = m[k] (x[k]) }",
                    {{1, 2, 4}})
        .front();
  };
  std::vector<double> seven{7};
  EXPECT_EQ(run(chain("a.v + b.v", [](auto& a) { return a + " + " + a + " - " + a; })), seven);
  EXPECT_EQ(run(chain("a.v + b.v", [](auto& a) { return "if " + a + " > 0 then " + a + " else " + a; })), seven);
  EXPECT_EQ(run(chain("a.v + b.v", [](auto& a) { return "min(max(" + a + ", " + a + "), " + a + ")"; })), seven);
  EXPECT_EQ(run_text("monoid m(v: i32) { identity 0\n combine (a, b) = " +
                         chain("bitor(a.v, b.v)", [](auto& a) { return "bitor(" + a + ", bitand(" + a + ", a.v))"; }) +
                         " }\nprogram p(x: i32[3]) -> (y: i32[]) { y[] = m[k] (x[k]) }",
                     {{1, 2, 4}})
                .front(),
            seven);
}

// Its degree doubles at every link: neither fractions nor polynomials are worked out, and the law is broken all the same.
TEST(Sharing, LawsOfGrowingDegree) {
  Outcome outcome = compile_text("monoid m(v: f64) { identity 0\n combine (a, b) = " +
                                 chain("a.v + b.v", [](auto& a) { return "(" + a + " + 1) * (" + a + " - 1)"; }) +
                                 " }\nprogram p(x: f64[3]) -> (y: f64[]) { y[] = m[k] (x[k]) }");
  EXPECT_EQ(outcome.codes, (std::vector<std::string>{"T0701"})) << outcome.messages;
}

TEST(Sharing, Folds) {
  std::string lets;
  for (int k = 1; k <= links; ++k) {
    std::string a = "s" + std::to_string(k - 1);
    lets += ", s" + std::to_string(k) + " = if " + a + " > 0 then " + a + " else " + a;
  }
  EXPECT_EQ(run_text("monoid m(v: f64) { identity 0\n combine (a, b) = a.v + b.v\n fold[j] (t) = let s0 = sum[j] t[j]" +
                         lets + " in s40 }\nprogram p(x: f64[3]) -> (y: f64[]) { y[] = m[k] (x[k]) }",
                     {{1, 2, 4}})
                .front(),
            (std::vector<double>{7}));
}

// A reduction of a reduction that can fail is no more shared among conditions than that one.
TEST(Sharing, NestedGuardedReductions) {
  EXPECT_EQ(
      run_cell(
          "let s = sum[j] (sum[k] x[k] / x[i]) * x[j] in if x[i] > 2 then s + 1 else if x[i] > 0 then s + 2 else 0"),
      (std::vector<double>{1, 0, 0, 6}));
}

// An argument that the operator does not evaluate is not evaluated for its type: it neither divides by zero nor leaves x.
TEST(Sharing, ArgumentsAreEvaluatedWhereTheyAreUsed) {
  EXPECT_EQ(run_text("op pick(c: bool[], x: i32[]) -> (y: i32[]) { y[] = if c[] then x[] + x[] else 0 }\n"
                     "program p(x: i32[4]) -> (y: i32[4]) { y[i] = pick(i > 0, sum[k in 0..2] x[i - 1 + k]) }",
                     {{5, 0, -3, 2}})
                .front(),
            (std::vector<double>{0, 10, -6, -2}));
  EXPECT_EQ(run_text("op pick(c: bool[], x: i32[]) -> (y: i32[]) { y[] = if c[] then x[] + x[] else 0 }\n"
                     "program p(x: i32[4]) -> (y: i32[4]) { y[i] = pick(x[i] != 0, sum[k] x[k] / x[i]) }",
                     {{5, 0, -3, 2}})
                .front(),
            (std::vector<double>{0, 0, -4, 2}));
}

TEST(Sharing, ExponentialGrowthIsRefused) {
  auto operators = [](const std::string& parameter, const std::string& first, const std::string& next, bool cells) {
    std::string text;
    for (int k = 0; k < links; ++k) {
      std::string name = "g" + std::to_string(k), inner = "g" + std::to_string(k - 1);
      std::string at = cells ? "[]" : "[n]", body = cells ? "y[] = x[]" : "y[i] = x[i]";
      if (k > 0 && cells) body = "y[] = " + inner + first + " + " + inner + next;
      if (k > 0 && !cells) body = "a = " + inner + first + "\n b = " + inner + next + "\n y[i] = a[i] + b[i]";
      text += "op " + name + parameter + "(x: i32" + at + ") -> (y: i32" + at + ") { " + body + " }\n";
    }
    return text;
  };
  std::string program = "program p(x: i32[4]) -> (y: i32[4]) { y";
  Outcome whole = compile_text(operators("<q: int>", "<2*q>(x)", "<2*q + 1>(x)", false) + program + " = g39<0>(x) }");
  ASSERT_FALSE(whole.codes.empty());
  EXPECT_EQ(whole.codes.front(), "T0105") << whole.messages;
  Outcome cells = compile_text(operators("", "(2 * x[])", "(3 * x[])", true) + program + "[i] = g39(x[i]) }");
  ASSERT_FALSE(cells.codes.empty());
  EXPECT_EQ(cells.codes.front(), "T0105") << cells.messages;
  Outcome guards = compile_text(
      program + "[i] = " +
      chain("sum[k] x[k] / x[i]", [](auto& a) { return "if x[i] > 1 then " + a + " else " + a + " - 1"; }) + " }");
  ASSERT_FALSE(guards.codes.empty());
  EXPECT_EQ(guards.codes.front(), "T0105") << guards.messages;
}

}  // namespace
}  // namespace tap::test
