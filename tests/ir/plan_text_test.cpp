// A plan's text: print∘parse is the identity, and every part is known by its place.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ir/text/plan_text.h"
#include "tests/ir/parse_plan.h"

namespace tap::ir {
namespace {

std::string any_name() {
  return *rc::gen::container<std::string>(rc::gen::elementOf(std::string("abH_019./@# \"\\\n\t\x1b\xc3\xa9")));
}

PlannedSplit any_split() {
  PlannedSplit split{any_name(), any_name(), {*rc::gen::inRange<std::int64_t>(1, 9)}};
  if (*rc::gen::arbitrary<bool>()) split.blocks = {2, {0, *rc::gen::inRange<std::int64_t>(0, 9), 9}};
  split.placement = *rc::gen::element(Placement::unspecified, Placement::threads, Placement::sequential,
                                      Placement::mesh_axis, Placement::devices);
  if (split.placement == Placement::mesh_axis) {
    split.mesh = any_name();
    split.axis = AxisName{*rc::gen::element<std::string>("data", "model"), {}};
  }
  if (split.placement == Placement::devices) split.devices = {{0, 3}, {*rc::gen::inRange<std::int64_t>(4, 9)}};
  if (*rc::gen::arbitrary<bool>()) split.tree = *rc::gen::inRange<std::int64_t>(2, 9);
  return split;
}

PlannedSplit any_place() {
  PlannedSplit all{any_name()};
  all.all_at = 0;
  if (*rc::gen::arbitrary<bool>()) {
    all.placement = Placement::devices;
    all.devices = {{2, *rc::gen::inRange<std::int64_t>(3, 9)}};
    if (*rc::gen::arbitrary<bool>()) all.devices.push_back({10, 12});
    all.all_at = *rc::gen::inRange<std::int64_t>(0, static_cast<std::int64_t>(all.devices.size()));
  } else {
    all.placement = Placement::mesh_axis;
    all.axis = AxisName{"data", {}};
    all.mesh = any_name();
    all.all_at = *rc::gen::inRange<std::int64_t>(0, 9);
  }
  return all;
}

std::vector<std::string> random_names(int least) {
  std::vector<std::string> names(static_cast<std::size_t>(*rc::gen::inRange(least, 4)));
  for (std::string& name : names) name = any_name();
  return names;
}

RC_GTEST_PROP(PlanText, RoundTrips, ()) {
  Plan plan;
  for (int n = *rc::gen::inRange(0, 5); n > 0; --n) switch (*rc::gen::inRange(0, 5)) {
      case 0: plan.decisions.push_back(PlannedChoice{any_name(), *rc::gen::inRange<std::uint32_t>(0, 5)}); break;
      case 1: plan.decisions.push_back(any_split()); break;
      case 2: plan.decisions.push_back(any_place()); break;
      case 3: plan.decisions.push_back(PlannedFusion{random_names(1), random_names(0)}); break;
      default: plan.decisions.push_back(PlannedUnroll{any_name(), *rc::gen::inRange<std::int64_t>(1, 9)});
    }
  auto back = parse_plan(print(plan));
  if (auto* error = std::get_if<TextError>(&back)) RC_FAIL(error->message + "\n" + print(plan));
  RC_ASSERT(std::get<Plan>(back) == plan);
}

TEST(PlanText, PartsHaveTheirSpans) {
  const std::string text =
      "\xef\xbb\xbfplan 2\n\n  split H.m dim k into [0, 4] over pod.data:(1)2 tree 2 // why\nfuse a, \"b c\" over i\n";
  auto parsed = parse_plan_text(text);
  ASSERT_TRUE(std::holds_alternative<PlanText>(parsed)) << std::get<PlanMistake>(parsed).message;
  auto text_of_part = [&](std::size_t decision, PlanPart part, const std::string& name) {
    const TextPart& found = part_of(std::get<PlanText>(parsed).parts[decision], part, name);
    return text.substr(found.begin, found.end - found.begin);
  };
  EXPECT_EQ(text_of_part(0, PlanPart::whole, ""), "split H.m dim k into [0, 4] over pod.data:(1)2 tree 2");
  EXPECT_EQ(text_of_part(0, PlanPart::operation, "H.m"), "H.m");
  EXPECT_EQ(text_of_part(0, PlanPart::dim, "k"), "k");
  EXPECT_EQ(text_of_part(0, PlanPart::number, ""), "[0, 4]");
  EXPECT_EQ(text_of_part(0, PlanPart::placement, ""), "pod.data:(1)2");
  EXPECT_EQ(text_of_part(0, PlanPart::tree, ""), "tree 2");
  EXPECT_EQ(text_of_part(1, PlanPart::operation, "b c"), "\"b c\"");
  EXPECT_EQ(text_of_part(1, PlanPart::dim, "i"), "i");
  EXPECT_EQ(text_of_part(1, PlanPart::dim, "elsewhere"), "fuse a, \"b c\" over i");
}

TEST(PlanText, NamesThatNeedNoQuotes) {
  for (const char* name : {"H", "H.m", "u/v2", "Y@1", "H#7", "#2", "a.b/c@0"}) EXPECT_TRUE(is_plain_name(name)) << name;
  for (const char* name : {"", "_", "1", "a b", "a.", ".a", "a//b", "a/", "#", "\"", "é"})
    EXPECT_FALSE(is_plain_name(name)) << name;
}

TEST(PlanText, SplitsInProgramSyntax) {
  auto plan = [](const std::string& line) { return std::get<Plan>(parse_plan("plan 2\n" + line)); };
  EXPECT_EQ(plan("split H on k into [0..3, 3..8] over pod.model"), plan("split H dim k into [0, 3, 8] over pod.model"));
  const Plan bare = plan("split H on axis 1 into 2 over model:(1)2");
  const auto& split = std::get<PlannedSplit>(bare.decisions.at(0));
  EXPECT_EQ(axis_of_dim(split.dim), 1u);
  EXPECT_EQ(split.mesh, "");
  EXPECT_EQ(split.axis, (AxisName{"model", SubAxis{1, 2}}));
  EXPECT_EQ(plan(print(bare).substr(7)), bare);
  EXPECT_EQ(axis_of_dim("axis 01"), std::nullopt);
  EXPECT_EQ(axis_of_dim("k"), std::nullopt);
}

TEST(PlanText, ErrorsNameTheirLine) {
  for (auto [line, help] : {std::pair{"fuse a b, c over i", "write `fuse a, b, c over i`"},
                            {"unroll H by 2", "write `unroll H 2`"},
                            {"split H dim i into 2 over sequencial", "did you mean `sequential`?"},
                            {"splt H dim i into 2", "did you mean `split`?"},
                            {"split H dim i into 2 # halves", "write `// halves`"},
                            {"# halves", "write `// halves`"}}) {
    auto parsed = parse_plan_text("plan 2\n" + std::string(line));
    auto* mistake = std::get_if<PlanMistake>(&parsed);
    ASSERT_TRUE(mistake) << line;
    EXPECT_EQ(mistake->help, help) << line;
  }
}

TEST(PlanText, ErrorsHaveAColumn) {
  auto at = [](std::string_view line) {
    auto parsed = parse_plan_text("plan 2\n" + std::string(line));
    auto* error = std::get_if<PlanMistake>(&parsed);
    return error && error->line == 2 ? static_cast<int>(error->column) : -1;
  };
  EXPECT_EQ(at("splt H"), 0);
  EXPECT_EQ(at("split H dm k"), 8);
  EXPECT_EQ(at("split H dim k into 2 over sequencial"), 26);
  EXPECT_EQ(at("split H dim k into [0..3, 4..8]"), 26);
  EXPECT_EQ(at("split H on axis into 2"), 16);
  EXPECT_EQ(at("split H dim k into 2 tree 1"), 26);
  EXPECT_EQ(at("split H dim k into 2 3"), 21);
  EXPECT_EQ(at("unroll u"), 8);
  EXPECT_EQ(at("split H dim k into 2 over devices {0}, {}"), 39);
  EXPECT_EQ(at("split H dim k into 1 over devices {1, 1}"), 34);
  EXPECT_EQ(at("split H dim k into 1 over devices {-1}"), 35);
  EXPECT_EQ(at("place H over devices {0}, {1}"), 13);
  EXPECT_EQ(at("place H at 1 over devices {0}"), 18);
  EXPECT_EQ(at("place H over pod.data"), 13);
  EXPECT_EQ(at("place H over threads"), 13);
}

}  // namespace
}  // namespace tap::ir
