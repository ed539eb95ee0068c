// Every kind of change to the tasks of a block graph.
#pragma once

#include "ir/block_graph.h"
#include "tests/driver/stage_mutations.h"

namespace tap::driver::test {

using Blocks = ir::BlockGraph;

template <class T>
T* any_task(Blocks& blocks, Random& random) {
  std::vector<T*> found;
  for (ir::Task& task : blocks.tasks)
    if (auto* one = std::get_if<T>(&task)) found.push_back(one);
  return found.empty() ? nullptr : found[any(random, found.size())];
}
inline bool exchange_two(std::vector<ir::HeldMember>& ids, Random& random) {
  if (ids.size() < 2) return false;
  std::size_t a = any(random, ids.size()), b = any(random, ids.size());
  std::swap(ids[a], ids[b]);
  return !(ids[a] == ids[b]);
}
// Another that holds the same value, or just another.
inline bool replace(const Blocks& blocks, ir::HeldMember& one, bool same_value, Random& random) {
  ir::HeldId by(any(random, blocks.held.size()));
  if (by == one.id || (blocks[by].value == blocks[one.id].value) != same_value) return false;
  one.id = by;
  return true;
}
inline ir::Range* any_range(ir::Box& box, Random& random) { return any(random, box.dims); }
// Another number of members, another step, or a level more or less.
template <class T>
bool change_row(T& one, Random& random) {
  ir::Row& row = row_of(one);
  const std::size_t numbers = numbers_of(one).values().size();
  if (numbers == 0) return false;
  if (row.empty() || any(random, 6) == 0) {
    std::vector<std::int64_t> steps(numbers, 0);
    steps[any(random, numbers)] = 1;
    row.insert(row.begin() + static_cast<std::ptrdiff_t>(any(random, row.size() + 1)), {2, std::move(steps)});
    return true;
  }
  ir::Level& level = *any(random, row);
  if (any(random, 5) == 0) row.erase(row.begin() + (&level - row.data()));
  else if (any(random, 2) == 0) level.count += any(random, 2) == 0 && level.count > 2 ? -1 : 1;
  else level.steps[any(random, numbers)] += any(random, 2) == 0 ? -1 : 1;
  return true;
}
// The first of a row, and the others.
template <class T>
std::optional<T> split_first_member(T& one) {
  if (row_of(one).empty()) return std::nullopt;
  T rest = one;
  ir::Row& row = row_of(rest);
  numbers_of(rest).add(ir::Row(row)[0].steps, 1);
  if (--row[0].count == 1) row.erase(row.begin());
  row_of(one).erase(row_of(one).begin());
  return rest;
}
// Another member of the same row.
inline bool change_number(std::int64_t& number, Random& random) {
  number += number > 0 && any(random, 2) == 0 ? -1 : 1;
  return true;
}

inline std::vector<StageKind<Blocks>> block_kinds() {
  const std::vector<std::string> flow = {"expansion", "held"}, box = {"expansion", "held", "placement"},
                                 number = {"well-formed", "expansion", "held", "placement"};
  return {
      {"a task dropped", flow,
       [](Blocks& b, Random& r) {
         return !b.tasks.empty() &&
                (b.tasks.erase(b.tasks.begin() + static_cast<std::ptrdiff_t>(any(r, b.tasks.size()))), true);
       }},
      {"tasks in another order", flow,
       [](Blocks& b, Random& r) {
         std::swap(b.tasks[any(r, b.tasks.size())], b.tasks[any(r, b.tasks.size())]);
         return true;
       }},
      {"a box shifted", box,
       [](Blocks& b, Random& r) {
         auto* a = any_task<ir::Application>(b, r);
         auto* range = a ? any_range(a->box, r) : nullptr;
         return range && (++range->lo, ++range->hi);
       }},
      {"a box smaller", number,
       [](Blocks& b, Random& r) {
         auto* a = any_task<ir::Application>(b, r);
         auto* range = a ? any_range(a->box, r) : nullptr;
         return range && !range->empty() && (any(r, 2) == 0 ? (++range->lo, true) : (--range->hi, true));
       }},
      {"a box larger", box,
       [](Blocks& b, Random& r) {
         auto* a = any_task<ir::Application>(b, r);
         auto* range = a ? any_range(a->box, r) : nullptr;
         return range && (any(r, 2) == 0 ? (--range->lo, true) : (++range->hi, true));
       }},
      {"an input with cells that it has not",
       {"well-formed"},
       [](Blocks& b, Random& r) {
         if (b.inputs.empty()) return false;
         ir::Held& held = b.held[b.inputs[any(r, b.inputs.size())].index()];
         auto* range = held.box.empty() || !held.row.empty() ? nullptr : any_range(held.box, r);
         if (!range || range->lo != 0) return false;  // of a repetition a part
         --range->lo;
         return true;
       }},
      {"operands exchanged", number,
       [](Blocks& b, Random& r) {
         auto* a = any_task<ir::Application>(b, r);
         return a && exchange_two(a->operands, r);
       }},
      {"another operand", number,
       [](Blocks& b, Random& r) {
         auto* a = any_task<ir::Application>(b, r);
         auto* id = a ? any(r, a->operands) : nullptr;
         return id && replace(b, *id, any(r, 2) == 0, r);
       }},
      {"another result", number,
       [](Blocks& b, Random& r) {
         auto* a = any_task<ir::Application>(b, r);
         auto* id = a ? any(r, a->results) : nullptr;
         return id && replace(b, *id, any(r, 2) == 0, r);
       }},
      {"another operation", number,
       [](Blocks& b, Random& r) {
         auto *a = any_task<ir::Application>(b, r), *other = any_task<ir::Application>(b, r);
         return a && a->operation != other->operation && (a->operation = other->operation, true);
       }},
      {"another device",
       {"placement", "held", "well-formed"},
       [](Blocks& b, Random& r) {
         auto* a = any_task<ir::Application>(b, r);
         return a && (a->device = a->device == ir::everywhere ? 1 : (a->device + 1) % 5, true);
       }},
      {"devices in other places",
       {"placement", "held", "well-formed"},
       [](Blocks& b, Random& r) {
         if (b.devices.empty()) return false;
         std::int64_t &one = *any(r, b.devices), &other = *any(r, b.devices);
         return any(r, 3) == 0 ? (++one, true) : one != other && (std::swap(one, other), true);
       }},
      {"another row",
       {"expansion", "held", "placement", "well-formed"},
       [](Blocks& b, Random& r) { return !b.tasks.empty() && change_row(b.tasks[any(r, b.tasks.size())], r); }},
      {"another row of what is held",
       {"expansion", "held", "placement", "well-formed"},
       [](Blocks& b, Random& r) { return change_row(b.held[any(r, b.held.size())], r); }},
      {"another member", number,
       [](Blocks& b, Random& r) {
         auto* a = any_task<ir::Application>(b, r);
         auto* m = any_task<ir::Move>(b, r);
         if (m && (!a || any(r, 2) == 0)) return change_number((any(r, 2) == 0 ? m->from : m->to).number, r);
         auto* one = a ? any(r, any(r, 2) == 0 ? a->operands : a->results) : nullptr;
         return one && change_number(one->number, r);
       }},
      {"a move from another memory", number,
       [](Blocks& b, Random& r) {
         auto* m = any_task<ir::Move>(b, r);
         return m && replace(b, m->from, any(r, 4) > 0, r);
       }},
      {"a move to another memory", number,
       [](Blocks& b, Random& r) {
         auto* m = any_task<ir::Move>(b, r);
         return m && replace(b, m->to, any(r, 4) > 0, r);
       }},
      {"a move of less", flow,
       [](Blocks& b, Random& r) {
         auto* m = any_task<ir::Move>(b, r);
         auto* range = m ? any_range(m->box, r) : nullptr;
         return range && (any(r, 2) == 0 ? (++range->lo, true) : (--range->hi, true));
       }},
      {"a move of more", flow,
       [](Blocks& b, Random& r) {
         auto* m = any_task<ir::Move>(b, r);
         auto* range = m ? any_range(m->box, r) : nullptr;
         return range && (any(r, 2) == 0 ? (--range->lo, true) : (++range->hi, true));
       }},
      {"less is held",
       {"expansion", "held", "well-formed"},
       [](Blocks& b, Random& r) {
         auto* range = any_range(b.held[any(r, b.held.size())].box, r);
         return range && (any(r, 2) == 0 ? (++range->lo, true) : (--range->hi, true));
       }},
      {"held by another device",
       {"placement", "held", "well-formed"},
       [](Blocks& b, Random& r) {
         ir::Held& held = b.held[any(r, b.held.size())];
         return held.device = held.device == ir::everywhere ? 2 : (held.device + 1) % 4, true;
       }},
      {"a part of an output left out", number,
       [](Blocks& b, Random& r) {
         auto* holders = any(r, b.outputs);
         return holders && (holders->pop_back(), true);
       }},
      {"outputs exchanged", number,
       [](Blocks& b, Random&) { return b.outputs.size() > 1 && (std::swap(b.outputs[0], b.outputs[1]), true); }},
      // Harmless.
      {"a task done twice",
       {},
       [](Blocks& b, Random& r) {
         std::size_t t = any(r, b.tasks.size());
         b.tasks.insert(b.tasks.begin() + static_cast<std::ptrdiff_t>(t), ir::Task(b.tasks[t]));
         return true;
       }},
      {"memory that nobody uses",
       {},
       [](Blocks& b, Random& r) { return b.held.push_back(b.held[any(r, b.held.size())]), true; }},
      {"devices of an operation in another order",
       {},
       [](Blocks& b, Random& r) {
         std::size_t t = any(r, b.tasks.size());
         auto* a = std::get_if<ir::Application>(&b.tasks[t]);
         auto* next = t + 1 < b.tasks.size() ? std::get_if<ir::Application>(&b.tasks[t + 1]) : nullptr;
         return a && next && a->operation == next->operation && (std::swap(*a, *next), true);
       }},
      {"a row in two",
       {},
       [](Blocks& b, Random& r) {
         std::size_t t = any(r, b.tasks.size());
         auto rest = split_first_member(b.tasks[t]);
         return rest && (b.tasks.insert(b.tasks.begin() + static_cast<std::ptrdiff_t>(t), *rest), true);
       }},
      {"held in another order",
       {},
       [](Blocks& b, Random& r) {
         std::size_t x = any(r, b.held.size()), y = any(r, b.held.size());
         std::swap(b.held[x], b.held[y]);
         auto rename = [&](ir::HeldId& id) {
           id = id.index() == x ? ir::HeldId(y) : id.index() == y ? ir::HeldId(x) : id;
         };
         std::for_each(b.inputs.begin(), b.inputs.end(), rename);
         for (auto& holders : b.outputs) std::for_each(holders.begin(), holders.end(), rename);
         for (ir::Task& task : b.tasks) {
           if (auto* a = std::get_if<ir::Application>(&task)) {
             for (auto* list : {&a->operands, &a->results})
               for (ir::HeldMember& one : *list) rename(one.id);
           } else {
             rename(std::get<ir::Move>(task).from.id), rename(std::get<ir::Move>(task).to.id);
           }
         }
         return true;
       }},
  };
}

}  // namespace tap::driver::test
