// Every kind of change to the tasks of a schedule.
#pragma once

#include "ir/schedule.h"
#include "tests/driver/mutations_of_block_graphs.h"
#include "tests/driver/stage_mutations.h"

namespace tap::driver::test {

using ir::Schedule;

inline ir::Batch* any_batch(Schedule& s, Random& r) {
  auto* sequence = any(r, s.sequences);
  return any(r, *sequence);
}
template <class T>
T* any_task(Schedule& s, Random& r) {
  std::vector<T*> found;
  for (ir::Sequence& sequence : s.sequences)
    for (ir::Batch& batch : sequence)
      for (ir::ScheduledTask& task : batch)
        if (auto* one = std::get_if<T>(&task.what)) found.push_back(one);
  return found.empty() ? nullptr : found[any(r, found.size())];
}
inline bool replace(const Schedule& s, ir::BufferMember& one, Random& r) {
  ir::BufferId by(any(r, s.buffers.size()));
  if (by == one.id) return false;
  one.id = by;
  return true;
}
inline ir::Buffer* any_in_arena(Schedule& s, Random& r) {
  std::vector<ir::Buffer*> found;
  for (ir::Buffer& b : s.buffers)
    if (b.space == ir::MemorySpace::arena && !b.box.empty()) found.push_back(&b);
  return found.empty() ? nullptr : found[any(r, found.size())];
}

inline std::vector<StageKind<Schedule>> schedule_kinds() {
  const std::vector<std::string> flow = {"schedule", "memory"}, number = {"well-formed", "schedule", "memory"};
  return {
      {"a task dropped", number,
       [](Schedule& s, Random& r) {
         auto* batch = any_batch(s, r);
         return batch && (batch->erase(batch->begin() + static_cast<std::ptrdiff_t>(any(r, batch->size()))), true);
       }},
      {"batches in another order", number,
       [](Schedule& s, Random& r) {
         auto *a = any_batch(s, r), *b = any_batch(s, r);
         bool loops = a && b &&
                      (std::holds_alternative<ir::Iteration>((*a)[0].what) ||
                       std::holds_alternative<ir::Iteration>((*b)[0].what));
         return a && b && a != b && !loops && (std::swap(*a, *b), true);
       }},
      {"a task moved before what it reads", number,
       [](Schedule& s, Random& r) {
         ir::Sequence& sequence = *any(r, s.sequences);
         if (sequence.size() < 2) return false;
         const std::size_t from = 1 + any(r, sequence.size() - 1), to = any(r, from);
         auto is_loop = [](const ir::Batch& batch) {
           return !batch.empty() && std::holds_alternative<ir::Iteration>(batch[0].what);
         };
         if (sequence[from].empty() || is_loop(sequence[from]) || is_loop(sequence[to])) return false;
         const auto task = sequence[from].begin() + static_cast<std::ptrdiff_t>(any(r, sequence[from].size()));
         sequence[to].push_back(std::move(*task));
         sequence[from].erase(task);
         return true;
       }},
      {"a message before its source", number,
       [](Schedule& s, Random& r) {
         ir::Sequence& sequence = *any(r, s.sequences);
         for (std::size_t from = sequence.size(); from-- > 1;)
           for (std::size_t t = 0; t < sequence[from].size(); ++t) {
             if (!std::holds_alternative<ir::CopyBox>(sequence[from][t].what) || any(r, 2) == 0) continue;
             const ir::ScheduledTask message = sequence[from][t];
             sequence[from].erase(sequence[from].begin() + static_cast<std::ptrdiff_t>(t));
             sequence.insert(sequence.begin(), {message});
             return true;
           }
         return false;
       }},
      {"two batches made one", number,
       [](Schedule& s, Random& r) {
         ir::Sequence& sequence = *any(r, s.sequences);
         if (sequence.size() < 2) return false;
         std::size_t k = any(r, sequence.size() - 1);
         sequence[k].insert(sequence[k].end(), sequence[k + 1].begin(), sequence[k + 1].end());
         sequence.erase(sequence.begin() + static_cast<std::ptrdiff_t>(k) + 1);
         return true;
       }},
      {"a task twice in a batch", number,
       [](Schedule& s, Random& r) {
         auto* batch = any_batch(s, r);
         if (!batch || std::holds_alternative<ir::Iteration>((*batch)[0].what)) return false;
         return batch->push_back((*batch)[any(r, batch->size())]), true;
       }},
      {"a box shifted", number,
       [](Schedule& s, Random& r) {
         auto* call = any_task<ir::KernelCall>(s, r);
         auto* range = call ? any_range(call->box, r) : nullptr;
         return range && (++range->lo, ++range->hi);
       }},
      {"another row", number,
       [](Schedule& s, Random& r) {
         auto change = [&r](auto* task) { return task && change_row(*task, r); };
         switch (any(r, 4)) {
           case 0: return change(any_task<ir::CopyBox>(s, r));
           case 1: return change(any_task<ir::Fill>(s, r));
           case 2: return change(any_task<ir::OutsideCall>(s, r));
           default: return change(any_task<ir::KernelCall>(s, r));
         }
       }},
      {"another box of an outside kernel", number,
       [](Schedule& s, Random& r) {
         auto* call = any_task<ir::OutsideCall>(s, r);
         auto* range = call ? any_range(call->box, r) : nullptr;
         return range && (any(r, 2) == 0 ? (++range->lo, true) : (--range->hi, true));
       }},
      {"another region of an outside kernel", number,
       [](Schedule& s, Random& r) {
         auto* call = any_task<ir::OutsideCall>(s, r);
         if (!call) return false;
         ir::BufferMember& region = *any(r, call->regions);
         return any(r, 2) == 0 ? change_number(region.number, r) : replace(s, region, r);
       }},
      {"another row of a buffer", number, [](Schedule& s, Random& r) { return change_row(*any(r, s.buffers), r); }},
      {"another member", number,
       [](Schedule& s, Random& r) {
         auto* call = any_task<ir::KernelCall>(s, r);
         auto* copy = any_task<ir::CopyBox>(s, r);
         if (copy && any(r, 2) == 0) return change_number((any(r, 2) == 0 ? copy->from : copy->to).number, r);
         return call && change_number(any(r, call->buffers)->number, r);
       }},
      {"a box smaller", number,
       [](Schedule& s, Random& r) {
         auto* call = any_task<ir::KernelCall>(s, r);
         auto* range = call ? any_range(call->box, r) : nullptr;
         return range && (any(r, 2) == 0 ? (++range->lo, true) : (--range->hi, true));
       }},
      {"another buffer in a call", number,
       [](Schedule& s, Random& r) {
         auto* call = any_task<ir::KernelCall>(s, r);
         return call && replace(s, call->buffers[any(r, call->buffers.size())], r);
       }},
      {"buffers of a call exchanged", number,
       [](Schedule& s, Random& r) {
         auto* call = any_task<ir::KernelCall>(s, r);
         if (!call || call->buffers.size() < 2) return false;
         std::size_t a = any(r, call->buffers.size()), b = any(r, call->buffers.size());
         std::swap(call->buffers[a], call->buffers[b]);
         return !(call->buffers[a] == call->buffers[b]);
       }},
      {"another operation",
       {"well-formed"},
       [](Schedule& s, Random& r) {
         auto* call = any_task<ir::KernelCall>(s, r);
         return call && (call->operations = any(r, s.operations.size()), true);
       }},
      {"another kernel",
       {"well-formed"},
       [](Schedule& s, Random& r) {
         auto* call = any_task<ir::KernelCall>(s, r);
         return call && s.kernels.size() > 1 && (call->kernel = (call->kernel + 1) % s.kernels.size(), true);
       }},
      {"operations named otherwise", number,
       [](Schedule& s, Random& r) {
         auto *a = any(r, s.operations), *b = any(r, s.operations);
         return a->what != b->what && (std::swap(a->what, b->what), true);
       }},
      {"a copy from elsewhere", number,
       [](Schedule& s, Random& r) {
         auto* copy = any_task<ir::CopyBox>(s, r);
         return copy && replace(s, copy->from, r);
       }},
      {"a copy to elsewhere", number,
       [](Schedule& s, Random& r) {
         auto* copy = any_task<ir::CopyBox>(s, r);
         return copy && replace(s, copy->to, r);
       }},
      {"a copy of another box", number,
       [](Schedule& s, Random& r) {
         auto* copy = any_task<ir::CopyBox>(s, r);
         auto* range = copy ? any_range(copy->box, r) : nullptr;
         return range && (any(r, 2) == 0 ? (++range->lo, true) : (--range->hi, true));
       }},
      {"buffers over each other", number,
       [](Schedule& s, Random& r) {
         auto *a = any_in_arena(s, r), *b = any_in_arena(s, r);
         return a && a->at != b->at && (a->at = b->at, true);
       }},
      {"a buffer some bytes off", number,
       [](Schedule& s, Random& r) {
         auto* a = any_in_arena(s, r);
         return a && (a->at = std::max<std::int64_t>(0, a->at - 8 * static_cast<std::int64_t>(1 + any(r, 12))), true);
       }},
      {"a buffer behind the arena", number,
       [](Schedule& s, Random& r) {
         auto* a = any_in_arena(s, r);
         return a && !a->box.empty() && (a->at = s.arena_bytes, true);
       }},
      {"a buffer of a smaller box", number,
       [](Schedule& s, Random& r) {
         auto* range = any_range(any(r, s.buffers)->box, r);
         return range && (any(r, 2) == 0 ? (++range->lo, true) : (--range->hi, true));
       }},
      {"outputs in each other's place", number,
       [](Schedule& s, Random& r) {
         std::vector<ir::Buffer*> found;
         for (ir::Buffer& b : s.buffers)
           if (b.space == ir::MemorySpace::output) found.push_back(&b);
         if (found.empty()) return false;  // after another change
         auto *a = found[any(r, found.size())], *b = found[any(r, found.size())];
         return a != b && (std::swap(a->at, b->at), true);
       }},
      {"an input for an output", number,
       [](Schedule& s, Random& r) {
         auto* b = any(r, s.buffers);
         return b->space == ir::MemorySpace::output && (b->space = ir::MemorySpace::input, true);
       }},
      {"states of a repetition exchanged", number,
       [](Schedule& s, Random& r) {
         auto* loop = any_task<ir::Iteration>(s, r);
         if (!loop) return false;
         auto& first = loop->states.front();
         auto& last = loop->states.back();
         if (first.state != last.state && any(r, 2) == 0) std::swap(first.next, last.next);
         else std::swap(first.now, first.next);
         return true;
       }},
      {"other steps",
       {"well-formed"},
       [](Schedule& s, Random& r) {
         auto* loop = any_task<ir::Iteration>(s, r);
         return loop && (any(r, 2) == 0 ? ++loop->steps.hi : ++loop->steps.lo, true);
       }},
      {"another fill", number,
       [](Schedule& s, Random& r) {
         auto* fill = any_task<ir::Fill>(s, r);
         return fill && (fill->value.f += 1, true);
       }},
      {"another dim counts",
       {"well-formed"},
       [](Schedule& s, Random& r) {
         auto* call = any_task<ir::KernelCall>(s, r);
         if (!call) return false;
         if (call->counters.empty()) call->counters.push_back({0, 0});
         else if (any(r, 2) == 0) ++call->counters[0].level;
         else call->counters.clear();
         return true;
       }},
      {"no tiles",
       {"well-formed"},
       [](Schedule& s, Random& r) {
         auto* call = any_task<ir::KernelCall>(s, r);
         return call && (call->tiles = 0, true);
       }},
      // Harmless.
      {"tasks of a batch in another order",
       {},
       [](Schedule& s, Random& r) {
         auto* batch = any_batch(s, r);
         return batch && (std::shuffle(batch->begin(), batch->end(), r), true);
       }},
      {"a row in two",
       {},
       [](Schedule& s, Random& r) {
         auto* batch = any_batch(s, r);
         auto* call = batch ? std::get_if<ir::KernelCall>(&batch->back().what) : nullptr;
         auto rest = call ? split_first_member(*call) : std::nullopt;
         return rest && (batch->push_back({*rest, batch->back().tiles}), true);
       }},
      {"a batch in two",
       {},
       [](Schedule& s, Random& r) {
         ir::Sequence& sequence = *any(r, s.sequences);
         std::size_t k = any(r, sequence.size());
         if (sequence[k].size() < 2) return false;
         ir::Batch rest(sequence[k].begin() + 1, sequence[k].end());
         sequence[k].resize(1);
         sequence.insert(sequence.begin() + static_cast<std::ptrdiff_t>(k) + 1, std::move(rest));
         return true;
       }},
      {"names",
       {},
       [](Schedule& s, Random&) {
         for (ir::Buffer& b : s.buffers) b.name += "'";
         return true;
       }},
      {"buffers in another order",
       {},
       [](Schedule& s, Random& r) {
         std::size_t x = any(r, s.buffers.size()), y = any(r, s.buffers.size());
         std::swap(s.buffers[x], s.buffers[y]);
         auto rename = [&](ir::BufferId& id) {
           id = id.index() == x ? ir::BufferId(y) : id.index() == y ? ir::BufferId(x) : id;
         };
         auto rename_all = [&](std::vector<ir::BufferMember>& list) {
           for (ir::BufferMember& one : list) rename(one.id);
         };
         for (ir::Sequence& sequence : s.sequences)
           for (ir::Batch& batch : sequence)
             for (ir::ScheduledTask& task : batch) {
               if (auto* c = std::get_if<ir::KernelCall>(&task.what)) rename_all(c->buffers);
               if (auto* c = std::get_if<ir::OutsideCall>(&task.what)) rename_all(c->regions);
               if (auto* c = std::get_if<ir::CopyBox>(&task.what)) rename(c->from.id), rename(c->to.id);
               if (auto* c = std::get_if<ir::Fill>(&task.what)) rename(c->buffer.id);
               if (auto* c = std::get_if<ir::Iteration>(&task.what))
                 for (auto& [state, now, next] : c->states) rename(now), rename(next);
             }
         return true;
       }},
  };
}

}  // namespace tap::driver::test
