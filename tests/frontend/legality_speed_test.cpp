// How long a proof takes: printed, and bounded at ten times what is promised (20 ms for up to 10 index dims).
#include <gtest/gtest.h>

#include <chrono>

#include "compiler/frontend/proofs/legality.h"
#include "tests/frontend/legality_cases.h"

namespace tap {
namespace {

using testing::LegalityCase;
using testing::var;
using B = testing::OperatorBuilder;

double milliseconds_of(Legality& legality, const LegalityCase& c, bool& legal) {
  auto begin = std::chrono::steady_clock::now();
  std::vector<Writer> writers;
  legal = true;
  for (const ir::Operator& op : c.ops) {
    legal = legal && !legality.check_reads(op);
    writers.push_back({&op, 0});
  }
  legal = !legality.check_writes(c.shape, writers) && legal;
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

TEST(LegalitySpeed, SingleQuery) {
  for (const LegalityCase& c : testing::legality_cases()) {
    double times[2] = {0, 0};
    for (bool closed_forms : {true, false}) {
      if (!closed_forms && c.ops.size() > 100) continue;
      Legality legality({closed_forms});
      bool legal;
      times[closed_forms] = milliseconds_of(legality, c, legal);
      EXPECT_EQ(legal, c.legal) << c.name;
    }
    printf("%-40s %8.2f ms, by isl alone %8.2f ms\n", c.name.c_str(), times[1], times[0]);
    EXPECT_LT(times[1], 200) << c.name;
  }
}

TEST(LegalitySpeed, TwoThousandDistinctEquations) {
  Legality legality;
  auto begin = std::chrono::steady_clock::now();
  for (std::int64_t n = 1; n <= 2000; ++n) {  // y[i] = if i < n then x[i - j] …, y[i] for i >= n
    B lower, upper;
    for (B* b : {&lower, &upper}) {
      b->parallel(0, 4000);
      b->parallel(0, 8);
      b->write({4000, 8}, {var(0), var(1)});
    }
    lower.at_least_zero(B::at({{0, -1}, {1, -1}}, n));
    upper.at_least_zero(B::at({{0, 1}, {1, 1}}, -n - 1));
    ir::CellId x = upper.read({4000}, {B::at({{0, 1}, {1, 1}}, -n - 1)});
    ir::CellId inside = upper.less(upper.number(B::at({{0, 1}, {1, 1}}, -n - 1)), upper.number(4000));
    upper.value(upper.choose(inside, x, upper.zero()));
    ir::Operator a = lower.build(), b = upper.build();
    EXPECT_FALSE(legality.check_reads(b));
    EXPECT_FALSE(legality.check_writes({4000, 8}, {{&a, 0}, {&b, 0}}));
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  printf("%zu questions to isl in %.2f s\n", legality.statistics().by_isl, seconds);
  EXPECT_LT(seconds, 30);
}

}  // namespace
}  // namespace tap
