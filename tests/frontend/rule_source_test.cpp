// The rewrites of a file and its libraries, asked after the front end is done: what each one is at given types.
#include "compiler/frontend/rewrites/rule_source.h"

#include <gtest/gtest.h>

#include "ir/rule_instance.h"
#include "tests/frontend/compile_source.h"

namespace tap::test {
namespace {

using ir::TensorType;

// A text that compiles, and its rules.
class Rules {
 public:
  explicit Rules(const std::string& text) : file_(sources_.add("test.tap", text)) {
    Diagnostics diagnostics;
    options_.standard_library = standard_library();
    EXPECT_TRUE(compile(sources_, file_, options_, diagnostics))
        << render(diagnostics, sources_, MessageFormat::human, false);
    source_.emplace(sources_, file_, options_);
    texts_ = source_->texts();
  }

  RuleSource& source() { return *source_; }
  const std::vector<std::string>& texts() const { return texts_; }
  std::size_t number(const std::string& text) const {
    auto found = std::find(texts_.begin(), texts_.end(), text);
    EXPECT_NE(found, texts_.end()) << text;
    return static_cast<std::size_t>(found - texts_.begin());
  }

 private:
  SourceMap sources_;
  FileId file_;
  CompileOptions options_;
  std::optional<RuleSource> source_;
  std::vector<std::string> texts_;
};

constexpr ElementType f32 = ElementType::f32, f64 = ElementType::f64;
constexpr const char* products = "rewrite matmul(x, w) => sum_axis<-2>(products(x, w)) when matmul.in > 4096";

TEST(RuleSource, RulesOfTheFileComeBeforeThoseOfLibraries) {
  Rules rules(
      "use std\nop twice(x: T[n]) -> (y: T[n]) where T: number { y[i] = 2 * x[i] }\n"
      "rewrite twice(x)\n  => add(x,\n     x)\n");
  ASSERT_GT(rules.texts().size(), 20u);
  EXPECT_EQ(rules.texts()[0], "rewrite twice(x) => add(x, x)");
  EXPECT_LT(rules.number(products), rules.texts().size());
}

TEST(RuleSource, WithoutALibraryThereAreNone) {
  EXPECT_TRUE(Rules("op twice(x: T[n]) -> (y: T[n]) where T: number { y[i] = 2 * x[i] }\n").texts().empty());
}

TEST(RuleSource, EveryRuleOfTheStandardLibraryHasASampleThatHolds) {
  Rules rules("use std\n");
  for (std::size_t k = 0; k < rules.texts().size(); ++k) {
    auto sample = rules.source().sample(k);
    ASSERT_TRUE(sample) << rules.texts()[k];
    EXPECT_TRUE(sample->holds) << rules.texts()[k];
    EXPECT_FALSE(ir::try_rule(sample->program, sample->instance).difference) << rules.texts()[k];
    auto again = rules.source().at(k, sample->instance.inputs);
    ASSERT_TRUE(again) << rules.texts()[k];
    EXPECT_EQ(again->instance.variables, sample->instance.variables);
  }
}

TEST(RuleSource, BothSidesHaveTheResultType) {
  Rules rules("use std\n");
  auto made = rules.source().at(rules.number(products), {TensorType{f32, {4, 5}}, TensorType{f32, {3, 4}}});
  ASSERT_TRUE(made);  // in the order of the names: w, x
  EXPECT_EQ(made->instance.variables, (std::vector<std::string>{"w", "x"}));
  for (ir::GraphId id : {made->instance.pattern, made->instance.replacement}) {
    const ir::Graph& graph = made->program[id];
    ASSERT_EQ(graph.outputs.size(), 1u);
    EXPECT_EQ(graph[graph.outputs[0]].type, (TensorType{f32, {3, 5}}));
  }
  EXPECT_FALSE(made->holds);
  EXPECT_EQ(made->guard, "`matmul.in > 4096` is false: `matmul.in` is 4");
}

TEST(RuleSource, MismatchedTypesHaveNoInstance) {
  Rules rules("use std\n");
  const std::size_t rule = rules.number(products);
  EXPECT_FALSE(rules.source().at(rule, {TensorType{f32, {4, 5}}, TensorType{f32, {3, 6}}}));  // 4 and 6
  EXPECT_FALSE(rules.source().at(rule, {TensorType{f32, {4, 5}}, TensorType{f64, {3, 4}}}));  // two element types
  EXPECT_FALSE(rules.source().at(rule, {TensorType{f32, {4}}, TensorType{f32, {3, 4}}}));     // a rank
  EXPECT_FALSE(rules.source().at(rule, {TensorType{f32, {4, 5}}}));                           // a variable too few
  EXPECT_TRUE(rules.source().at(rule, {TensorType{f32, {4, 5}}, TensorType{f32, {3, 4}}}));
}

TEST(RuleSource, InstancesDoNotAccumulate) {
  Rules rules("use std\n");
  const std::size_t rule = rules.number(products);
  std::size_t most = 0;
  for (std::int64_t n = 1; n <= 600; ++n) {
    auto made = rules.source().at(rule, {TensorType{f32, {n, 2}}, TensorType{f32, {2, n}}});
    ASSERT_TRUE(made);
    most = std::max(most, made->program.operators.size());
  }
  EXPECT_LT(most, 4000u);
}

}  // namespace
}  // namespace tap::test
