// The sweep against every combination of choices, on random problems.
#include "cost/search/frontier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/cost/every_plan.h"

namespace tap::cost {
namespace {

constexpr Held shardings = 4;

class RandomCosts : public HoldCosts {
 public:
  RandomCosts(std::mt19937& random, std::size_t values) : bytes_(values), seconds_(values) {
    for (std::size_t v = 0; v < values; ++v)
      for (Held from = 0; from < shardings; ++from) {
        bytes_[v].push_back(1 + random() % 8);
        for (Held to = 0; to < shardings; ++to) seconds_[v].push_back(from == to ? 0 : 1 + random() % 16);
      }
  }
  double bytes(std::uint32_t value, Held held) override { return static_cast<double>(bytes_[value][held]); }
  TransferCost reshard(std::uint32_t value, Held from, Held to) override {
    const auto seconds = static_cast<double>(seconds_[value][from * shardings + to]);
    return {seconds, 3 + seconds / 2};
  }

 private:
  std::vector<std::vector<std::uint64_t>> bytes_, seconds_;
};

// A graph in order: each step reads one to three earlier values and writes one.
SearchProblem random_problem(std::mt19937& random, std::size_t most_steps = 5) {
  SearchProblem problem;
  const std::size_t inputs = 1 + random() % 2, steps = 2 + random() % (most_steps - 1);
  problem.values.resize(inputs + steps);
  for (std::size_t v = 0; v < inputs; ++v) {
    problem.values[v].given = true;
    if (random() % 3 == 0) problem.values[v].fixed = static_cast<Held>(random() % shardings);
  }
  std::vector<bool> is_read(inputs, false);
  for (std::size_t s = 0; s < steps; ++s) {
    SearchStep step;
    for (std::size_t k = 1 + random() % 3; k > 0; --k)
      step.operands.push_back(static_cast<std::uint32_t>(random() % (inputs + s)));
    step.results.push_back(static_cast<std::uint32_t>(inputs + s));
    for (std::size_t c = 2 + random() % 3; c > 0; --c) {
      StepChoice choice;
      for (std::size_t k = 0; k < step.operands.size(); ++k)
        choice.needs.push_back(static_cast<Held>(random() % shardings));
      choice.leaves.push_back(static_cast<Held>(random() % shardings));
      choice.seconds = static_cast<double>(random() % 10);
      choice.traffic = static_cast<double>(random() % 4);
      choice.extra = static_cast<double>(random() % 4);
      for (std::size_t k = 0; k < step.operands.size(); ++k) {
        const std::uint32_t v = step.operands[k];
        if (v >= inputs || is_read[v] || problem.values[v].fixed || random() % 2) continue;
        choice.parts.resize(step.operands.size());
        choice.parts[k] = static_cast<Held>(random() % shardings);
      }
      step.choices.push_back(std::move(choice));
    }
    for (std::uint32_t v : step.operands)
      if (v < inputs) is_read[v] = true;
    problem.steps.push_back(std::move(step));
  }
  problem.values.back().kept = true;
  if (random() % 2 == 0) problem.values.back().left = static_cast<Held>(random() % shardings);
  return problem;
}

TEST(Frontier, FindsEveryPlanThatNoOtherBeats) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const SearchProblem problem = random_problem(random);
    RandomCosts costs(random, problem.values.size());
    const Front front = sweep(problem, costs, {.most_states = 10000, .most_labels = 10000});
    EXPECT_TRUE(front.is_exact);
    std::vector<Objectives> found;
    for (const Chosen& chosen : front.plans) {
      EXPECT_EQ(cost_of(problem, costs, chosen.choices), chosen.cost) << "seed " << seed;
      found.push_back(chosen.cost);
    }
    EXPECT_TRUE(best_of(found) == best_of(every_cost(problem, costs))) << "seed " << seed;
  }
}

TEST(Frontier, OneLabelFindsTheFastest) {
  for (unsigned seed = 1000; seed < 1300; ++seed) {
    std::mt19937 random(seed);
    const SearchProblem problem = random_problem(random);
    RandomCosts costs(random, problem.values.size());
    const Front front = sweep(problem, costs, {.most_states = 10000, .most_labels = 1});
    ASSERT_FALSE(front.plans.empty());
    EXPECT_TRUE(front.goal_is_exact);
    EXPECT_EQ(front.plans.front().cost.seconds, best_of(every_cost(problem, costs)).front().seconds) << "seed " << seed;
  }
}

TEST(Frontier, UsualLimitsFindNearlyAll) {
  int fastest = 0, whole = 0;
  constexpr int problems = 200;
  for (unsigned seed = 5000; seed < 5000 + problems; ++seed) {
    std::mt19937 random(seed);
    const SearchProblem problem = random_problem(random, 6);
    RandomCosts costs(random, problem.values.size());
    const std::vector<Objectives> all = every_cost(problem, costs);
    const Objectives worst = worse_than_all(all);
    std::vector<Objectives> found;
    for (const Chosen& chosen : sweep(problem, costs, {}).plans) found.push_back(chosen.cost);
    const std::vector<Objectives> best = best_of(all);
    fastest += found.front().seconds == best.front().seconds;
    whole += volume_beaten(found, worst) >= 0.99 * volume_beaten(best, worst);
  }
  EXPECT_EQ(fastest, problems);
  EXPECT_GE(whole, problems * 9 / 10);
}

TEST(Frontier, DemandsAreMet) {
  for (unsigned seed = 7000; seed < 7100; ++seed) {
    std::mt19937 random(seed);
    const SearchProblem problem = random_problem(random);
    RandomCosts costs(random, problem.values.size());
    const std::vector<Objectives> best = best_of(every_cost(problem, costs));
    const Objectives& middle = best[best.size() / 2];
    for (Goal goal : {Goal::seconds, Goal::memory, Goal::traffic}) {
      const Front front = sweep(problem, costs, {.goal = goal, .at_most = {unlimited, middle.memory, unlimited}});
      double least = unlimited, expected = unlimited;
      for (const Chosen& chosen : front.plans) {
        EXPECT_LE(chosen.cost.memory, middle.memory);
        least = std::min(least, value_of(chosen.cost, goal));
      }
      for (const Objectives& own : best)
        if (own.memory <= middle.memory) expected = std::min(expected, value_of(own, goal));
      EXPECT_EQ(least, expected) << "seed " << seed;
    }
    EXPECT_TRUE(sweep(problem, costs, {.at_most = {unlimited, 0, unlimited}}).plans.empty());
  }
}

// Two weights of 100 bytes, or 25 on each of four devices; each step writes 10 bytes.
TEST(Frontier, InputsInPartsAreGatheredForOneStep) {
  class Costs : public HoldCosts {
   public:
    double bytes(std::uint32_t value, Held held) override { return value > 1 ? 10 : held == 0 ? 100 : 25; }
    TransferCost reshard(std::uint32_t, Held, Held) override { return {3, 75}; }
    double seconds_of_copy(std::uint32_t, Held) override { return 0.5; }
  } costs;
  SearchProblem problem{{{.given = true}, {.given = true}, {}, {.kept = true}}, {}};
  const StepChoice first{{0}, {0}, 1, 0}, second{{0, 0}, {0}, 1, 0};
  StepChoice gathered = first, too = second;
  gathered.parts = {Held{1}};
  too.parts = {std::nullopt, Held{1}};
  problem.steps = {{{0}, {2}, {first, gathered}}, {{2, 1}, {3}, {second, too}}};
  // Inputs are in memory from the start, whatever reads them first.
  EXPECT_EQ(cost_of(problem, costs, {0, 0}), (Objectives{2, 220, 0}));
  // The second step: both parts, a copy of one, what is gathered of it, two results.
  EXPECT_EQ(cost_of(problem, costs, {1, 1}), (Objectives{9, 50 + 25 + 100 + 20, 150}));
  EXPECT_EQ(cost_of(problem, costs, {1, 0}), (Objectives{5.5, 125 + 25 + 100 + 10, 75}));
  const Front front = sweep(problem, costs, {.at_most = {unlimited, 200, unlimited}});
  ASSERT_EQ(front.plans.size(), 1u);
  EXPECT_EQ(front.plans[0].choices, (std::vector<std::uint32_t>{1, 1}));
}

// A second reader gathers again: nothing stays between them.
TEST(Frontier, EachReaderGathersItsInput) {
  class Costs : public HoldCosts {
   public:
    double bytes(std::uint32_t value, Held held) override { return value > 0 ? 10 : held == 0 ? 100 : 25; }
    TransferCost reshard(std::uint32_t, Held, Held) override { return {3, 75}; }
  } costs;
  SearchProblem problem{{{.given = true}, {}, {}, {.kept = true}}, {}};
  StepChoice in_parts{{0}, {0}, 1, 0};
  in_parts.parts = {Held{1}};
  const StepChoice between{{0}, {0}, 1, 0, 80}, last{{0, 0}, {0}, 1, 0};
  problem.steps = {{{0}, {1}, {in_parts}}, {{1}, {2}, {between}}, {{2, 0}, {3}, {last}}};
  EXPECT_EQ(cost_of(problem, costs, {0, 0, 0}), (Objectives{9, 25 + 25 + 100 + 20, 150}));
}

TEST(Frontier, LimitsAreReported) {
  std::mt19937 random(5);
  const SearchProblem problem = random_problem(random);
  RandomCosts costs(random, problem.values.size());
  const Front front = sweep(problem, costs, {.most_states = 1, .most_labels = 1});
  EXPECT_FALSE(front.goal_is_exact);
  ASSERT_EQ(front.plans.size(), 1u);
  EXPECT_EQ(cost_of(problem, costs, front.plans.front().choices), front.plans.front().cost);
}

// x is read as 1 by two steps and moved once: 5 seconds, not 10.
TEST(Frontier, AMovedValueIsMovedOnce) {
  SearchProblem problem;
  problem.values.resize(4);
  problem.values[0] = {true, Held(0), false, {}};
  problem.values[2].kept = problem.values[3].kept = true;
  problem.steps.push_back({{0}, {1}, {{{0}, {0}, 1, 0, 0}}});
  problem.steps.push_back({{1}, {2}, {{{1}, {0}, 1, 0, 0}}});
  problem.steps.push_back({{1}, {3}, {{{1}, {0}, 1, 0, 0}}});
  struct : HoldCosts {
    double bytes(std::uint32_t, Held) override { return 1; }
    TransferCost reshard(std::uint32_t, Held from, Held to) override {
      return from == to ? TransferCost{} : TransferCost{5, 7};
    }
  } costs;
  const Objectives cost = cost_of(problem, costs, {0, 0, 0});
  EXPECT_EQ(cost.seconds, 8);
  EXPECT_EQ(cost.traffic, 7);
}

}  // namespace
}  // namespace tap::cost
