// Every kind of change to block graphs and schedules, many times: what changes the result is refused by an obligation named
// for that kind, what is harmless is accepted. What the checker accepts of the former must have the same result after all.

#include <gtest/gtest.h>

#include "ir/block_program.h"
#include "tests/check/tries.h"
#include "tests/driver/mutations_of_block_graphs.h"
#include "tests/driver/mutations_of_kernels.h"
#include "tests/driver/mutations_of_memory.h"
#include "tests/driver/mutations_of_schedules.h"
#include "tests/driver/stage_cases.h"

namespace tap::driver::test {
namespace {

const int tries = check::times_tries(24);   // of each kind, on each case
const int pairs = check::times_tries(400);  // of kinds, on each case

std::string obligation_of(const std::string& refusal) { return refusal.substr(0, refusal.find(':')); }

// What is counted of all kinds together.
struct Counts {
  std::size_t kinds = 0, refused = 0, harmless = 0, accepted = 0;
};

template <class Stage, class Result>
void expect_correct(Result result, const StageCase& c, const Stage& changed, const std::string& what) {
  try {
    passes::test::expect_equal(result(c, changed), c.expected, what);
  } catch (const std::exception& why) { ADD_FAILURE() << what << " is accepted: " << why.what(); }
}

// Two changes at once, which may hide each other: whoever is accepted has the same result.
// `tidy` takes away what the first left empty; false: nothing else is left.
template <class Stage, class Tidy, class Refusal, class Result>
void change_twice(const std::vector<StageKind<Stage>>& kinds, const std::vector<StageCase>& cases, Tidy tidy,
                  Refusal refusal, Result result) {
  Random random(20261123);
  std::size_t refused = 0, accepted = 0;
  for (const StageCase& c : cases)
    for (int t = 0; t < pairs; ++t) {
      const StageKind<Stage>&one = kinds[any(random, kinds.size())], &other = kinds[any(random, kinds.size())];
      Stage changed = c.schedule;
      if (!one.change(changed, random) || !tidy(changed) || !other.change(changed, random) || !tidy(changed)) continue;
      std::string why = refusal(c, changed);
      ++(why.empty() ? accepted : refused);
      if (why.empty()) expect_correct(result, c, changed, fmt::format("{} and {} of {}", one.name, other.name, c.name));
    }
  std::printf("%zu mutants of two changes refused, %zu accepted\n", refused, accepted);
  EXPECT_GE(refused, 400u);
}

template <class Stage, class Refusal, class Result>
Counts change(const std::vector<StageKind<Stage>>& kinds, std::vector<StageCase>& cases, Refusal refusal,
              Result result) {
  Counts counts;
  Random random(20261122);
  for (const StageKind<Stage>& kind : kinds) {
    std::size_t mutants = 0;
    for (const StageCase& c : cases)
      for (int t = 0; t < tries; ++t) {
        auto [why, changed] = refusal(c, kind, random);
        if (!changed) continue;
        if (kind.objects.empty()) {
          ++counts.harmless;
          counts.accepted += why.empty();
          EXPECT_EQ(why, "") << kind.name << " of " << c.name;
          expect_correct(result, c, *changed, std::string(kind.name) + " of " + c.name);
          continue;
        }
        if (why.empty()) {
          expect_correct(result, c, *changed, std::string(kind.name) + " of " + c.name);
          continue;
        }
        ++mutants;
        EXPECT_EQ(std::count(kind.objects.begin(), kind.objects.end(), obligation_of(why)), 1)
            << kind.name << " of " << c.name << " is refused by " << why;
      }
    if (kind.objects.empty()) continue;
    EXPECT_GT(mutants, 0u) << "no mutant of the kind: " << kind.name;
    counts.refused += mutants;
    ++counts.kinds;
  }
  EXPECT_EQ(counts.accepted, counts.harmless);
  std::printf("%zu kinds, %zu mutants refused, %zu of %zu harmless ones accepted\n", counts.kinds, counts.refused,
              counts.accepted, counts.harmless);
  return counts;
}

TEST(StageMutation, TasksOfBlockGraphs) {
  backend::Jit jit;
  std::vector<StageCase> cases = stage_cases(jit);
  for (const StageCase& c : cases) passes::test::expect_equal(result_of(c, c.blocks), c.expected, c.name);
  auto refusal = [](const StageCase& c, const StageKind<Blocks>& kind, Random& random) {
    std::optional<ir::BlockProgram> changed = c.blocks;
    Blocks& graph = changed->graphs[any(random, changed->graphs.size())];
    if (any(random, 2) == 0) graph = by_device(graph);
    if (graph.tasks.empty() || !kind.change(graph, random)) return std::pair(std::string(), decltype(changed)());
    std::string why = check::test::refusal_of(*changed);
    return std::pair(why, changed);
  };
  Counts counts = change<Blocks>(block_kinds(), cases, refusal, [](const StageCase& c, const ir::BlockProgram& blocks) {
    return result_of(c, blocks);
  });
  EXPECT_GE(counts.kinds, 15u);
  EXPECT_GE(counts.refused, 400u);
}

// A group runs as one application, and what is in it is listed, too: no task of that list may be missing either.
TEST(StageMutation, TasksInsideGroups) {
  backend::Jit jit;
  std::size_t refused = 0;
  for (const StageCase& c : stage_cases(jit))
    for (const ir::Operator& op : c.blocks.program.operators) {
      if (!op.region() || op.region()->kind != ir::RegionKind::group) continue;
      const std::size_t body = op.region()->graph.index();
      for (std::size_t t = 0; t < c.blocks.graphs[body].tasks.size(); ++t, ++refused) {
        ir::BlockProgram changed = c.blocks;
        auto& tasks = changed.graphs[body].tasks;
        tasks.erase(tasks.begin() + static_cast<std::ptrdiff_t>(t));
        const std::string why = obligation_of(check::test::refusal_of(changed));
        EXPECT_TRUE(why == "expansion" || why == "held") << c.name << ", task " << t << ": " << why;
      }
    }
  EXPECT_GE(refused, 2u);
}

TEST(StageMutation, TasksOfSchedules) {
  backend::Jit jit;
  std::vector<StageCase> cases = stage_cases(jit);
  for (const StageCase& c : cases) {
    passes::test::expect_equal(native_result_of(c, c.schedule), c.expected, c.name);
    passes::test::expect_equal(result_of(c, c.schedule), c.expected, c.name);
  }
  auto refusal = [](const StageCase& c, const StageKind<Schedule>& kind, Random& random) {
    std::optional<Schedule> changed = any(random, 2) == 0 ? c.schedule : by_memory(c.schedule);
    if (!kind.change(*changed, random)) return std::pair(std::string(), decltype(changed)());
    std::erase_if(changed->sequences[0], [](const ir::Batch& batch) { return batch.empty(); });
    return std::pair(check::test::refusal_of(c.blocks.program, *changed), changed);
  };
  Counts counts = change<Schedule>(schedule_kinds(), cases, refusal,
                                   [](const StageCase& c, const Schedule& schedule) { return result_of(c, schedule); });
  EXPECT_GE(counts.kinds, 20u);
  EXPECT_GE(counts.refused, 400u);
}

// What a schedule says beside its tasks, and its totals.
TEST(StageMutation, LinesAndMemoryOfSchedules) {
  backend::Jit jit;
  std::vector<StageCase> cases = stage_cases(jit);
  for (StageCase& c : prepared_cases(jit)) cases.push_back(std::move(c));
  Counts counts = change<Schedule>(
      memory_kinds(), cases,
      [](const StageCase& c, const StageKind<Schedule>& kind, Random& random) {
        std::optional<Schedule> changed = any(random, 2) == 0 ? c.schedule : by_memory(c.schedule);
        if (!kind.change(*changed, random)) return std::pair(std::string(), decltype(changed)());
        return std::pair(check::test::refusal_of(c.blocks.program, *changed), changed);
      },
      [](const StageCase& c, const Schedule& schedule) { return result_of(c, schedule); });
  EXPECT_GE(counts.kinds, 10u);
  EXPECT_GE(counts.refused, 400u);
}

TEST(StageMutation, KernelsOfSchedules) {
  backend::Jit jit;
  std::vector<StageCase> cases = stage_cases(jit);
  for (StageCase& c : prepared_cases(jit)) cases.push_back(std::move(c));
  for (const StageCase& c : cases) passes::test::expect_equal(result_of(c, c.schedule), c.expected, c.name);
  auto result = [](const StageCase& c, const Schedule& schedule) { return result_of(c, schedule); };
  Counts counts = change<Schedule>(
      kernel_kinds(), cases,
      [](const StageCase& c, const StageKind<Schedule>& kind, Random& random) {
        std::optional<Schedule> changed = c.schedule;
        if (!kind.change(*changed, random)) return std::pair(std::string(), decltype(changed)());
        return std::pair(check::test::refusal_of(c.blocks.program, *changed), changed);
      },
      result);
  EXPECT_GE(counts.kinds, 15u);
  EXPECT_GE(counts.refused, 400u);
  std::vector<StageKind<Schedule>> all = kernel_kinds();
  for (const auto& more : {schedule_kinds(), memory_kinds()})
    for (const StageKind<Schedule>& kind : more) all.push_back(kind);
  change_twice<Schedule>(
      all, cases,
      [](Schedule& changed) {
        auto is_empty = [](const auto& list) { return list.empty(); };
        for (ir::Sequence& sequence : changed.sequences) std::erase_if(sequence, is_empty);
        return std::ranges::none_of(changed.sequences, is_empty);
      },
      [](const StageCase& c, const Schedule& changed) { return check::test::refusal_of(c.blocks.program, changed); },
      result);
}

}  // namespace
}  // namespace tap::driver::test
