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

TEST(SharedObjects, EachIsCompiledByOneOfThoseThatNeedIt) {
  const auto routes =
      routes_of({{{key(1)}, {key(2)}, {key(3)}}, {{key(1)}, {key(2)}, {key(3)}, {key(4)}}, {{key(3)}, {key(5)}}});
  const std::vector<ObjectRoute> expected = {
      {key(1), 0, {1}}, {key(2), 1, {0}}, {key(3), 2, {0, 1}}, {key(4), 1, {}}, {key(5), 2, {}}};
  EXPECT_EQ(routes, expected);
}

TEST(SharedObjects, WhoeverHasItInACacheGivesIt) {
  const auto routes = routes_of({{{key(1)}, {key(2), true}}, {{key(1), true}, {key(2), true}}, {{key(1)}, {key(2)}}});
  const std::vector<ObjectRoute> expected = {{key(1), 1, {0, 2}}, {key(2), 0, {2}}};
  EXPECT_EQ(routes, expected);
}

TEST(SharedObjects, NothingIsMissing) {
  EXPECT_TRUE(routes_of({{{key(1), true}}, {{key(1), true}}, {}}).empty());
  EXPECT_TRUE(routes_of({{}, {}}).empty());
}

}  // namespace
}  // namespace tap::backend
