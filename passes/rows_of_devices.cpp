#include "passes/rows_of_devices.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/device_places.h"
#include "ir/mesh_position.h"

namespace tap::passes {

using namespace ir;

namespace {

template <class T>
using ByDevice = std::map<std::int64_t, std::vector<T>>;

// Numbers of devices at which a coordinate along an axis, or a part of one that blocks are placed on, begins anew: rows go along
// coordinates, so that those of different values fit. Each divides the next.
std::vector<std::int64_t> turns_of(const Program& program, const Graph& graph) {
  std::set<std::int64_t> found;
  for (const Operation& operation : graph.operations) {
    const Mesh* mesh = mesh_of(program, operation);
    if (mesh == nullptr) continue;
    if (!mesh->devices.empty()) return {};  // in no order
    std::int64_t minor = 1;
    for (auto axis = mesh->axes.rbegin(); axis != mesh->axes.rend(); ++axis) {
      for (const BlockPlacement& p : operation.placements) {
        if (!p.axis || p.axis->name != axis->name || !p.axis->sub) continue;
        const std::int64_t end = minor * axis->size / p.axis->sub->pre_size;
        found.insert({end / p.axis->sub->size, end});
      }
      found.insert(minor *= axis->size);
    }
  }
  std::vector<std::int64_t> turns;
  for (std::int64_t turn : found)
    if (turn > 1 && (turns.empty() || turn % turns.back() == 0)) turns.push_back(turn);
  return turns;
}

template <class T>
std::vector<T> in_rows_along(const std::vector<std::int64_t>& turns, ByDevice<T> lists) {
  for (std::int64_t turn : turns) {
    ByDevice<std::vector<T>> before;
    ByDevice<T> after;
    for (auto& [device, list] : lists) before[device < 0 ? device : device / turn * turn].push_back(std::move(list));
    for (auto& [device, part] : before) after[device] = in_rows_across(std::move(part));
    lists = std::move(after);
  }
  std::vector<T> all;
  for (auto& [device, list] : lists)
    for (T& one : list) all.push_back(std::move(one));
  return all;
}

// Takes each row of what is held of a value, and what its members were.
template <class Take>
void each_row(const std::vector<std::int64_t>& turns, const BlockGraph& listed, const std::vector<HeldId>& ids,
              Take take) {
  ByDevice<Held> lists;
  std::map<std::int64_t, HeldId> by_device;
  for (HeldId id : ids) {
    lists[listed[id].device].push_back(listed[id]);
    by_device[listed[id].device] = id;
  }
  for (Held& row : in_rows_along(turns, std::move(lists))) {
    std::vector<HeldId> in_row;
    for (const Held& one : members(row)) in_row.push_back(by_device.at(one.device));
    take(std::move(row), in_row);
  }
}

class RowMaker {
 public:
  RowMaker(const Program& program, BlockGraph listed)
      : listed_(std::move(listed)), turns_(turns_of(program, program[listed_.graph])) {}

  BlockGraph run() {
    all_.graph = listed_.graph;
    hold();
    for (auto first = listed_.tasks.begin(); first != listed_.tasks.end();) {
      ByDevice<Task> lists;
      const OperationId o = operation_of(*first);
      for (; first != listed_.tasks.end() && operation_of(*first) == o; ++first) add(std::move(*first), lists);
      for (auto& [device, list] : lists) list = in_rows(std::move(list));
      for (Task& task : in_rows_along(turns_, std::move(lists))) all_.tasks.push_back(std::move(task));
    }
    all_.inputs = rows_of(listed_.inputs);
    for (const std::vector<HeldId>& holders : listed_.outputs) all_.outputs.push_back(rows_of(holders));
    return std::move(all_);
  }

 private:
  // Of each value what is held, apart from what of it is given.
  void hold() {
    const std::set<HeldId> given(listed_.inputs.begin(), listed_.inputs.end());
    std::map<std::pair<ValueId, bool>, std::size_t> known;
    std::vector<std::vector<HeldId>> ids;
    for (std::size_t h = 0; h < listed_.held.size(); ++h) {
      auto [it, fresh] = known.try_emplace({listed_.held[h].value, given.contains(HeldId(h))}, ids.size());
      if (fresh) ids.emplace_back();
      ids[it->second].emplace_back(h);
    }
    members_.resize(listed_.held.size());
    for (const std::vector<HeldId>& of_one : ids)
      each_row(turns_, listed_, of_one, [this](Held row, const std::vector<HeldId>& row_ids) {
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
    std::int64_t device = everywhere;
    if (auto* a = std::get_if<Application>(&task)) {
      device = a->device;
      for (auto* list : {&a->operands, &a->results}) std::for_each(list->begin(), list->end(), rename);
    } else {
      auto& move = std::get<Move>(task);
      device = listed_[move.to.id].device;
      rename(move.from), rename(move.to);
    }
    lists[device].push_back(std::move(task));
  }

  std::vector<HeldId> rows_of(const std::vector<HeldId>& ids) const {
    std::vector<HeldId> rows;
    for (HeldId id : ids)
      if (members_[id.index()].number == 0) rows.push_back(members_[id.index()].id);
    return rows;
  }

  BlockGraph listed_;
  const std::vector<std::int64_t> turns_;
  BlockGraph all_;
  std::vector<HeldMember> members_;  // by what was held
};

}  // namespace

std::map<HeldId, HeldMember> numbers_in_rows(const Program& program, const BlockGraph& listed,
                                             const std::vector<HeldId>& held_of_value) {
  std::map<HeldId, HeldMember> numbers;
  each_row(turns_of(program, program[listed.graph]), listed, held_of_value,
           [&](const Held&, const std::vector<HeldId>& ids) {
             for (std::size_t n = 0; n < ids.size(); ++n) numbers[ids[n]] = {ids[0], static_cast<std::int64_t>(n)};
           });
  return numbers;
}

BlockGraph in_rows_of_devices(const Program& program, BlockGraph listed) {
  return RowMaker(program, std::move(listed)).run();
}

}  // namespace tap::passes
