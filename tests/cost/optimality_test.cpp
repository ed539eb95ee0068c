// The plan search on random programs of up to 8 operations, against every combination of strategies, each priced by the
// cost model: it finds the fastest of at least 95 %, and 99 % of the front's volume of at least 90 %.
//
// SEARCHED_PROGRAMS=200 is the number of programs, 40 if it is not set.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>

#include "cost/search/sharding_search.h"
#include "tests/cost/every_plan.h"
#include "tests/cost/random_matrices.h"
#include "tests/passes/lowered.h"

namespace tap::cost {
namespace {

constexpr std::size_t most_combinations = 100'000;

std::size_t combinations(const SearchProblem& problem) {
  std::size_t all = 1;
  for (const SearchStep& step : problem.steps) all = std::min(all * step.choices.size(), most_combinations + 1);
  return all;
}

TEST(Optimality, OfRandomPrograms) {
  const char* asked = std::getenv("SEARCHED_PROGRAMS");
  const int programs = asked ? std::atoi(asked) : 40;
  ASSERT_GT(programs, 0);
  SearchOptions options;
  options.cluster = builtin_cluster(builtin({}, 2));
  int tried = 0, fastest = 0, whole = 0;
  std::size_t priced = 0, most_plans = 0;
  double slowest = 0;
  for (unsigned seed = 1; tried < programs; ++seed) {
    std::mt19937 random(seed);
    const std::string text = random_program(random);
    ir::Program program = passes::test::lowered(text);
    const std::vector<ir::MeshAxis> axes = random_axes(random);
    program.meshes.push_back({"grid", axes});
    const ir::MeshId mesh(program.meshes.size() - 1);
    std::vector<Objectives> all;
    with_problem(program, mesh, options, [&](const SearchProblem& problem, HoldCosts& costs) {
      if (combinations(problem) <= most_combinations) all = every_cost(problem, costs);
    });
    if (all.empty()) continue;
    ++tried;
    priced += all.size();
    const auto begin = std::chrono::steady_clock::now();
    std::vector<Objectives> found;
    for (const FoundPlan& plan : search(program, mesh, options).plans) found.push_back(plan.predicted);
    slowest = std::max(slowest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    ASSERT_FALSE(found.empty()) << text;
    const std::vector<Objectives> best = best_of(all);
    const Objectives worst = worse_than_all(all);
    most_plans = std::max(most_plans, best.size());
    const bool is_fastest = found.front().seconds <= best.front().seconds * (1 + 1e-9);
    // No combination is faster, so nothing that is may be found.
    EXPECT_GE(found.front().seconds, best.front().seconds * (1 - 1e-9)) << text;
    const bool is_whole = volume_beaten(found, worst) >= 0.99 * volume_beaten(best, worst);
    if (!is_fastest || !is_whole)
      fmt::print("seed {}: {} of {} plans; {:.4g} s, at best {:.4g} s\n{}", seed, found.size(), best.size(),
                 found.front().seconds, best.front().seconds, text);
    fastest += is_fastest;
    whole += is_whole;
  }
  fmt::print(
      "{} programs, {} combinations priced, fronts of up to {} plans: fastest found in {}, 99 % of the volume in "
      "{}; slowest search {:.2f} s\n",
      tried, priced, most_plans, fastest, whole, slowest);
  EXPECT_GE(fastest * 100, programs * 95);
  EXPECT_GE(whole * 100, programs * 90);
}

}  // namespace
}  // namespace tap::cost
