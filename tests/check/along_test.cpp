// Numbers along the levels of a row of tasks, against all of them written out.
#include "replay/along.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace tap::check {
namespace {

std::vector<std::int64_t> all_of(const ir::Row& levels, const Along& number) {
  std::vector<std::int64_t> all{number.first};
  for (std::size_t l = 0; l < levels.size(); ++l) {
    std::vector<std::int64_t> more;
    for (std::int64_t n : all)
      for (std::int64_t k = 0; k < levels[l].count; ++k) more.push_back(n + k * number.steps[l]);
    all = more;
  }
  return all;
}

TEST(Along, OverlappingNumbersMayCoincide) {
  const ir::Row levels{{3, {}}, {2, {}}};
  EXPECT_TRUE(differs(levels, {0, {1, 3}}));
  EXPECT_TRUE(differs(levels, {0, {2, 1}}));
  EXPECT_FALSE(differs(levels, {0, {1, 2}}));  // 2 twice
  EXPECT_FALSE(differs(levels, {0, {0, 5}}));
}

RC_GTEST_PROP(Along, ProvedDifferencesHold, ()) {
  ir::Row levels;
  Along number{*rc::gen::inRange<std::int64_t>(-5, 6), {}};
  for (auto count = *rc::gen::inRange(0, 4); count > 0; --count) {
    levels.push_back({*rc::gen::inRange<std::int64_t>(1, 5), {}});
    number.steps.push_back(*rc::gen::inRange<std::int64_t>(-9, 10));
  }
  const std::vector<std::int64_t> all = all_of(levels, number);
  if (differs(levels, number)) RC_ASSERT(std::set(all.begin(), all.end()).size() == all.size());
  const auto [least, greatest] = std::minmax_element(all.begin(), all.end());
  RC_ASSERT(reach(levels, number, 3) == (ir::Range{*least, *greatest + 3}));
}

}  // namespace
}  // namespace tap::check
