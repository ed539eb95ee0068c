#include "replay/memories.h"

#include <iterator>
#include <utility>

namespace tap::check {

namespace {

constexpr std::size_t many = 64;  // parts of a row: above this, each member has its own state

}  // namespace

Memories::Memories(const ir::Schedule& schedule, Obligation keeps)
    : s_(schedule), keeps_(keeps), all_(schedule.buffers.size()) {
  for (std::size_t b = 0; b < s_.buffers.size(); ++b) {
    const ir::Buffer& buffer = s_.buffers[b];
    all_[b].states.push_back({all_members(BufferId(b))});
    const bool prepared = buffer.space == ir::MemorySpace::prepared;
    if (!prepared && buffer.space != ir::MemorySpace::arena) continue;
    const auto cell = static_cast<std::int64_t>(size_of(buffer.element));
    bool fits = range_of(BufferId(b)).hi <= (prepared ? s_.prepared_bytes : s_.arena_bytes) && buffer.at % cell == 0;
    for (const ir::Level& level : buffer.row) fits &= level.steps.back() % cell == 0;
    expect(keeps_, fits, "b{} ends past the end of memory, or starts inside a cell", b);
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
  Where found{one.id, {}};
  found.further.resize(b.box.rank(), Along{0, std::vector<std::int64_t>(levels.size(), 0)});
  const Along number = along(levels, one.number, column);
  found.positions = positions_in(b.row, levels, number, keeps_);
  for (std::size_t k = 0; k < found.positions.size(); ++k) {
    found.members.dims.push_back(reach(levels, found.positions[k]));
    for (std::size_t d = 0; d < found.further.size(); ++d)
      found.further[d] = sum(std::move(found.further[d]), found.positions[k], b.row[k].steps[d]);
  }
  found.each_by_one = differs(levels, number) && ir::count_of(levels) == found.members.size();
  return found;
}

bool Memories::are_alike(const Where& where, const Moving& box) {
  for (std::size_t d = 0; d < box.sizes.size(); ++d)
    if (box.begins[d].steps != where.further[d].steps) return false;
  return true;
}

Box Memories::cells_of(const Where& where, const ir::Row& levels, const Moving& box) const {
  Box cells;
  for (std::size_t d = 0; d < box.sizes.size(); ++d)
    cells.dims.push_back(reach(levels, sum(box.begins[d], where.further[d], -1), box.sizes[d]));
  return cells;
}

Memories::Seen Memories::seen(BufferId id, const Box& members, const Shape& tensor) const {
  Seen seen{Box::of_shape(tensor), Box::of_shape(tensor)};
  const ir::Row& row = buffer(id).row;
  for (std::size_t d = 0; d < tensor.size(); ++d) {
    ir::Range further{0, 0};  // from the least to the greatest distance
    for (std::size_t k = 0; k < row.size(); ++k) {
      const std::int64_t first = checked::mul(row[k].steps[d], members.dims[k].lo),
                         last = checked::mul(row[k].steps[d], members.dims[k].hi - 1);
      further = {checked::add(further.lo, std::min(first, last)), checked::add(further.hi, std::max(first, last))};
    }
    auto move = [](ir::Range r, std::int64_t lo, std::int64_t hi) {
      return ir::Range{checked::sub(r.lo, lo), checked::sub(r.hi, hi)};
    };
    seen.by_all.dims[d] = move(seen.by_all.dims[d], further.lo, further.hi);
    seen.by_some.dims[d] = move(seen.by_some.dims[d], further.hi, further.lo);
  }
  return seen;
}

std::vector<std::pair<Box, const Contents*>> Memories::held(const Where& where) const {
  std::vector<std::pair<Box, const Contents*>> found;
  const auto& [states, each, partner, read_in, read] = all_[where.id.index()];
  if (each)
    for (std::size_t number : numbers_of(where)) found.emplace_back(states[number].members, &states[number].contents);
  else
    for (const State& state : states)
      if (Box some = intersect(state.members, where.members); !some.empty())
        found.emplace_back(std::move(some), &state.contents);
  return found;
}

std::vector<State*> Memories::at(const Where& where) {
  std::vector<State>& states = all_[where.id.index()].states;
  if (all_[where.id.index()].each) return each_at(where);
  for (std::size_t k = 0, count = states.size(); k < count; ++k) {
    const Box common = intersect(states[k].members, where.members);
    if (common.empty() || common == states[k].members) continue;
    for (Box& rest : subtract(states[k].members, common)) {
      State other = states[k];
      other.members = std::move(rest);
      states.push_back(std::move(other));
    }
    states[k].members = common;
  }
  if (states.size() > many) {
    divide(where.id);
    return each_at(where);
  }
  std::vector<State*> found;
  for (State& state : states)
    if (where.members.contains(state.members)) found.push_back(&state);
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
  for (std::size_t number : numbers_of(where)) found.push_back(&all_[where.id.index()].states[number]);
  return found;
}

// With many states, each member gets its own, found by its number.
void Memories::divide(BufferId id) {
  Members& all = all_[id.index()];
  expect_few(ir::count_of(buffer(id).row));
  std::vector<State> each(static_cast<std::size_t>(ir::count_of(buffer(id).row)));
  for (const State& state : all.states)
    for (std::size_t number : numbers_of({id, state.members})) {
      each[number] = state;
      const ir::Row& row = buffer(id).row;
      for (std::size_t k = row.size(), rest = number; k-- > 0; rest /= static_cast<std::size_t>(row[k].count)) {
        const auto position = static_cast<std::int64_t>(rest) % row[k].count;
        each[number].members.dims[k] = {position, position + 1};
      }
    }
  all.states = std::move(each);
  all.each = true;
  if (all.read_in != batch_) return;
  for (const auto& [members, cells] : all.read)
    for (std::size_t number : numbers_of({id, members})) all.states[number].note_read(batch_, cells);
}

Contents& Memories::at(BufferId id) {
  auto& states = all_[id.index()].states;
  if (states.size() > 1) states.assign(1, {all_members(id)});
  all_[id.index()].each = false;
  return states[0].contents;
}

void State::note_read(std::size_t batch, const Box& cells) {
  if (std::exchange(read_in, batch) != batch) read = {};
  read.add(cells);
}

void Memories::read(const Where& where, const Box& cells) {
  Members& all = all_[where.id.index()];
  if (!all.each) {
    if (all.read_in != batch_) all.read_in = batch_, all.read.clear();
    auto contains = [&](const auto& known) {
      return known.first.contains(where.members) && known.second.contains(cells);
    };
    if (std::ranges::none_of(all.read, contains)) all.read.emplace_back(where.members, cells);
    if (all.read.size() > many) divide(where.id);
    return;
  }
  for (State* state : each_at(where)) state->note_read(batch_, cells);
}

bool Memories::is_read(const Where& where, const Box& cells) const {
  const Members& all = all_[where.id.index()];
  if (!all.each)
    return all.read_in == batch_ && std::ranges::any_of(all.read, [&](const auto& one) {
             return !disjoint(one.first, where.members) && !disjoint(one.second, cells);
           });
  return std::ranges::any_of(numbers_of(where), [&](std::size_t number) {
    return all.states[number].read_in == batch_ && all.states[number].read.meets(cells);
  });
}

// The distance of the points from one member to the next follows from a level with that distance, and must be the same
// at all levels.
std::optional<Wrote> Memories::wrote(const Where& where, const ir::Operator& op, const ir::Access& by,
                                     const Moving& points) {
  Wrote wrote{&by};
  std::vector<Along> left;
  for (std::size_t d : relevant_dims(op, by)) left.push_back(points.begins[d]);
  for (const Along& position : where.positions) {
    std::vector<std::int64_t>& pace = wrote.pace.emplace_back(left.size());
    const auto next = std::ranges::find_if(position.steps, [](std::int64_t step) { return std::abs(step) == 1; });
    for (std::size_t k = 0; k < left.size(); ++k) {
      if (next != position.steps.end()) pace[k] = checked::mul(*next, left[k].steps[next - position.steps.begin()]);
      left[k] = sum(std::move(left[k]), position, checked::sub(0, pace[k]));
    }
  }
  for (std::size_t k = 0; std::size_t d : relevant_dims(op, by)) {
    if (!stays(left[k])) return std::nullopt;
    wrote.points.dims.push_back({left[k].first, checked::add(left[k].first, points.sizes[d])});
    ++k;
  }
  return wrote;
}

std::vector<State*> Memories::write(const Where& where, const Box& cells, bool dense, const Wrote& wrote) {
  const ir::Buffer& b = buffer(where.id);
  const std::size_t n = where.id.index();
  bool kept = b.space == ir::MemorySpace::input || b.space == ir::MemorySpace::prepared;
  expect(keeps_, !kept, "an input or a prepared operand is written: b{}", n);
  expect(keeps_, b.box.contains(cells), "b{} is written outside its box", n);
  expect(keeps_, where.each_by_one, "several tasks of a row write one member of b{}", n);
  expect(keeps_, !is_read(where, cells), "b{} is written while another task reads it", n);
  std::vector<State*> states = at(where);
  auto agrees = [&](const State* state) {
    const auto known = state->contents.points.find(wrote.by);
    return (state->written_in != batch_ || state->by != wrote.by || state->points.relative_to(state->members, wrote)) &&
           (known == state->contents.points.end() || known->second.relative_to(state->members, wrote));
  };
  if (wrote.by && !std::ranges::all_of(states, agrees)) {
    divide(where.id);
    states = each_at(where);
  }
  for (State* state : states) {
    if (state->written_in != batch_)
      state->written_in = batch_, state->cells = {}, state->points = {}, state->by = wrote.by, state->dense = true;
    const bool again = wrote.by && state->by == wrote.by;
    bool no_overlap = dense && state->dense ? !state->cells.meets(cells)
                                            : again && !state->points.meets(state->members, wrote);
    expect(keeps_, no_overlap, "two tasks of a batch write the same cells of b{}", n);
    if (!again) state->by = nullptr;
    state->dense &= dense;
    state->cells.add(cells);
    if (again) state->points.add(state->members, wrote);
  }
  own(where.id);
  return states;
}

void Memories::own(BufferId id) {
  if (buffer(id).space != ir::MemorySpace::arena) return;
  take(id, id);
  if (BufferId partner = all_[id.index()].partner; partner.valid()) take(partner, id);
}

void Memories::invalidate(BufferId id) {
  const ir::MemorySpace space = buffer(id).space;
  if (space == ir::MemorySpace::input || space == ir::MemorySpace::prepared) return;  // they are never written
  at(id) = {};
  own(id);
}

bool Memories::is_used(BufferId id) const {
  return is_read(where(id), buffer(id).box) || std::ranges::any_of(all_[id.index()].states, [this](const State& state) {
           return state.written_in == batch_;
         });
}

void Memories::take(BufferId id, BufferId writer) {
  const auto [begin, end] = range_of(id);
  if (begin == end) return;
  std::int64_t bytes = end - begin;  // of the remaining members of a row, which are contiguous
  for (const ir::Level& level : buffer(id).row) {
    bytes -= level.steps.back() * (level.count - 1);
    expect(keeps_, bytes > 0 && level.steps.back() >= bytes, "members of b{} overlap", id.index());
  }
  std::map<std::int64_t, BufferId>& owners = owners_[buffer(id).space];
  auto it = owners.lower_bound(begin);
  if (it != owners.end() && it->first == begin && it->second == id) return;
  if (it != owners.begin() && range_of(std::prev(it)->second).hi > begin) --it;
  while (it != owners.end() && it->first < end) {
    for (BufferId other : {it->second, all_[it->second.index()].partner}) {
      if (!other.valid() || other == writer) continue;
      expect(keeps_, !is_used(other), "b{} overlaps b{} while both are in use", writer.index(), other.index());
      at(other) = {};
    }
    it = owners.erase(it);
  }
  owners.emplace(begin, id);
}

// Two exchanged memories count as one for others.
void Memories::mark_swapped(BufferId a, BufferId b) {
  const ir::Range first = range_of(a), second = range_of(b);
  bool no_overlap = first.hi <= second.lo || second.hi <= first.lo || first.empty();
  expect(keeps_, no_overlap, "b{} and b{} are swapped, but overlap", a.index(), b.index());
  all_[a.index()].partner = b;
  all_[b.index()].partner = a;
}

void Memories::move(BufferId from, BufferId to) {
  all_[to.index()].states = std::exchange(all_[from.index()].states, {{all_members(from)}});
  all_[to.index()].each = std::exchange(all_[from.index()].each, false);
}

}  // namespace tap::check
