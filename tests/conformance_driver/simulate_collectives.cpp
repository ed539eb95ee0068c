#include "tests/conformance_driver/simulate_collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;

namespace {

// Of each cell that a device holds: who contributed to it, by place along the axes of partials. What is whole has all.
using Contributions = std::set<std::vector<std::int64_t>>;
using Cells = std::map<Point, Contributions>;
using Devices = std::map<std::int64_t, Cells>;  // by id

std::vector<std::int64_t> coordinates(const Mesh& mesh, std::int64_t index, const Axes& axes) {
  std::vector<std::int64_t> list;
  for (const AxisRef& axis : axes) list.push_back(coordinate(mesh, position_of(mesh, index), axis));
  return list;
}

template <class Visit>
void for_cells(const Box& box, const Visit& visit) {
  for (auto p = first_point(box); p;) {
    visit(*p);
    if (!next_point(box, *p)) break;
  }
}

std::map<std::int64_t, Box> boxes(const OnMesh& placed, const Shape& shape) {
  std::map<std::int64_t, Box> result;
  for (std::int64_t index = 0; index < device_count(placed.mesh); ++index)
    result[device_at(placed.mesh, index)] = box_at(placed.mesh, placed.sharding, shape, index);
  return result;
}

// Devices that differ in these axes only, in the order of their places.
std::vector<std::vector<std::int64_t>> groups(const Mesh& mesh, const Axes& axes) {
  Axes all;
  for (std::size_t a = 0; a < mesh.axes.size(); ++a) all.push_back({AxisId(a), {}});
  std::map<std::vector<std::int64_t>, std::vector<std::int64_t>> by_other_axes;
  for (std::int64_t index = 0; index < device_count(mesh); ++index)
    by_other_axes[coordinates(mesh, index, without(mesh, all, axes))].push_back(device_at(mesh, index));
  std::vector<std::vector<std::int64_t>> list;
  for (auto& [rest, members] : by_other_axes) list.push_back(std::move(members));
  return list;
}

Axes axes_of(const Collective& step) {
  Axes all = step.over;
  if (step.kind != CollectiveKind::reduce_scatter)
    for (const Axes& axes : step.axes) all.insert(all.end(), axes.begin(), axes.end());
  return all;
}

class Simulation {
 public:
  Simulation(const OnMesh& from, const OnMesh& to, const Shape& shape) : from_(from), to_(to), shape_(shape) {
    for (std::int64_t index = 0; index < device_count(from.mesh); ++index) {
      Contributions own{coordinates(from.mesh, index, from.sharding.unreduced)};
      whole_.insert(own.begin(), own.end());
      Cells& cells = now_[device_at(from.mesh, index)];
      for_cells(box_at(from.mesh, from.sharding, shape, index), [&](const Point& p) { cells[p] = own; });
    }
  }

  SimulatedSteps run(const std::vector<Collective>& steps) {
    for (const Collective& step : steps) {
      result_.received.push_back(0);
      now_ = after(step);
    }
    compare();
    return std::move(result_);
  }

 private:
  const Mesh& mesh_of(const Sharding& sharding) const {
    return sharding.mesh == from_.sharding.mesh ? from_.mesh : to_.mesh;
  }
  void fail(std::string what) {
    if (result_.failures.size() < 10) result_.failures.push_back(std::move(what));
  }

  Devices after(const Collective& step) {
    const Mesh &before = mesh_of(step.before), &later = mesh_of(step.after);
    std::map<std::int64_t, Box> expected = boxes({later, step.after}, shape_);
    Devices next;
    if (step.kind == CollectiveKind::copy || step.kind == CollectiveKind::collective_permute) {
      for (const auto& [device, box] : expected) next[device] = take(step, partners(step, device), device, box);
      return next;
    }
    for (const auto& group : groups(before, axes_of(step)))
      for (std::int64_t device : group) next[device] = take(step, group, device, expected.at(device));
    return next;
  }

  // Who may send to a device: of partials only those at its own place along the axes of the partials.
  std::vector<std::int64_t> partners(const Collective& step, std::int64_t device) const {
    const Axes& partial = step.before.unreduced;
    const Mesh& mesh = mesh_of(step.before);
    Axes rest;
    for (std::size_t a = 0; a < mesh.axes.size(); ++a) rest.push_back({AxisId(a), {}});
    for (const auto& group : groups(mesh, without(mesh, rest, partial)))
      if (partial.empty() || std::find(group.begin(), group.end(), device) != group.end()) return group;
    TAP_UNREACHABLE("a device that is not in the mesh of its partials");
  }

  Cells take(const Collective& step, const std::vector<std::int64_t>& group, std::int64_t device, const Box& box) {
    switch (step.kind) {
      case CollectiveKind::collective_permute: return of_one(group, device, box);
      case CollectiveKind::all_slice: return from({device}, device, box, false);
      case CollectiveKind::to_partial: {
        Cells cells = from({device}, device, box, false);
        if (device != group.front())
          for (auto& [p, who] : cells) who.clear();
        return cells;
      }
      case CollectiveKind::all_reduce:
      case CollectiveKind::reduce_scatter: return from(group, device, box, true);
      case CollectiveKind::all_to_all:
      case CollectiveKind::all_gather:
      case CollectiveKind::copy: return from(group, device, box, false);
    }
    TAP_UNREACHABLE("no such collective");
  }

  // Each cell from the device itself or else from one of the group; combined, from all of it.
  Cells from(const std::vector<std::int64_t>& group, std::int64_t device, const Box& box, bool combined) {
    Cells cells;
    std::int64_t got = 0;
    for_cells(box, [&](const Point& p) {
      std::vector<std::int64_t> order{device};
      order.insert(order.end(), group.begin(), group.end());
      bool found = false, own = false;
      for (std::int64_t other : order) {
        auto holder = now_.find(other);
        if (holder == now_.end() || !holder->second.count(p)) continue;
        const Contributions& theirs = holder->second.at(p);
        cells[p].insert(theirs.begin(), theirs.end());
        own |= other == device;
        found = true;
        if (!combined) break;
      }
      got += !own || (combined && group.size() > 1);
      if (!found) fail(fmt::format("device {} gets no cell of {} from its group", device, to_string(box)));
    });
    count(got);
    return cells;
  }

  // All that one device has, and no more.
  Cells of_one(const std::vector<std::int64_t>& group, std::int64_t device, const Box& box) {
    std::vector<std::int64_t> order{device};
    order.insert(order.end(), group.begin(), group.end());
    for (std::int64_t other : order) {
      auto holder = now_.find(other);
      if (holder == now_.end() || static_cast<std::int64_t>(holder->second.size()) != box.size()) continue;
      bool all = true;
      for_cells(box, [&](const Point& p) { all &= holder->second.count(p) > 0; });
      if (!all) continue;
      if (other != device) count(box.size());
      return holder->second;
    }
    fail(fmt::format("no device has just the box {} of device {}", to_string(box), device));
    return {};
  }

  void count(std::int64_t got) {
    result_.total_received += got;
    result_.received.back() = std::max(result_.received.back(), got);
  }

  // In the end each device holds its box, and what a group of partials has together is the whole.
  void compare() {
    for (const auto& [device, box] : boxes(to_, shape_)) {
      auto holder = now_.find(device);
      const Cells none, &cells = holder == now_.end() ? none : holder->second;
      for_cells(box, [&](const Point& p) {
        if (!cells.count(p)) fail(fmt::format("device {} lacks a cell of {}", device, to_string(box)));
      });
      if (static_cast<std::int64_t>(cells.size()) != box.size())
        fail(fmt::format("device {} holds {} cells, not those of {}", device, cells.size(), to_string(box)));
    }
    if (result_.failures.empty())
      for (const auto& group : groups(to_.mesh, to_.sharding.unreduced)) compare_contributions(group);
  }

  // Each contribution once: what two devices both have would be added twice.
  void compare_contributions(const std::vector<std::int64_t>& group) {
    for (const auto& [p, own] : now_.at(group.front())) {
      Contributions together;
      std::size_t count = 0;
      for (std::int64_t device : group) {
        const Contributions& theirs = now_.at(device).at(p);
        together.insert(theirs.begin(), theirs.end());
        count += theirs.size();
      }
      if (together != whole_ || count != whole_.size())
        return fail(fmt::format("device {} and its group have {} of {} contributions to a cell, {} times in all",
                                group.front(), together.size(), whole_.size(), count));
    }
  }

  const OnMesh &from_, &to_;
  const Shape& shape_;
  Devices now_;
  Contributions whole_;
  SimulatedSteps result_;
};

}  // namespace

SimulatedSteps simulate(const OnMesh& from, const OnMesh& to, const Shape& shape,
                        const std::vector<Collective>& steps) {
  return Simulation(from, to, shape).run(steps);
}

}  // namespace tap::passes
