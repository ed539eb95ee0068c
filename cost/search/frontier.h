// Chooses a strategy for every site of a graph: a sweep over its operations in order that keeps, for each combination of
// shardings in which the live values are held, the choices with the least time, memory and traffic.
//
//   A = f(X), B = g(A), C = h(A, B)      after B: A held as [{x}, {}], B as [{}, {x}]: 2.1 ms, 40 MiB, 8 MiB received
//
// Values that several operations read in one sharding are moved once. The fastest plan is exact unless more combinations
// than `most_states` exist at once.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "cost/search/strategies.h"
#include "cost/search/transfer_time.h"

namespace tap::cost {

struct Objectives {
  double seconds = 0;
  double memory = 0;   // bytes, of a device, at the peak
  double traffic = 0;  // bytes that the busiest device receives
  bool operator==(const Objectives&) const = default;
};
// No worse in any.
inline bool dominates(const Objectives& a, const Objectives& b) {
  return a.seconds <= b.seconds && a.memory <= b.memory && a.traffic <= b.traffic;
}

// How a value is held, by number in the problem's table of shardings.
using Held = std::uint16_t;

// One choice for a step: what it reads, leaves and costs.
struct StepChoice {
  std::vector<Held> needs;   // by operand
  std::vector<Held> leaves;  // by result
  double seconds = 0, traffic = 0;
  double extra = 0;  // bytes of memory while it runs, without operands and results
  // By operand, or empty: how devices hold an input that no earlier step reads. Each step that reads it gathers what it
  // needs, and drops it.
  std::vector<std::optional<Held>> parts = {};
  std::uint16_t stage = 0;  // where it runs
};
struct SearchStep {
  std::vector<std::uint32_t> operands, results;  // values
  std::vector<StepChoice> choices;
};
struct SearchValue {
  bool given = false;              // an input: held in any sharding from the start
  std::optional<Held> fixed = {};  // an input that is held like this
  bool kept = false;               // an output
  std::optional<Held> left = {};   // an output that must be held so at the end
};
// What a value in one sharding takes, and what it takes to make another one of it.
class HoldCosts {
 public:
  virtual ~HoldCosts() = default;
  virtual double bytes(std::uint32_t value, Held held) = 0;
  virtual TransferCost reshard(std::uint32_t value, Held from, Held to) = 0;
  // What an operation reads of a value that is held otherwise. A device that has all of it reads it in place.
  virtual bool is_part(Held) { return false; }
  // From the devices of one stage to those of a later one.
  virtual TransferCost to_later_stage(std::uint32_t, Held) { return {}; }
  // Of what a device holds, into other memory of it.
  virtual double seconds_of_copy(std::uint32_t, Held) { return 0; }
};
struct SearchProblem {
  std::vector<SearchValue> values;
  std::vector<SearchStep> steps;
  // Each stage has devices of its own, which run some of the steps after those of the stage before.
  std::uint16_t stages = 1;
};

// What matters most where not every plan can be kept.
enum class Goal : std::uint8_t { seconds, memory, traffic };
inline double value_of(const Objectives& own, Goal goal) {
  return goal == Goal::seconds ? own.seconds : goal == Goal::memory ? own.memory : own.traffic;
}

constexpr double unlimited = std::numeric_limits<double>::infinity();
struct SearchLimits {
  Goal goal = Goal::seconds;
  std::size_t most_states = 512;
  std::size_t most_labels = 24;                            // of one state that differ in time, memory and traffic
  Objectives at_most = {unlimited, unlimited, unlimited};  // plans that exceed it are not found
  // Asked before each step. Once true, few states are kept from there on, so that the search ends soon. It may throw to end it
  // without a result.
  std::function<bool()> is_hurried = {};
};
inline bool is_hurried(const SearchLimits& limits) { return limits.is_hurried && limits.is_hurried(); }
struct Chosen {
  std::vector<std::uint32_t> choices;  // by step
  Objectives cost;
};
struct Front {
  std::vector<Chosen> plans;  // none is beaten in time, memory and traffic at once; fastest first
  bool goal_is_exact = true;  // no combination of shardings was dropped, so the first of the goal is exact
  bool is_exact = true;       // … and no label
  std::size_t labels = 0;     // that were compared: the work of the search, in steps that take the same time
};

Front sweep(const SearchProblem& problem, HoldCosts& costs, const SearchLimits& limits);

// By value: the shardings in which steps read it, for given choices.
std::vector<std::vector<Held>> read_shardings(const SearchProblem& problem, const std::vector<std::uint32_t>& choices);

// A value that is moved before a step reads it, or at the end: then the step is the number of steps.
struct HeldMove {
  std::uint32_t value = 0;
  std::size_t step = 0;
  Held from = 0, to = 0;
  TransferCost cost = {};
};
// The cost of given choices. `moves`: where to list what is moved, if wanted.
Objectives cost_of(const SearchProblem& problem, HoldCosts& costs, const std::vector<std::uint32_t>& choices,
                   std::vector<HeldMove>* moves = nullptr);

}  // namespace tap::cost
