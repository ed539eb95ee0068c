// Text to syntax tree: every example of the language, and what the tree of each form holds.
#include <gtest/gtest.h>

#include "frontend_test_support.h"

namespace tap {
namespace {

using testing::Parsed;

TEST(Parse, EveryExampleOfTheLanguage) {
  auto files = testing::corpus();
  ASSERT_GE(files.size(), 7u);
  for (const auto& path : files) {
    Parsed p(testing::read_file(path));
    EXPECT_TRUE(p.module) << path << "\n" << p.messages();
    EXPECT_EQ(p.messages(), "") << path;
  }
}

}  // namespace
}  // namespace tap
