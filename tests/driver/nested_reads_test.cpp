// Reads at positions that depend on other reads, several deep and in any order: every step has a certificate.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/check/certified.h"
#include "tests/driver/certified.h"
#include "tests/passes/lowered.h"

namespace tap::driver {
namespace {

void expect_certified(const std::string& text) {
  auto outcome = tap::test::compile_text(text);
  ASSERT_TRUE(outcome.compiled) << outcome.messages << text;
  for (bool strict_fp : {false, true}) {
    auto certified =
        test::certified(outcome.compiled->program, {}, pipeline::Stage::schedule, /*fuse_more=*/true, strict_fp);
    EXPECT_EQ(check::test::first_refusal(certified.verdict), "") << text;
  }
}

// After simplification the sum stands before the position of the read that it adds to itself.
TEST(NestedReads, TwiceTheSame) {
  expect_certified(
      "program p(x: i64[1]) -> (y: i64[1]) {\n"
      "  y[i] = x[abs(x[-(-x[i] + i64(i)) else 1] + x[-(-x[i] + i64(i)) else 1]) - 1 else 1]\n}");
}

struct Expressions {
  std::mt19937 random;
  std::vector<std::string> made = {"x[i]", "(i64(i) - x[i])"};

  int any(int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); }
  const std::string& one() { return made[static_cast<std::size_t>(any(static_cast<int>(made.size())))]; }
  std::string next() {
    switch (any(6)) {
      case 0: return "(-" + one() + ")";
      case 1: return "(" + one() + " + " + one() + ")";
      case 2: return "abs(" + one() + ")";
      case 3: return "x[" + one() + " - 1 else " + std::to_string(any(3)) + "]";
      case 4: return "z[" + one() + " else " + one() + "]";
      default: return "x[" + one() + " else 1]";
    }
  }
};

TEST(NestedReads, AnyOrder) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    Expressions e{std::mt19937(seed)};
    while (e.made.size() < 9)
      if (std::string made = e.next(); made.size() < 400) e.made.push_back(std::move(made));
    const std::string extent = e.any(2) ? "1" : "5";
    expect_certified(
        fmt::format("program p(x: i64[{0}], z: i64[{0}]) -> (y: i64[{0}], w: i64[{0}]) {{\n"
                    "  y[i] = {1} for i in 0..{0}\n  v[i] = {2} for i in 0..{0}\n"
                    "  w[i] = y[v[i] else 0] + v[i]\n}}",
                    extent, e.made[8], e.made[7]));
  }
}

}  // namespace
}  // namespace tap::driver
