// List scheduling on small random graphs, compared with every arrangement there is.
#include "backend/schedule/list_scheduling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tap::backend::test {
namespace {

constexpr std::size_t any = SIZE_MAX / 2;
constexpr ListingPolicy kinds[] = {{true, any, 2}, {true, 1, 1}, {false, any, 2}, {false, 0, 1}};

Steps random_steps(std::mt19937& random, std::size_t most) {
  Steps made;
  made.batch = 0.5e-6;
  const std::size_t count = 2 + random() % (most - 1);
  made.memories.resize(1 + random() % (count + 2));
  for (StepMemory& memory : made.memories)
    memory = {static_cast<std::int64_t>(random() % 10), random() % 4 == 0, random() % 4 == 0};
  for (std::size_t s = 0; s < count; ++s) {
    Step& step = made.steps.emplace_back();
    step.may_fail = random() % 4 == 0;
    if (random() % 4 == 0) {
      step.latency = 5e-6;
      step.travel = 1e-6 * static_cast<double>(random() % 50);
      step.packed = static_cast<std::int64_t>(random() % 3);
    } else {
      step.work = 1e-6 * static_cast<double>(random() % 100);
      step.parts = 1 + static_cast<std::int64_t>(random() % 8);
      step.longest = step.work / static_cast<double>(step.parts);
    }
    for (std::uint32_t memory = 0; memory < made.memories.size(); ++memory) {
      const auto use = random() % 6;
      if (use == 0) step.writes.push_back(memory);
      if (use == 1) step.reads.push_back(memory);
    }
  }
  return made;
}

bool uses(const std::vector<std::uint32_t>& list, std::uint32_t memory) {
  return std::ranges::find(list, memory) != list.end();
}
bool depends(const Step& earlier, const Step& later) {
  auto writes = [](const Step& one, const Step& other) {
    return std::ranges::any_of(one.writes,
                               [&](std::uint32_t m) { return uses(other.reads, m) || uses(other.writes, m); });
  };
  return writes(earlier, later) || writes(later, earlier);
}

std::vector<std::size_t> batch_of(const Steps& steps, const Arrangement& made) {
  std::vector<std::size_t> found(steps.steps.size(), SIZE_MAX);
  for (std::size_t b = 0; b < made.size(); ++b)
    for (std::uint32_t s : made[b]) {
      EXPECT_EQ(found[s], SIZE_MAX) << "step " << s << " is there twice";
      found[s] = b;
    }
  return found;
}
bool is_legal(const Steps& steps, const std::vector<std::size_t>& batch) {
  for (std::size_t later = 0; later < batch.size(); ++later)
    for (std::size_t one = 0; one < later; ++one) {
      if (depends(steps.steps[one], steps.steps[later]) && batch[one] >= batch[later]) return false;
      const bool both_fail = steps.steps[one].may_fail && steps.steps[later].may_fail;
      if (both_fail && batch[one] > batch[later]) return false;
    }
  return true;
}

// Memories in use in the busiest batch, from their first to their last user.
std::int64_t peak_of(const Steps& steps, const std::vector<std::size_t>& batch) {
  const std::size_t batches = *std::ranges::max_element(batch) + 1;
  std::vector<std::int64_t> used(batches);
  for (std::uint32_t m = 0; m < steps.memories.size(); ++m) {
    std::size_t first = SIZE_MAX, last = 0;
    for (std::size_t s = 0; s < batch.size(); ++s) {
      if (!uses(steps.steps[s].reads, m) && !uses(steps.steps[s].writes, m)) continue;
      first = std::min(first, batch[s]);
      last = std::max(last, batch[s]);
    }
    if (first == SIZE_MAX && !steps.memories[m].before) continue;
    if (first == SIZE_MAX || steps.memories[m].after) last = batches - 1;
    if (steps.memories[m].before) first = 0;
    for (std::size_t b = first; b < batches && b <= last; ++b) used[b] += steps.memories[m].bytes;
  }
  return *std::ranges::max_element(used);
}

Arrangement arrangement(const std::vector<std::size_t>& batch) {
  Arrangement made(*std::ranges::max_element(batch) + 1);
  for (std::uint32_t s = 0; s < batch.size(); ++s) made[batch[s]].push_back(s);
  return made;
}

TEST(ListScheduling, EveryDependencyIsKept) {
  std::mt19937 random(20261129);
  int saved = 0;
  for (int round = 0; round < 4000; ++round) {
    const Steps steps = random_steps(random, 12);
    const Arrangement program = in_program_order(steps);
    ASSERT_TRUE(is_legal(steps, batch_of(steps, program)));
    for (const ListingPolicy& policy : kinds) {
      const Arrangement made = by_list(steps, program, policy);
      ASSERT_TRUE(is_legal(steps, batch_of(steps, made))) << "round " << round;
      EXPECT_EQ(made, by_list(steps, program, policy));
      const Saving better = saving(steps, program, policy);
      if (better.batches.empty()) continue;
      ++saved;
      EXPECT_LT(predicted_seconds(steps, better.batches), predicted_seconds(steps, program));
      EXPECT_LE(peak_bytes(steps, better.batches), peak_bytes(steps, program));
      EXPECT_TRUE(better.batches.size() <= program.size() ||
                  predicted_seconds(steps, better.batches) < 0.99 * predicted_seconds(steps, program));
      const bool messages = std::ranges::any_of(steps.steps, [](const Step& one) { return one.latency > 0; });
      EXPECT_TRUE(has_freedom(steps, program) || !messages);
    }
  }
  EXPECT_GT(saved, 1000);
}

// Of all arrangements that need no more memory, the best one takes at most as long; the list is seldom much worse.
TEST(ListScheduling, ComparedWithEveryArrangement) {
  std::mt19937 random(7);
  int graphs = 0, near = 0;
  for (int round = 0; round < 300; ++round) {
    const Steps steps = random_steps(random, 6);
    const Arrangement program = in_program_order(steps);
    const std::size_t count = steps.steps.size();
    const std::int64_t budget = peak_bytes(steps, program);
    double best = predicted_seconds(steps, program);
    std::vector<std::size_t> batch(count, 0);
    for (std::size_t at = 0; at < count;) {
      std::vector<bool> has(count);
      for (std::size_t b : batch) has[b] = true;
      if (std::ranges::is_sorted(has, std::greater()) && is_legal(steps, batch)) {
        const Arrangement made = arrangement(batch);
        if (peak_bytes(steps, made) <= budget) best = std::min(best, predicted_seconds(steps, made));
      }
      for (at = 0; at < count && ++batch[at] == count; ++at) batch[at] = 0;
    }
    double saved = 0;
    for (const ListingPolicy& policy : kinds) saved = std::max(saved, saving(steps, program, policy).seconds);
    const double found = predicted_seconds(steps, program) - saved;
    EXPECT_GE(found, best * (1 - 1e-9));
    ++graphs;
    near += found <= 1.1 * best;
  }
  EXPECT_GT(near, graphs * 4 / 5);
}

TEST(ListScheduling, MemoryInUse) {
  std::mt19937 random(3);
  for (int round = 0; round < 1000; ++round) {
    const Steps steps = random_steps(random, 8);
    const Arrangement program = in_program_order(steps);
    EXPECT_EQ(peak_bytes(steps, program), peak_of(steps, batch_of(steps, program)));
  }
}

Step computing(double seconds, std::vector<std::uint32_t> reads, std::vector<std::uint32_t> writes) {
  Step made{.work = seconds, .longest = seconds / 64, .parts = 64};
  made.reads = std::move(reads);
  made.writes = std::move(writes);
  return made;
}
Step message(double seconds, std::uint32_t from, std::uint32_t to) {
  Step made{.latency = 5e-6, .travel = seconds};
  made.reads = {from};
  made.writes = {to};
  return made;
}

// The gather of layer 1's weights travels while layer 0 computes, and not during the short operation before layer 1.
TEST(ListScheduling, AMessageTravelsDuringEarlierWork) {
  Steps steps;
  steps.batch = 0.5e-6;
  steps.memories.assign(8, {100});
  for (std::uint32_t m : {0U, 1U, 2U}) steps.memories[m].before = steps.memories[m].after = true;
  steps.memories[7].after = true;
  steps.memories[5].bytes = 10;
  steps.memories[7].bytes = 200;
  steps.steps = {message(100e-6, 0, 3), computing(2e-3, {2, 3}, {4}), computing(40e-6, {4}, {5}), message(100e-6, 1, 6),
                 computing(2e-3, {5, 6}, {7})};
  const Arrangement program = in_program_order(steps);
  EXPECT_EQ(program, (Arrangement{{0}, {1}, {2, 3}, {4}}));
  for (const ListingPolicy& policy : kinds)
    EXPECT_EQ(saving(steps, program, policy).batches, (Arrangement{{0}, {1, 3}, {2}, {4}}));
  steps.memories[6].bytes = 400;
  steps.memories[7].bytes = 50;  // there is no room for it so early
  for (const ListingPolicy& policy : kinds) EXPECT_TRUE(saving(steps, program, policy).batches.empty());
}

// A takes long, B's result is sent and then read by C: B is first, and its message travels while A computes.
TEST(ListScheduling, TheLongestPathIsFirst) {
  Steps steps;
  steps.batch = 0.5e-6;
  steps.memories.assign(5, {100, false, true});
  steps.steps = {computing(4e-3, {}, {0}), computing(4e-3, {0}, {1}), computing(1e-3, {}, {2}), message(900e-6, 2, 3),
                 computing(4e-3, {3}, {4})};
  const Arrangement program = in_program_order(steps);
  EXPECT_EQ(program, (Arrangement{{0}, {1, 2}, {3}, {4}}));
  const Saving found = saving(steps, program, {true, any, 2});
  EXPECT_EQ(found.batches, (Arrangement{{2}, {0, 3}, {1, 4}}));
}

// Small operations with few parts share a batch; large ones keep the order of the program, and their caches.
TEST(ListScheduling, SmallStepsShareABatch) {
  Steps steps;
  steps.batch = 0.5e-6;
  steps.memories.assign(4, {100, false, true});
  auto small = [](std::vector<std::uint32_t> reads, std::vector<std::uint32_t> writes) {
    Step made = computing(20e-6, std::move(reads), std::move(writes));
    made.parts = 1;
    made.longest = made.work;
    return made;
  };
  steps.steps = {small({}, {0}), small({0}, {1}), small({}, {2}), small({2}, {3})};
  Arrangement program = in_program_order(steps);
  EXPECT_EQ(program, (Arrangement{{0}, {1, 2}, {3}}));
  EXPECT_EQ(saving(steps, program, {true, any, 2}).batches, (Arrangement{{0, 2}, {1, 3}}));
  for (StepMemory& memory : steps.memories) memory.after = false;  // now this order needs twice the memory at first
  steps.memories[0].bytes = steps.memories[2].bytes = 150;
  EXPECT_TRUE(saving(steps, program, {true, any, 2}).batches.empty() ||
              peak_bytes(steps, saving(steps, program, {true, any, 2}).batches) <= peak_bytes(steps, program));
  for (StepMemory& memory : steps.memories) memory.after = true;
  for (Step& step : steps.steps) step.work = 4e-3, step.longest = step.work / 64, step.parts = 64;
  EXPECT_TRUE(saving(steps, in_program_order(steps), {true, any, 2}).batches.empty());
}

}  // namespace
}  // namespace tap::backend::test
