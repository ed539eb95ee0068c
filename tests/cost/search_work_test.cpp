// The work of the plan search in counted steps: for each further layer of a program it stays the same, and it does not depend on
// the number of devices.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "cost/search/sharding_search.h"
#include "tests/passes/lowered.h"

namespace tap::cost {
namespace {

// A chain of layers of a wide product, a map and a product back, each added to its input.
std::string layers(int count) {
  std::string inputs, lines;
  for (int k = 0; k < count; ++k) {
    inputs += fmt::format(", U{0}: f32[512, 2048], D{0}: f32[2048, 512]", k);
    lines += fmt::format(
        "    h{0}[i, w] = sum[f] {1}[i, f] * U{0}[f, w]\n    g{0}[i, w] = max(h{0}[i, w], 0)\n"
        "    x{0}[i, f] = {1}[i, f] + sum[w] g{0}[i, w] * D{0}[w, f]\n",
        k, k == 0 ? "X" : fmt::format("x{}", k - 1));
  }
  return fmt::format("program p(X: f32[256, 512]{}) -> (x{}: f32[256, 512]) {{\n{}}}\n", inputs, count - 1, lines);
}

FoundFront search_layers(int count, std::vector<ir::MeshAxis> axes, std::function<bool()> is_hurried = {}) {
  ir::Program program = passes::test::lowered(layers(count));
  program.meshes.push_back({"grid", std::move(axes)});
  SearchOptions options;
  options.cluster = builtin_cluster(builtin({}, 2));
  options.limits.is_hurried = std::move(is_hurried);
  return search(program, ir::MeshId(program.meshes.size() - 1), options);
}

TEST(SearchWork, IsTheSameForEachFurtherLayer) {
  for (const std::vector<ir::MeshAxis>& axes :
       {std::vector<ir::MeshAxis>{{"x", 4}}, std::vector<ir::MeshAxis>{{"x", 4}, {"y", 2}}}) {
    const SearchWork of_4 = search_layers(4, axes).work, of_8 = search_layers(8, axes).work,
                     of_16 = search_layers(16, axes).work;
    EXPECT_GT(of_4.labels, 1000u);
    EXPECT_GT(of_4.priced, 10u);
    EXPECT_EQ(of_8.priced, of_4.priced) << "equal operations are priced once";
    EXPECT_EQ(of_16.priced, of_4.priced);
    const double first = static_cast<double>(of_8.labels - of_4.labels) / 4,
                 later = static_cast<double>(of_16.labels - of_8.labels) / 8;
    EXPECT_NEAR(later / first, 1, 0.1) << first << " and " << later << " labels a layer";
  }
}

TEST(SearchWork, DoesNotDependOnTheNumberOfDevices) {
  const SearchWork few = search_layers(4, {{"x", 4}, {"y", 2}}).work,
                   many = search_layers(4, {{"x", 64}, {"y", 16}}).work;
  EXPECT_LE(many.priced, few.priced);
  EXPECT_LE(static_cast<double>(many.labels), 1.3 * static_cast<double>(few.labels));
}

// After a while, so that part of the search has its usual width.
TEST(SearchWork, IsLittleOnceTheSearchIsHurried) {
  const std::vector<ir::MeshAxis> axes{{"x", 4}, {"y", 2}};
  std::size_t asked = 0;
  const FoundFront usual = search_layers(8, axes, [&] { return ++asked == 0; });
  const std::size_t all = asked;
  EXPECT_GT(all, 24u);  // at each operation and at each step
  asked = 0;
  const FoundFront hurried = search_layers(8, axes, [&] { return ++asked > all / 8; });
  ASSERT_FALSE(hurried.plans.empty());
  EXPECT_FALSE(hurried.goal_is_exact);
  EXPECT_LT(hurried.work.labels, usual.work.labels / 2);
  EXPECT_EQ(hurried.plans.front().sharded.left.size(), usual.plans.front().sharded.left.size());
}

}  // namespace
}  // namespace tap::cost
