// After how long without progress a process of a job is ended.
#include "runtime/supervise.h"

#include <gtest/gtest.h>

namespace tap::executor {
namespace {

TEST(Patience, IsAMinuteByDefault) {
  EXPECT_EQ(patience_of(default_patience, 0), 60);
  EXPECT_EQ(patience_of(default_patience, 5.9), 60);
}

TEST(Patience, GrowsWithTheLongestStep) {
  EXPECT_DOUBLE_EQ(patience_of(default_patience, 6.5), 65);
  EXPECT_DOUBLE_EQ(patience_of(default_patience, 3600), 36000);
}

TEST(Patience, IsWhatTheUserSays) {
  EXPECT_EQ(patience_of(2, 3600), 2);
  EXPECT_EQ(patience_of(0.5, 0), 0.5);
  EXPECT_EQ(patience_of(0, 3600), 0);  // for ever
}

}  // namespace
}  // namespace tap::executor
