// How the live values are held while steps run, and what a choice of a step changes about that.
//
//   A held as [{x}, {}]; a step reads it as [{}, {}] and writes B: A is moved, both versions are in memory until A's last reader
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "cost/search/frontier.h"

namespace tap::cost {

// How a live value is held: its versions, the first as it was written.
struct Holding {
  std::uint32_t value = 0;
  std::uint16_t count = 0;
  bool in_parts = false;          // an input of which each step gathers what it needs
  std::uint16_t stage = 0;        // whose devices hold it
  std::array<Held, 7> held = {};  // more are not remembered, so that they are moved again
  std::span<const Held> versions() const { return {held.data(), count}; }
  bool operator==(const Holding&) const = default;
  auto operator<=>(const Holding&) const = default;

  void set(Held version, std::uint16_t at) { *this = {value, 1, false, at, {version}}; }
  // The order of the versions after the first does not matter.
  void add(Held version);
};
using Holdings = std::vector<Holding>;  // by value
// The last of them, if the problem has stages: its version is the number of the current one.
inline constexpr std::uint32_t current_stage = ~std::uint32_t{0};

// The change of a plan's cost by a step.
struct Change {
  double seconds = 0, traffic = 0;
  double inputs = 0;  // bytes of inputs that no earlier step reads: they are in memory from the start to the end
  double before = 0;  // other bytes that are added before the step runs
  double peak = 0;    // bytes above those of before the step, at the most
  double freed = 0;   // afterwards
  bool begins_stage = false;  // the memory is that of other devices
  double added() const { return inputs + before - freed; }
};
// No worse, whatever the cost so far.
inline bool dominates(const Change& a, const Change& b) {
  return a.seconds <= b.seconds && a.traffic <= b.traffic && a.inputs <= b.inputs && a.peak <= b.peak &&
         a.added() <= b.added();
}

// A plan's cost so far.
struct CostSoFar {
  Objectives cost;
  double live = 0;  // bytes now, on the devices of the current stage
  double most = 0;  // at the peak, on these devices
};
CostSoFar at_start(double bytes);
inline CostSoFar after(const CostSoFar& cost, const Change& change) {
  CostSoFar next = cost;
  if (change.begins_stage) next.live = next.most = 0;
  next.cost.seconds += change.seconds;
  next.cost.traffic += change.traffic;
  next.most = std::max(next.most + change.inputs, next.live + change.peak);
  next.cost.memory = std::max(next.cost.memory, next.most);
  next.live += change.added();
  return next;
}

class HoldSimulation {
 public:
  // `moves`: where to list what is moved, if wanted.
  HoldSimulation(const SearchProblem& problem, HoldCosts& costs, std::vector<HeldMove>* moves = nullptr);

  Holdings start(double& bytes);
  // Depends only on the holdings of the step's operands and on the stage, and changes only those and its results: others
  // may be left out. Infinite seconds: the step cannot run at this stage.
  Change apply(Holdings& holdings, std::size_t step, const StepChoice& choice);
  // Outputs get the shardings that they must have.
  Change finish(Holdings& holdings);

 private:
  void bring_to_stage(Holdings& holdings, std::uint32_t value, Held need, Change& change);
  bool is_done(const Holding& holding, std::size_t step, Change& change);
  double bytes_of(const Holding& holding);
  void provide_operand(Holdings& holdings, const SearchStep& step, const StepChoice& choice, std::size_t operand,
                       Change& change);
  void provide(Holdings& holdings, std::uint32_t value, Held need, Change& change);
  void add(Change& change, const HeldMove& move);

  const SearchProblem& problem_;
  HoldCosts& costs_;
  std::vector<HeldMove>* moves_;
  std::size_t step_ = 0;           // that is applied
  std::vector<std::size_t> last_;  // by value: the last step that reads it
  std::uint16_t stage_ = 0;        // of the step that is applied
};

}  // namespace tap::cost
