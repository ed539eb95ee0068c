#include "cost/work/shared_loads.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "cost/work/loop_values.h"

namespace tap::cost {

namespace {

constexpr double most_points = 256;  // of unrolled loops; with more, nothing is taken for shared

// Loads of one tensor that differ only by constants.
using Kind = std::pair<std::uint32_t, std::vector<std::vector<std::int64_t>>>;
using Place = std::vector<std::int64_t>;

Kind kind_of(const backend::Load& load) {
  Kind kind{load.tensor, {}};
  for (const backend::Coordinate& c : load.at) kind.second.push_back(c.affine.coefficients);
  return kind;
}

// By how much each iteration of the unrolled loops moves the load, from the first.
std::vector<Place> moves_of(const backend::Load& load, const std::vector<Progress>& unrolled) {
  std::vector<Place> moves{Place(load.at.size(), 0)};
  for (const Progress& loop : unrolled) {
    Place step;
    for (const backend::Coordinate& c : load.at)
      step.push_back(LoopValues::step_of(c.affine, loop.variable) * static_cast<std::int64_t>(loop.step));
    if (std::ranges::all_of(step, [](std::int64_t s) { return s == 0; })) continue;
    if (static_cast<double>(moves.size()) * loop.rounds > most_points) return {};
    const std::vector<Place> before = moves;
    for (std::int64_t k = 1; k < static_cast<std::int64_t>(loop.rounds); ++k)
      for (Place move : before) {
        for (std::size_t a = 0; a < step.size(); ++a) move[a] += k * step[a];
        moves.push_back(std::move(move));
      }
  }
  return moves;
}

}  // namespace

std::vector<double> fractions_of_loads(const std::vector<const backend::Load*>& loads,
                                       const std::vector<Progress>& unrolled) {
  std::map<Kind, std::vector<std::size_t>> kinds;
  for (std::size_t l = 0; l < loads.size(); ++l) kinds[kind_of(*loads[l])].push_back(l);
  std::vector<double> fractions(loads.size(), 1);
  for (const auto& [kind, members] : kinds) {
    const auto has_data = [](const backend::Coordinate& c) { return c.data.has_value(); };
    if (members.size() < 2 || std::ranges::any_of(loads[members[0]]->at, has_data)) continue;
    const std::vector<Place> moves = moves_of(*loads[members[0]], unrolled);
    std::set<Place> places;
    for (std::size_t l : members)
      for (Place place : moves) {
        for (std::size_t a = 0; a < place.size(); ++a) place[a] += loads[l]->at[a].affine.offset;
        places.insert(std::move(place));
      }
    if (moves.empty()) continue;
    for (std::size_t l : members)
      fractions[l] = static_cast<double>(places.size()) / static_cast<double>(members.size() * moves.size());
  }
  return fractions;
}

}  // namespace tap::cost
