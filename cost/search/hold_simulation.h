// How the live values are held while steps run, and what a choice of a step changes about that.
//
//   A held as [{x}, {}]; a step reads it as [{}, {}] and writes B: A is moved, both versions are in memory until A's last reader
#pragma once

#include <array>
#include <span>

#include "cost/search/frontier.h"

namespace tap::cost {

// How a live value is held: its versions, the first as it was written.
struct Holding {
  std::uint32_t value = 0;
  std::uint16_t count = 0;
  std::array<Held, 7> held = {};  // more are not remembered, so that they are moved again
  std::span<const Held> versions() const { return {held.data(), count}; }
  bool operator==(const Holding&) const = default;
  auto operator<=>(const Holding&) const = default;

  void set(Held version) { *this = {value, 1, {version}}; }
  // The order of the versions after the first does not matter.
  void add(Held version);
};
using Holdings = std::vector<Holding>;  // by value

// The change of a plan's cost by a step.
struct Change {
  double seconds = 0, traffic = 0;
  double before = 0;  // bytes that are added before the step runs
  double peak = 0;    // bytes above those of before, at the most
  double freed = 0;   // afterwards
};
// No worse, whatever the cost so far.
inline bool dominates(const Change& a, const Change& b) {
  return a.seconds <= b.seconds && a.traffic <= b.traffic && a.peak <= b.peak &&
         a.before - a.freed <= b.before - b.freed;
}

// A plan's cost so far.
struct CostSoFar {
  Objectives cost;
  double live = 0;  // bytes now
};
CostSoFar after(const CostSoFar& cost, const Change& change);

class HoldSimulation {
 public:
  HoldSimulation(const SearchProblem& problem, HoldCosts& costs);

  Holdings start(double& bytes);
  // Depends only on the holdings of the step's operands, and changes only those and its results: others may be left out.
  Change apply(Holdings& holdings, std::size_t step, const StepChoice& choice);
  // Outputs get the shardings that they must have.
  Change finish(Holdings& holdings);

 private:
  bool is_done(const Holding& holding, std::size_t step, Change& change);
  double bytes_of(const Holding& holding);
  void provide(Holdings& holdings, std::uint32_t value, Held need, Change& change);

  const SearchProblem& problem_;
  HoldCosts& costs_;
  std::vector<std::size_t> last_;  // by value: the last step that reads it
};

}  // namespace tap::cost
