#include "passes/splits/rows_of_devices.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "ir/graph.h"
#include "ir/shardings/device_assignment.h"
#include "ir/shardings/mesh_position.h"

namespace tap::passes {

using namespace ir;

namespace {

template <class T>
using ByDevice = std::map<std::int64_t, std::vector<T>>;

// The positions of devices along which rows run. A mesh with an order of its own has its own numbering.
class DeviceOrder {
 public:
  DeviceOrder(const Program& program, const Graph& graph) {
    std::vector<const Mesh*> meshes;
    bool listed = false;
    for (const Operation& operation : graph.operations) {
      if (const Mesh* mesh = mesh_of(program, operation)) meshes.push_back(mesh);
      listed |= std::ranges::count(operation.placements, Placement::devices, &BlockPlacement::placement) > 0;
    }
    if (meshes.empty()) return;
    auto other = [&](const Mesh* mesh) { return mesh->devices != meshes[0]->devices; };
    if (std::ranges::any_of(meshes, other) || (listed && !meshes[0]->devices.empty())) return;  // no common order
    devices_ = meshes[0]->devices;
    for (std::size_t index = 0; index < devices_.size(); ++index)
      index_of_[devices_[index]] = static_cast<std::int64_t>(index);
    find_turns(program, graph);
  }

  const std::vector<std::int64_t>& devices() const { return devices_; }  // by position; none: they are the positions
  std::int64_t index(std::int64_t device) const {
    return device == everywhere || devices_.empty() ? device : index_of_.at(device);
  }

  template <class T>
  std::vector<T> in_rows_along(ByDevice<T> lists) const {
    for (std::int64_t turn : turns_) {
      ByDevice<std::vector<T>> before;
      ByDevice<T> after;
      for (auto& [index, list] : lists) before[index < 0 ? index : index / turn * turn].push_back(std::move(list));
      for (auto& [index, part] : before) after[index] = in_rows_across(std::move(part));
      lists = std::move(after);
    }
    std::vector<T> all;
    for (auto& [index, list] : lists)
      for (T& one : list) all.push_back(std::move(one));
    return all;
  }

 private:
  // Positions at which a coordinate along an axis, or along a part of one that blocks are placed on, restarts: rows
  // follow coordinates, so that those of different values match. Each divides the next.
  void find_turns(const Program& program, const Graph& graph) {
    std::set<std::int64_t> found;
    for (const Operation& operation : graph.operations) {
      const Mesh* mesh = mesh_of(program, operation);
      if (mesh == nullptr) continue;
      std::int64_t minor = 1;
      for (std::size_t a = mesh->axes.size(); a-- > 0;) {
        const std::int64_t size = mesh->axes[a].size;
        for (const BlockPlacement& p : operation.placements) {
          if (!p.axis || p.axis->id != AxisId(a) || !p.axis->sub) continue;
          const std::int64_t end = minor * size / p.axis->sub->pre_size;
          found.insert({end / p.axis->sub->size, end});
        }
        found.insert(minor *= size);
      }
    }
    for (std::int64_t turn : found)
      if (turn > 1 && (turns_.empty() || turn % turns_.back() == 0)) turns_.push_back(turn);
  }

  std::vector<std::int64_t> devices_;
  std::unordered_map<std::int64_t, std::int64_t> index_of_;
  std::vector<std::int64_t> turns_;
};

// Passes on each row of a value's boxes, and its members.
template <class Take>
void each_row(const DeviceOrder& order, const BlockGraph& listed, const std::vector<HeldId>& ids, Take take) {
  ByDevice<Held> lists;
  std::map<std::int64_t, HeldId> by_index;
  for (HeldId id : ids) {
    Held one = listed[id];
    one.device = order.index(one.device);
    by_index[one.device] = id;
    lists[one.device].push_back(std::move(one));
  }
  for (Held& row : order.in_rows_along(std::move(lists))) {
    std::vector<HeldId> in_row;
    for (const Held& one : members(row)) in_row.push_back(by_index.at(one.device));
    take(std::move(row), in_row);
  }
}

class RowMaker {
 public:
  RowMaker(const Program& program, BlockGraph listed)
      : listed_(std::move(listed)), order_(program, program[listed_.graph]) {}

  BlockGraph run() {
    all_.graph = listed_.graph;
    all_.devices = order_.devices();
    add_held_rows();
    for (auto first = listed_.tasks.begin(); first != listed_.tasks.end();) {
      ByDevice<Task> lists;
      const OperationId o = operation_of(*first);
      for (; first != listed_.tasks.end() && operation_of(*first) == o; ++first) add(std::move(*first), lists);
      for (auto& [device, list] : lists) list = in_rows(std::move(list));
      for (Task& task : order_.in_rows_along(std::move(lists))) all_.tasks.push_back(std::move(task));
    }
    all_.inputs = rows_of(listed_.inputs);
    for (const std::vector<HeldId>& holders : listed_.outputs) all_.outputs.push_back(rows_of(holders));
    return std::move(all_);
  }

 private:
  // The held boxes of each value, with those of inputs separately.
  void add_held_rows() {
    const std::set<HeldId> inputs(listed_.inputs.begin(), listed_.inputs.end());
    std::map<std::pair<ValueId, bool>, std::size_t> known;
    std::vector<std::vector<HeldId>> ids;
    for (std::size_t h = 0; h < listed_.held.size(); ++h) {
      auto [it, fresh] = known.try_emplace({listed_.held[h].value, inputs.contains(HeldId(h))}, ids.size());
      if (fresh) ids.emplace_back();
      ids[it->second].emplace_back(h);
    }
    members_.resize(listed_.held.size());
    for (const std::vector<HeldId>& of_one : ids)
      each_row(order_, listed_, of_one, [this](Held row, const std::vector<HeldId>& row_ids) {
        for (std::size_t n = 0; n < row_ids.size(); ++n)
          members_[row_ids[n].index()] = {HeldId(all_.held.size()), static_cast<std::int64_t>(n)};
        all_.held.push_back(std::move(row));
      });
  }

  void add(Task task, ByDevice<Task>& lists) const {
    auto rename = [this](HeldMember& m) {
      const HeldMember& first = members_[m.id.index()];
      m = {first.id, first.number + m.number};
    };
    std::int64_t index = everywhere;
    if (auto* a = std::get_if<Application>(&task)) {
      index = a->device = order_.index(a->device);
      for (auto* list : {&a->operands, &a->results}) std::for_each(list->begin(), list->end(), rename);
    } else {
      auto& move = std::get<Move>(task);
      index = order_.index(listed_[move.to.id].device);
      rename(move.from), rename(move.to);
    }
    lists[index].push_back(std::move(task));
  }

  std::vector<HeldId> rows_of(const std::vector<HeldId>& ids) const {
    std::vector<HeldId> rows;
    for (HeldId id : ids)
      if (members_[id.index()].number == 0) rows.push_back(members_[id.index()].id);
    return rows;
  }

  BlockGraph listed_;
  const DeviceOrder order_;
  BlockGraph all_;
  std::vector<HeldMember> members_;  // by held box
};

}  // namespace

std::map<HeldId, HeldMember> numbers_in_rows(const Program& program, const BlockGraph& listed,
                                             const std::vector<HeldId>& held_of_value) {
  std::map<HeldId, HeldMember> numbers;
  each_row(DeviceOrder(program, program[listed.graph]), listed, held_of_value,
           [&](const Held&, const std::vector<HeldId>& ids) {
             for (std::size_t n = 0; n < ids.size(); ++n) numbers[ids[n]] = {ids[0], static_cast<std::int64_t>(n)};
           });
  return numbers;
}

BlockGraph in_rows_of_devices(const Program& program, BlockGraph listed) {
  return RowMaker(program, std::move(listed)).run();
}

}  // namespace tap::passes
