#include "replay/memories.h"

#include <iterator>
#include <utility>

namespace tap::check {

Memories::Memories(const ir::Schedule& schedule, Obligation keeps)
    : s_(schedule), keeps_(keeps), all_(schedule.buffers.size()) {
  for (std::size_t b = 0; b < s_.buffers.size(); ++b) {
    const ir::Buffer& buffer = s_.buffers[b];
    all_[b].states.push_back({all_members(BufferId(b)), {}});
    const bool prepared = buffer.place == ir::BufferPlace::prepared;
    if (!prepared && buffer.place != ir::BufferPlace::arena) continue;
    const auto cell = static_cast<std::int64_t>(size_of(buffer.element));
    bool fits = range_of(BufferId(b)).hi <= (prepared ? s_.prepared_bytes : s_.arena_bytes) && buffer.at % cell == 0;
    for (const ir::Level& level : buffer.row) fits &= level.steps.back() % cell == 0;
    expect(keeps_, fits, "b{} ends behind the memory that there is, or begins inside of a cell", b);
  }
}

Box Memories::all_members(BufferId id) const {
  Box members;
  for (const ir::Level& level : buffer(id).row) members.dims.push_back({0, level.count});
  return members;
}

ir::Range Memories::range_of(BufferId id) const {
  const ir::Buffer& b = buffer(id);
  std::int64_t bytes = checked::mul(b.box.size(), static_cast<std::int64_t>(size_of(b.element)));
  for (const ir::Level& level : b.row)
    if (bytes > 0) bytes = checked::add(bytes, checked::mul(level.steps.back(), level.count - 1));
  return {b.at, checked::add(b.at, bytes)};
}

Where Memories::where(BufferId id) const { return {id, all_members(id)}; }

Where Memories::where(const ir::BufferMember& one, const ir::Row& levels, std::size_t column) const {
  const ir::Buffer& b = buffer(one.id);
  Where found{one.id, {}, {}};
  found.further.resize(b.box.rank(), Along{0, std::vector<std::int64_t>(levels.size(), 0)});
  std::vector<int> led(levels.size());
  const auto places = places_in(b.row, levels, along(levels, one.number, column), keeps_);
  for (std::size_t k = 0; k < places.size(); ++k) {
    found.members.dims.push_back(reach(levels, places[k]));
    int leads = 0;
    for (std::size_t l = 0; l < levels.size(); ++l) {
      const std::int64_t step = places[k].steps[l];
      found.each_by_one &= step >= -1 && step <= 1;
      leads += step != 0, led[l] += step != 0;
    }
    found.each_by_one &= leads <= 1;
    for (std::size_t d = 0; d < found.further.size(); ++d)
      found.further[d] = sum(std::move(found.further[d]), places[k], b.row[k].steps[d]);
  }
  for (int leads : led) found.each_by_one &= leads == 1;
  return found;
}

bool Memories::are_alike(const Where& where, const Moving& box) {
  for (std::size_t d = 0; d < box.sizes.size(); ++d)
    if (box.begins[d].steps != where.further[d].steps) return false;
  return true;
}

Box Memories::cells_of(const Where& where, const ir::Row& levels, const Moving& box, const Box* tensor) const {
  Box cells;
  for (std::size_t d = 0; d < box.sizes.size(); ++d) {
    const Along& further = where.further[d];
    cells.dims.push_back(reach(levels, sum(box.begins[d], further, -1), box.sizes[d]));
    if (tensor == nullptr || tensor->dims[d].contains(reach(levels, box.begins[d], box.sizes[d]))) continue;
    expect(keeps_, stays(further), "members of b{} are cut off differently", where.id.index());
    const ir::Range there{checked::sub(tensor->dims[d].lo, further.first),
                          checked::sub(tensor->dims[d].hi, further.first)};
    cells.dims[d] = intersect(cells.dims[d], there);
  }
  return cells;
}

std::vector<State*> Memories::at(const Where& where) {
  auto& [states, each, partner] = all_[where.id.index()];
  if (each) return each_at(where);
  for (std::size_t k = 0, count = states.size(); k < count; ++k) {
    const Box common = intersect(states[k].first, where.members);
    if (common.empty() || common == states[k].first) continue;
    for (Box& rest : subtract(states[k].first, common)) states.emplace_back(std::move(rest), states[k].second);
    states[k].first = common;
  }
  if (states.size() > 16) {
    divide(where.id);
    return each_at(where);
  }
  std::vector<State*> found;
  for (auto& [members, state] : states)
    if (where.members.contains(members)) found.push_back(&state);
  return found;
}

// The members' numbers, row-major.
std::vector<std::size_t> Memories::numbers_of(const Where& where) const {
  std::vector<std::size_t> numbers{0};
  for (std::size_t k = 0; k < where.members.rank(); ++k) {
    std::vector<std::size_t> further;
    for (std::size_t number : numbers)
      for (std::int64_t i = where.members.dims[k].lo; i < where.members.dims[k].hi; ++i)
        further.push_back(number * static_cast<std::size_t>(buffer(where.id).row[k].count) +
                          static_cast<std::size_t>(i));
    numbers = std::move(further);
  }
  return numbers;
}

std::vector<State*> Memories::each_at(const Where& where) {
  std::vector<State*> found;
  for (std::size_t number : numbers_of(where)) found.push_back(&all_[where.id.index()].states[number].second);
  return found;
}

// Where states are many, each member has its own, to be found by its number.
void Memories::divide(BufferId id) {
  Members& all = all_[id.index()];
  expect_few(ir::count_of(buffer(id).row));
  std::vector<std::pair<Box, State>> each(static_cast<std::size_t>(ir::count_of(buffer(id).row)));
  for (const auto& [members, state] : all.states)
    for (std::size_t number : numbers_of({id, members})) each[number] = {Box(), state};
  all.states = std::move(each);
  all.each = true;
}

Contents& Memories::at(BufferId id) {
  auto& states = all_[id.index()].states;
  if (states.size() > 1) states.assign(1, {all_members(id), {}});
  all_[id.index()].each = false;
  return states[0].second.contents;
}

void Memories::read(const Where& where) {
  for (State* state : at(where)) state->read_in = batch_;
}

std::vector<State*> Memories::write(const Where& where, const Box& cells, bool dense, const ir::Access* by,
                                    const Box& points) {
  const ir::Buffer& b = buffer(where.id);
  const std::size_t n = where.id.index();
  bool kept = b.place == ir::BufferPlace::input || b.place == ir::BufferPlace::prepared;
  expect(keeps_, !kept, "an input or what is prepared is written: b{}", n);
  expect(keeps_, b.box.contains(cells), "b{} is written outside of its box", n);
  expect(keeps_, where.each_by_one, "several tasks of a row write one member of b{}", n);
  std::vector<State*> states = at(where);
  for (State* state : states) {
    expect(keeps_, state->read_in != batch_, "b{} is written while another task reads it", n);
    if (state->written_in != batch_)
      state->written_in = batch_, state->cells = state->points = {}, state->by = by, state->dense = true;
    bool apart = dense && state->dense ? !state->cells.meets(cells)
                                       : by && state->by == by && !state->points.meets(points);
    expect(keeps_, apart, "two tasks of a batch write the same cells of b{}", n);
    if (state->by != by) state->by = nullptr;
    state->dense &= dense;
    state->cells.add(cells);
    if (by) state->points.add(points);
  }
  if (b.place != ir::BufferPlace::arena) return states;
  take(where.id, where.id);
  if (BufferId partner = all_[n].partner; partner.valid()) take(partner, where.id);
  return states;
}

bool Memories::is_used(BufferId id) const {
  return std::ranges::any_of(all_[id.index()].states, [this](const auto& one) {
    return one.second.read_in == batch_ || one.second.written_in == batch_;
  });
}

void Memories::take(BufferId id, BufferId writer) {
  const auto [begin, end] = range_of(id);
  if (begin == end) return;
  std::int64_t bytes = end - begin;  // of what is left: the members of a row lie one behind the other
  for (const ir::Level& level : buffer(id).row) {
    bytes -= level.steps.back() * (level.count - 1);
    expect(keeps_, bytes > 0 && level.steps.back() >= bytes, "members of b{} overlap", id.index());
  }
  std::map<std::int64_t, BufferId>& owners = owners_[buffer(id).place];
  auto it = owners.lower_bound(begin);
  if (it != owners.end() && it->first == begin && it->second == id) return;
  if (it != owners.begin() && range_of(std::prev(it)->second).hi > begin) --it;
  while (it != owners.end() && it->first < end) {
    for (BufferId other : {it->second, all_[it->second.index()].partner}) {
      if (!other.valid() || other == writer) continue;
      expect(keeps_, !is_used(other), "b{} lies over b{}, and both are used at a time", writer.index(), other.index());
      at(other) = {};
    }
    it = owners.erase(it);
  }
  owners.emplace(begin, id);
}

// Two memories that change places are one, as far as others are concerned.
void Memories::exchange_places(BufferId a, BufferId b) {
  const ir::Range first = range_of(a), second = range_of(b);
  bool apart = first.hi <= second.lo || second.hi <= first.lo || first.empty();
  expect(keeps_, apart, "b{} and b{} change places, and overlap", a.index(), b.index());
  all_[a.index()].partner = b;
  all_[b.index()].partner = a;
}

void Memories::move(BufferId from, BufferId to) {
  all_[to.index()].states = std::exchange(all_[from.index()].states, {{all_members(from), {}}});
  all_[to.index()].each = std::exchange(all_[from.index()].each, false);
}

}  // namespace tap::check
