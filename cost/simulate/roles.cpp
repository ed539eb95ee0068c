#include "cost/simulate/roles.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "ir/shardings/mesh_position.h"

namespace tap::cost {

namespace {

constexpr int rounds = 3;  // in each, a role also depends on those of the last one that send to it

using Position = std::vector<std::int64_t>;

std::int64_t device_of(const ir::Mesh& mesh, const Position& position) {
  std::int64_t device = 0;
  for (std::size_t axis = 0; axis < position.size(); ++axis) device = device * mesh.axes[axis].size + position[axis];
  return device;
}

std::size_t segment_of(const std::vector<std::int64_t>& begins, std::int64_t at) {
  return static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), at) - begins.begin()) - 1;
}

class RoleSearch {
 public:
  RoleSearch(const ir::Mesh& mesh, DeviceParts& parts) : parts_(parts) {
    found_.mesh = mesh;
    found_.begins.assign(mesh.axes.size(), {0});
  }

  Roles run() {
    for (int round = 0; round < rounds; ++round) {
      known_.clear();
      std::vector<std::vector<std::int64_t>> begins;
      for (std::size_t axis = 0; axis < found_.mesh.axes.size(); ++axis) begins.push_back(along(axis));
      const bool same = begins == found_.begins;
      found_.begins = std::move(begins);
      if (same) break;
    }
    list();
    return std::move(found_);
  }

 private:
  const std::string& at(const Position& position) {
    const std::int64_t device = device_of(found_.mesh, position);
    std::string& text = known_[device];
    if (text.empty())
      text = signature(parts_.of(device), device, parts_.model().cluster(),
                       [&](std::int64_t other) { return found_.of(other); });
    return text;
  }

  // At the beginning, the middle and the end of the other axes.
  std::vector<std::int64_t> along(std::size_t axis) {
    std::set<std::int64_t> begins{0};
    for (const int place : {0, 1, 2}) {
      Position position;
      for (const ir::MeshAxis& other : found_.mesh.axes)
        position.push_back(place == 0 ? 0 : place == 1 ? other.size / 2 : other.size - 1);
      bisect(position, axis, 0, found_.mesh.axes[axis].size - 1, begins);
    }
    return {begins.begin(), begins.end()};
  }
  void bisect(Position& position, std::size_t axis, std::int64_t lo, std::int64_t hi, std::set<std::int64_t>& begins) {
    auto text = [&](std::int64_t coordinate) {
      position[axis] = coordinate;
      return at(position);
    };
    if (hi <= lo) return;
    if (hi == lo + 1) {
      if (text(lo) != text(hi)) begins.insert(hi);
      return;
    }
    const std::int64_t middle = lo + (hi - lo) / 2;
    const std::string between = text(middle);
    if (text(lo) == between && text(hi) == between) return;
    bisect(position, axis, lo, middle, begins);
    bisect(position, axis, middle, hi, begins);
  }

  void list() {
    Position segment(found_.mesh.axes.size(), 0);
    bool more = true;
    while (more) {
      Position middle;
      std::int64_t size = 1;
      for (std::size_t axis = 0; axis < segment.size(); ++axis) {
        const auto number = static_cast<std::size_t>(segment[axis]);
        const std::vector<std::int64_t>& begins = found_.begins[axis];
        const std::int64_t end = number + 1 < begins.size() ? begins[number + 1] : found_.mesh.axes[axis].size;
        middle.push_back(begins[number] + (end - begins[number]) / 2);
        size *= end - begins[number];
      }
      found_.representatives.push_back(device_of(found_.mesh, middle));
      found_.sizes.push_back(size);
      more = false;
      for (std::size_t axis = segment.size(); axis-- > 0 && !more;) {
        more = ++segment[axis] < static_cast<std::int64_t>(found_.begins[axis].size());
        if (!more) segment[axis] = 0;
      }
    }
  }

  DeviceParts& parts_;
  Roles found_;
  std::map<std::int64_t, std::string> known_;  // by device
};

}  // namespace

std::size_t Roles::of(std::int64_t device) const {
  if (mesh.axes.empty()) return static_cast<std::size_t>(device);
  const Position position = ir::position_of(mesh, device);
  std::size_t role = 0;
  for (std::size_t axis = 0; axis < position.size(); ++axis)
    role = role * begins[axis].size() + segment_of(begins[axis], position[axis]);
  return role;
}

std::int64_t Roles::devices() const { return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}); }

Roles one_for_each(std::int64_t devices) {
  Roles roles;
  for (std::int64_t device = 0; device < devices; ++device) {
    roles.representatives.push_back(device);
    roles.sizes.push_back(1);
  }
  return roles;
}

Roles roles_of(const ir::Mesh& mesh, DeviceParts& parts) { return RoleSearch(mesh, parts).run(); }

}  // namespace tap::cost
