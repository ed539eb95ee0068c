// Every kind of change to what a schedule says beside its tasks: lines of operations, and memory. Most change two places at once, so
// that the text agrees with itself: a buffer is larger and so is the arena, lines change places and calls name them so.
#pragma once

#include <algorithm>

#include "tests/driver/mutations_of_schedules.h"

namespace tap::driver::test {

// Behind all others, in an arena that is larger by it.
inline void move_after(Schedule& s, ir::Buffer& b) {
  std::int64_t bytes = (b.bytes() + 63) / 64 * 64;
  b.at = s.arena_bytes;
  for (auto level = b.row.rbegin(); level != b.row.rend(); ++level) {
    level->steps.back() = bytes;
    bytes *= level->count;
  }
  s.arena_bytes += bytes;
}
template <class Rename>
void rename_operations(Schedule& s, Rename rename) {
  for (ir::Sequence& sequence : s.sequences)
    for (ir::Batch& batch : sequence)
      for (ir::ScheduledTask& task : batch)
        if (auto* call = std::get_if<ir::KernelCall>(&task.what)) call->operations = rename(call->operations);
        else if (auto* outside = std::get_if<ir::OutsideCall>(&task.what))
          outside->operation = rename(outside->operation);
        else if (auto* loop = std::get_if<ir::Iteration>(&task.what)) loop->operation = rename(loop->operation);
}
// Two members of a list changed in one way, which may hide it from who compares them.
template <class T>
bool change_one_or_two(std::vector<T>& list, Random& r, void (*change)(T&)) {
  if (list.empty()) return false;
  const std::size_t first = any(r, list.size()), second = any(r, list.size());
  change(list[first]);
  if (second != first && any(r, 2) == 0) change(list[second]);
  return true;
}

inline std::vector<StageKind<Schedule>> memory_kinds() {
  const std::vector<std::string> line = {"well-formed"}, memory = {"well-formed", "schedule", "memory"};
  using ir::ScheduledOperation;
  return {
      {"an operation by another name", line,
       [](Schedule& s, Random& r) {
         return change_one_or_two<ScheduledOperation>(s.operations, r, [](auto& o) { o.name += "'"; });
       }},
      {"an operation with another result", line,
       [](Schedule& s, Random& r) {
         return change_one_or_two<ScheduledOperation>(s.operations, r, [](auto& o) { o.result += "'"; });
       }},
      {"a dim by another name, or hidden otherwise", line,
       [](Schedule& s, Random& r) {
         auto* o = any(r, s.operations);
         auto* dim = any(r, o->dims);
         if (!dim) return false;
         if (any(r, 3) == 0) return o->dims.pop_back(), true;
         return any(r, 2) == 0 ? (dim->name += "'", true) : (dim->hidden = !dim->hidden, true);
       }},
      {"an operand by another name, or of other extents", line,
       [](Schedule& s, Random& r) {
         auto* o = any(r, s.operations);
         auto* operand = any(r, o->operands);
         if (!operand) return false;
         if (any(r, 3) == 0) return o->operands.pop_back(), true;
         if (any(r, 2) == 0) return operand->first += "'", true;
         return operand->second.push_back(3), true;
       }},
      {"lines of operations in another order", line,
       [](Schedule& s, Random& r) {
         const std::size_t a = any(r, s.operations.size()), b = any(r, s.operations.size());
         if (a == b) return false;
         std::swap(s.operations[a], s.operations[b]);
         rename_operations(s, [=](std::size_t n) { return n == a ? b : n == b ? a : n; });
         return true;
       }},
      {"a line of an operation twice", line,
       [](Schedule& s, Random& r) {
         const std::size_t a = any(r, s.operations.size());
         s.operations.insert(s.operations.begin() + static_cast<std::ptrdiff_t>(a),
                             ScheduledOperation(s.operations[a]));
         const bool later = any(r, 2) == 0;
         rename_operations(s, [=](std::size_t n) { return n > a || (n == a && later) ? n + 1 : n; });
         return true;
       }},
      {"an input by another name", line,
       [](Schedule& s, Random& r) {
         auto* input = any(r, s.inputs);
         return input && (input->name += "'", true);
       }},
      {"an output that is const", line, [](Schedule& s, Random& r) { return any(r, s.outputs)->constant = true; }},
      {"an empty batch", line,
       [](Schedule& s, Random& r) {
         ir::Sequence& sequence = *any(r, s.sequences);
         sequence.insert(sequence.begin() + static_cast<std::ptrdiff_t>(any(r, sequence.size() + 1)), ir::Batch());
         return true;
       }},
      {"more memory than there is use for", line,
       [](Schedule& s, Random& r) {
         std::int64_t& bytes = any(r, 2) == 0 ? s.arena_bytes : s.prepared_bytes;
         const std::int64_t by[] = {bytes + 1, bytes + 64, bytes * 10 + 1, INT64_MAX};
         return bytes = by[any(r, 4)], true;
       }},
      {"buffers further apart, in more memory", line,
       [](Schedule& s, Random&) {
         if (s.arena_bytes <= 64) return false;
         for (ir::Buffer& b : s.buffers)
           if (b.space == ir::MemorySpace::arena) {
             b.at *= 3;
             for (ir::Level& level : b.row) level.steps.back() *= 3;
           }
         s.arena_bytes *= 3;
         return true;
       }},
      {"a buffer far away, in more memory", memory,
       [](Schedule& s, Random& r) {
         auto* a = any_in_arena(s, r);
         if (!a) return false;
         if (any(r, 2) == 0) s.arena_bytes = s.arena_bytes * 9 + 64;
         move_after(s, *a);
         return true;
       }},
      {"a larger buffer, in more memory", memory,
       [](Schedule& s, Random& r) {
         auto* a = any_in_arena(s, r);
         if (!a || a->box.dims.empty()) return false;
         ir::Range& range = *any_range(a->box, r);
         if (any(r, 2) == 0) range.lo -= 1000000;
         else range.hi += 1000000;
         move_after(s, *a);
         return true;
       }},
      {"more members, in more memory", memory,
       [](Schedule& s, Random& r) {
         auto* a = any_in_arena(s, r);
         if (!a) return false;
         if (a->row.empty()) a->row.push_back({1000000, std::vector<std::int64_t>(a->box.rank() + 1, 0)});
         else a->row[0].count *= 1000000;
         move_after(s, *a);
         return true;
       }},
      {"a buffer that nothing uses, in more memory", line,
       [](Schedule& s, Random&) {
         ir::Buffer& b = s.buffers.emplace_back();
         b.box.dims.push_back({0, 1000});
         move_after(s, b);
         return true;
       }},
  };
}

}  // namespace tap::driver::test
