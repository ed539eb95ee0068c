#include "backend/schedule/shared_memory.h"

#include <algorithm>
#include <utility>

#include "backend/schedule/copied_boxes.h"
#include "ir/graph.h"
#include "support/checked.h"

namespace tap::backend {

using namespace ir;

namespace {

constexpr std::size_t most_rows = 256;  // of a value that are compared with each other

// By value: the value that it is a copy of.
std::vector<ValueId> sources_of_transfers(const Program& program, const Graph& graph) {
  std::vector<ValueId> sources;
  for (std::size_t v = 0; v < graph.values.size(); ++v) sources.emplace_back(v);
  for (const Operation& operation : graph.operations)
    if (program[operation.op].transfer())
      sources[operation.results[0].index()] = sources[operation.operands[0].index()];
  return sources;
}

// Whether each device holds other cells.
bool is_partitioned(const BlockGraph& blocks, const std::vector<HeldId>& rows) {
  std::vector<Box> parts;
  for (HeldId id : rows) {
    const Held& held = blocks[id];
    if (held.device == everywhere || rows.size() > most_rows) return false;
    auto stays = [&](const Level& level) {
      return std::all_of(level.steps.begin(), level.steps.begin() + std::ssize(held.box.dims),
                         [](std::int64_t step) { return step == 0; });
    };
    if (std::ranges::any_of(held.row, stays)) return false;
    const std::optional<TiledRow> tiled = tiles_of(held.box, held.row);
    if (!tiled || std::ranges::any_of(parts, [&](const Box& part) { return !disjoint(part, tiled->all); }))
      return false;
    parts.push_back(tiled->all);
  }
  return !rows.empty();
}

}  // namespace

std::vector<std::optional<ValueId>> shared_values(const Program& program, const BlockGraph& blocks) {
  const Graph& graph = program[blocks.graph];
  const std::vector<ValueId> sources = sources_of_transfers(program, graph);
  std::vector<std::vector<HeldId>> rows(graph.values.size());
  for (std::size_t h = 0; h < blocks.held.size(); ++h) rows[blocks.held[h].value.index()].emplace_back(h);
  std::vector<bool> is_shared;
  for (const std::vector<HeldId>& held : rows) is_shared.push_back(is_partitioned(blocks, held));
  std::vector<std::optional<ValueId>> shared;
  for (const Held& held : blocks.held) {
    const ValueId source = sources[held.value.index()];
    shared.push_back(is_shared[source.index()] ? std::optional(source) : std::nullopt);
  }
  return shared;
}

namespace {

// Whether the members of both are on the same devices.
bool are_on_same_devices(const Held& a, const Held& b) {
  auto alike = [](const Level& one, const Level& other) {
    return one.count == other.count && one.steps.back() == other.steps.back();
  };
  return a.device == b.device && a.device != everywhere && std::ranges::equal(a.row, b.row, alike);
}

Range reach(Range range, const Row& row, std::size_t d) {
  for (const Level& level : row) {
    const std::int64_t last = checked::mul(level.steps[d], level.count - 1);
    range = hull(range, {checked::add(range.lo, last), checked::add(range.hi, last)});
  }
  return range;
}

// The smallest memories that hold both, the same for all members along dims in which they do not advance alike.
HeldMemory joined(HeldMemory memory, const Held& other) {
  for (std::size_t d = 0; d < memory.box.rank(); ++d) {
    auto alike = [d](const Level& one, const Level& two) { return one.steps[d] == two.steps[d]; };
    Range& range = memory.box.dims[d];
    if (std::ranges::equal(memory.row, other.row, alike)) {
      range = hull(range, other.box.dims[d]);
      continue;
    }
    range = hull(reach(range, memory.row, d), reach(other.box.dims[d], other.row, d));
    for (Level& level : memory.row) level.steps[d] = 0;
  }
  return memory;
}

}  // namespace

// Inputs, results and the state of iterates keep the memory that others expect.
std::vector<HeldMemory> joined_memories(const Program& program, const BlockGraph& blocks) {
  const Graph& graph = program[blocks.graph];
  const std::vector<ValueId> sources = sources_of_transfers(program, graph);
  std::vector<bool> fixed(graph.values.size());
  for (const auto* list : {&graph.inputs, &graph.outputs})
    for (ValueId v : *list) fixed[v.index()] = true;
  std::vector<std::vector<HeldId>> rows(graph.values.size());
  std::vector<HeldMemory> memories;
  for (std::size_t h = 0; h < blocks.held.size(); ++h) {
    const Held& held = blocks.held[h];
    memories.push_back({HeldId(h), held.box, held.row});
    const ValueId source = sources[held.value.index()];
    if (fixed[held.value.index()] || fixed[source.index()] || held.box.empty()) continue;
    if (source == held.value) rows[source.index()].emplace_back(h);
    else
      for (HeldId part : rows[source.index()]) {
        if (!are_on_same_devices(blocks[part], held)) continue;
        HeldMemory& memory = memories[part.index()];
        HeldMemory both = joined(memory, held);
        if (both.box.size() > checked::add(memory.box.size(), held.box.size())) continue;
        memory = std::move(both);
        memories[h].of = part;
        break;
      }
  }
  return memories;
}

Application without_shared_members(Application calls, const std::vector<std::optional<ValueId>>& shared) {
  std::size_t column = calls.box.rank() + 1;  // after the box and the device
  for (auto* list : {&calls.operands, &calls.results})
    for (HeldMember& one : *list) {
      const std::size_t own = column++;
      if (!shared[one.id.index()]) continue;
      one.number = 0;
      for (Level& level : calls.row) level.steps[own] = 0;
    }
  return calls;
}

}  // namespace tap::backend
