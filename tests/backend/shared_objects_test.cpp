// Which process of a node gives an object to which others.
#include "backend/llvm/shared_objects.h"

#include <gtest/gtest.h>

namespace tap::backend {
namespace {

Digest key(std::uint8_t first) {
  Digest result = {};
  result[0] = first;
  return result;
}

WantedObject there(std::uint8_t first) { return {key(first), 1, true}; }

TEST(SharedObjects, SharesCostTheSame) {
  const std::vector<WantedObject> all = {{key(1), 10}, {key(2), 20}, {key(3), 70}, {key(4), 30}};
  const std::vector<ObjectRoute> expected = {{key(3), 0, {1}}, {key(4), 1, {0}}, {key(2), 1, {0}}, {key(1), 1, {0}}};
  EXPECT_EQ(routes_of({all, all}), expected);
}

TEST(SharedObjects, EachIsCompiledByOneOfThoseThatNeedIt) {
  const auto routes =
      routes_of({{{key(1)}, {key(2)}, {key(3)}}, {{key(1)}, {key(2)}, {key(3)}, {key(4)}}, {{key(3)}, {key(5)}}});
  const std::vector<ObjectRoute> expected = {
      {key(1), 0, {1}}, {key(2), 1, {0}}, {key(3), 2, {0, 1}}, {key(4), 1, {}}, {key(5), 2, {}}};
  EXPECT_EQ(routes, expected);
}

TEST(SharedObjects, WhoeverHasItInACacheGivesIt) {
  const auto routes = routes_of({{{key(1)}, there(2)}, {there(1), there(2)}, {{key(1)}, {key(2)}}});
  const std::vector<ObjectRoute> expected = {{key(1), 1, {0, 2}}, {key(2), 0, {2}}};
  EXPECT_EQ(routes, expected);
}

TEST(SharedObjects, NothingIsMissing) {
  EXPECT_TRUE(routes_of({{there(1)}, {there(1)}, {}}).empty());
  EXPECT_TRUE(routes_of({{}, {}}).empty());
}

}  // namespace
}  // namespace tap::backend
