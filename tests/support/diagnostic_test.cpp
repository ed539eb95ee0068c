#include "support/diagnostic.h"

#include <gtest/gtest.h>

#include <set>

namespace tap {
namespace {

TEST(Codes, IdsAreUniqueAndFindTheirCode) {
  std::set<std::string_view> ids;
  for (Code code : all_codes()) EXPECT_TRUE(ids.insert(info(code).id).second) << info(code).id;
  EXPECT_EQ(info(Code::unknown_name).id, "T0203");
  EXPECT_EQ(info(Code::unknown_name).name, "unknown_name");
}

TEST(Diagnostics, KeepsTwentyErrorsAndCountsOthers) {
  Diagnostics diagnostics;
  for (int i = 0; i < 25; ++i) diagnostics.report({Code::unknown_name, Span{}, "no " + std::to_string(i)});
  EXPECT_EQ(diagnostics.all().size(), 20u);
  EXPECT_EQ(diagnostics.error_count(), 25u);
  EXPECT_TRUE(diagnostics.too_many_errors());
}

TEST(Diagnostics, ReportsTheSameOnlyOnce) {
  Diagnostics diagnostics;
  Span here{FileId(0), 1, 2}, there{FileId(0), 3, 4};
  diagnostics.report({Code::unknown_name, here, "no"});
  diagnostics.report({Code::unknown_name, here, "no"});
  diagnostics.report({Code::unknown_name, there, "no"});
  EXPECT_EQ(diagnostics.error_count(), 2u);
}

TEST(Diagnostics, WarningsAndRemarksAreNoErrors) {
  Diagnostics diagnostics;
  diagnostics.report({Code::literal_underflow, Span{}, "small"});
  diagnostics.report({Code::law_assumed, Span{}, "assumed"});
  EXPECT_FALSE(diagnostics.has_errors());
  EXPECT_EQ(diagnostics.all().size(), 2u);
}

TEST(DidYouMean, FindsTheNearName) {
  std::vector<std::string> names{"relu", "softmax", "linear", "layer_norm", "x", "y"};
  EXPECT_EQ(did_you_mean("reul", names), "relu");
  EXPECT_EQ(did_you_mean("Linear", names), "linear");
  EXPECT_EQ(did_you_mean("layer_nrom", names), "layer_norm");
  EXPECT_EQ(did_you_mean("sofmax", names), "softmax");
}

TEST(DidYouMean, SuggestsNothingIfNothingIsNear) {
  std::vector<std::string> names{"relu", "x", "y"};
  EXPECT_EQ(did_you_mean("z", names), std::nullopt);
  EXPECT_EQ(did_you_mean("attention", names), std::nullopt);
  EXPECT_EQ(did_you_mean("", names), std::nullopt);
  EXPECT_EQ(did_you_mean(std::string(1 << 20, 'a'), names), std::nullopt);
  EXPECT_EQ(did_you_mean("relu", {}), std::nullopt);
}

TEST(DidYouMean, DoesNotDependOnTheOrderOfCandidates) {
  EXPECT_EQ(did_you_mean("mat", {"mut", "met"}), "met");
  EXPECT_EQ(did_you_mean("mat", {"met", "mut"}), "met");
}

}  // namespace
}  // namespace tap
