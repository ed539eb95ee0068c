// Every kind of change to the table of kernels of a schedule, to tiles, and to prepared operands. Several are
// consistent with themselves: a kernel is exchanged wherever it is named but in one table, or a layout and the memory that holds it
// change together.
#pragma once

#include <algorithm>

#include "tests/driver/mutations_of_schedules.h"

namespace tap::driver::test {

template <class Visit>
void each_call(Schedule& s, Visit visit) {
  for (ir::Sequence& sequence : s.sequences)
    for (ir::Batch& batch : sequence)
      for (ir::ScheduledTask& task : batch)
        if (auto* call = std::get_if<ir::KernelCall>(&task.what)) visit(*call, task);
}
// Two kernels, by other numbers.
inline bool two_kernels(const Schedule& s, Random& r, std::size_t& a, std::size_t& b) {
  if (s.kernels.size() < 2) return false;
  a = any(r, s.kernels.size()), b = any(r, s.kernels.size() - 1);
  b += b >= a;
  return true;
}
inline void rename(std::size_t& kernel, std::size_t a, std::size_t b) {
  kernel = kernel == a ? b : kernel == b ? a : kernel;
}
inline void rename_in_calls(Schedule& s, std::size_t a, std::size_t b) {
  each_call(s, [&](ir::KernelCall& call, auto&) { rename(call.kernel, a, b); });
}
inline void rename_in_tables(Schedule& s, std::size_t a, std::size_t b) {
  for (auto& kernel : s.kernel_of)
    if (kernel) rename(*kernel, a, b);
  for (auto& list : s.prepared)
    for (ir::Preparation& p : list) rename(p.kernel, a, b);
}
inline std::vector<std::pair<std::size_t, std::size_t>> preparations(const Schedule& s) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t o = 0; o < s.prepared.size(); ++o)
    for (std::size_t k = 0; k < s.prepared[o].size(); ++k) found.emplace_back(o, k);
  return found;
}
inline ir::Preparation* any_preparation(Schedule& s, Random& r) {
  auto all = preparations(s);
  if (all.empty()) return nullptr;
  auto [o, k] = all[any(r, all.size())];
  return &s.prepared[o][k];
}
// The memory that is made by that kernel, of the layout's type as it is now; more room for all of it.
inline void fit_memory(Schedule& s, const ir::Preparation& how) {
  if (!s.preparation) return;
  for (ir::Batch& batch : s.sequences[*s.preparation])
    for (ir::ScheduledTask& task : batch) {
      auto& call = std::get<ir::KernelCall>(task.what);
      if (call.kernel != how.kernel) continue;
      ir::Buffer& b = s.buffers[call.buffers[1].id.index()];
      b.box = ir::Box::of_shape(how.type.shape);
      call.box = b.box;
      const ir::ScheduledKernel& kernel = s.kernels[call.kernel];
      const std::int64_t size = kernel.tile_dim && *kernel.tile_dim < b.box.rank() ? b.box.dims[*kernel.tile_dim].size()
                                                                                   : 1;
      call.tiles = kernel.tile_dim && kernel.grain > 0 ? (size + kernel.grain - 1) / kernel.grain : 1;
      task.tiles = 1;
      b.at = s.prepared_bytes;
      s.prepared_bytes += (b.bytes() + 63) / 64 * 64;
    }
}

inline std::vector<StageKind<Schedule>> kernel_kinds() {
  const std::vector<std::string> table = {"schedule"}, number = {"well-formed"},
                                 either = {"well-formed", "schedule", "memory"};
  return {
      {"another kernel of an operator", either,
       [](Schedule& s, Random& r) {
         auto& kernel = *any(r, s.kernel_of);
         const std::size_t by = any(r, s.kernels.size());
         return kernel && *kernel != by && (kernel = by, true);
       }},
      {"two kernels exchanged where operators and calls name them", either,
       [](Schedule& s, Random& r) {
         std::size_t a = 0, b = 0;
         if (!two_kernels(s, r, a, b)) return false;
         return rename_in_tables(s, a, b), rename_in_calls(s, a, b), true;
       }},
      {"one kernel for two operators", either,
       [](Schedule& s, Random& r) {
         std::size_t a = 0, b = 0;
         if (!two_kernels(s, r, a, b)) return false;
         for (auto& kernel : s.kernel_of)
           if (kernel == a) kernel = b;
         each_call(s, [&](ir::KernelCall& call, auto&) {
           if (call.kernel == a) call.kernel = b;
         });
         return true;
       }},
      {"a kernel computes another operator", either,
       [](Schedule& s, Random& r) {
         auto* kernel = any(r, s.kernels);
         const std::size_t by = any(r, s.kernel_of.size());
         return kernel && kernel->computes.index() != by && (kernel->computes = ir::OperatorId(by), true);
       }},
      {"two kernels compute each other's operator", either,
       [](Schedule& s, Random& r) {
         std::size_t a = 0, b = 0;
         if (!two_kernels(s, r, a, b)) return false;
         std::swap(s.kernels[a].computes, s.kernels[b].computes);
         std::swap(s.kernels[a].packs, s.kernels[b].packs);
         return true;
       }},
      {"an operator without a kernel", either,
       [](Schedule& s, Random& r) {
         auto& kernel = *any(r, s.kernel_of);
         return kernel && (kernel.reset(), true);
       }},
      {"other tiles", number,
       [](Schedule& s, Random& r) {
         auto* call = any_task<ir::KernelCall>(s, r);
         const std::int64_t by[] = {-1, 0, call->tiles + 1, call->tiles * 2, INT64_MAX};
         const std::int64_t tiles = by[any(r, 5)];
         return tiles != call->tiles && (call->tiles = tiles, true);
       }},
      {"another grain", number,
       [](Schedule& s, Random& r) {
         auto* kernel = any(r, s.kernels);
         if (!kernel || !kernel->tile_dim) return false;
         const std::int64_t by[] = {-1, 0, INT64_MAX, kernel->grain << 40};
         kernel->grain = by[any(r, 4)];
         if (kernel->grain > 0)  // fewer tiles, as it says
           each_call(s, [&](ir::KernelCall& call, ir::ScheduledTask& task) {
             if (&s.kernels[call.kernel] == kernel) call.tiles = task.tiles = 1;
           });
         return true;
       }},
      {"parts that are none, or more than tiles", number,
       [](Schedule& s, Random& r) {
         const bool least = any(r, 2) == 0;
         each_call(s, [&](ir::KernelCall& call, ir::ScheduledTask& task) { task.tiles = least ? 0 : call.tiles + 1; });
         return true;
       }},
      {"less than no memory", number,
       [](Schedule& s, Random& r) {
         return (any(r, 2) == 0 ? s.arena_bytes : s.prepared_bytes) = -1 - static_cast<std::int64_t>(any(r, 100)), true;
       }},
      {"a layout in another order", either,
       [](Schedule& s, Random& r) {
         auto* how = any_preparation(s, r);
         if (!how || how->dims.size() < 2) return false;
         std::swap(how->dims[0], how->dims[1]);
         if (any(r, 2) == 0) {
           std::swap(how->type.shape[0], how->type.shape[1]);
           fit_memory(s, *how);
         }
         return true;
       }},
      {"panels of another dim, or another width", either,
       [](Schedule& s, Random& r) {
         auto* how = any_preparation(s, r);
         if (!how) return false;
         if (any(r, 2) == 0) return how->along = how->dims[any(r, how->dims.size())], true;
         how->step *= 2;
         const auto axis = std::ranges::find(how->dims, how->along) - how->dims.begin();
         auto& size = how->type.shape[static_cast<std::size_t>(axis)];
         size = (size + 1) / 2;
         how->type.shape.back() = how->step;
         return fit_memory(s, *how), true;
       }},
      {"a layout of another type", either,
       [](Schedule& s, Random& r) {
         auto* how = any_preparation(s, r);
         if (!how) return false;
         ++how->type.shape[any(r, how->type.shape.size())];
         return fit_memory(s, *how), true;
       }},
      {"made by another kernel", either,
       [](Schedule& s, Random& r) {
         auto* how = any_preparation(s, r);
         const std::size_t by = any(r, s.kernels.size());
         if (!how || how->kernel == by) return false;
         const std::size_t was = std::exchange(how->kernel, by);
         if (any(r, 2) == 0 && s.preparation)
           for (ir::ScheduledTask& task : s.sequences[*s.preparation][0])
             if (auto& call = std::get<ir::KernelCall>(task.what); call.kernel == was) call.kernel = by;
         return true;
       }},
      {"made twice, and only the second time by its kernel", either,
       [](Schedule& s, Random& r) {
         if (!s.preparation) return false;
         ir::Batch& made = s.sequences[*s.preparation][0];
         const std::size_t by = any(r, s.kernels.size());
         if (made.empty()) return false;
         ir::ScheduledTask first = made[any(r, made.size())];
         auto& call = std::get<ir::KernelCall>(first.what);
         if (std::exchange(call.kernel, by) == by) return false;
         return made.insert(made.begin(), first), true;
       }},
      {"made of another constant", either,
       [](Schedule& s, Random& r) {
         if (!s.preparation) return false;
         auto* task = any(r, s.sequences[*s.preparation][0]);
         return task && replace(s, std::get<ir::KernelCall>(task->what).buffers[0], r);
       }},
      {"an operand that is prepared, given as it is", either,
       [](Schedule& s, Random& r) {
         if (!s.preparation) return false;
         ir::Batch& made = s.sequences[*s.preparation][0];
         std::vector<std::pair<ir::BufferMember*, ir::BufferMember>>
             found;  // who reads a layout, and what it is made of
         for (ir::Batch& batch : s.sequences[0])
           for (ir::ScheduledTask& task : batch)
             if (auto* call = std::get_if<ir::KernelCall>(&task.what))
               for (ir::BufferMember& one : call->buffers)
                 for (ir::ScheduledTask& by : made)
                   if (auto& from = std::get<ir::KernelCall>(by.what).buffers; from[1] == one)
                     found.emplace_back(&one, from[0]);
         if (found.empty()) return false;
         auto [one, constant] = found[any(r, found.size())];
         *one = constant;
         return true;
       }},
      {"prepared memory over other prepared memory", either,
       [](Schedule& s, Random& r) {
         std::vector<ir::Buffer*> found;
         for (ir::Buffer& b : s.buffers)
           if (b.space == ir::MemorySpace::prepared) found.push_back(&b);
         if (found.size() < 2) return false;
         auto *a = found[any(r, found.size())], *b = found[any(r, found.size())];
         return a != b && (a->at = b->at, true);
       }},
      // Harmless.
      {"kernels numbered otherwise",
       {},
       [](Schedule& s, Random& r) {
         std::size_t a = 0, b = 0;
         if (!two_kernels(s, r, a, b)) return false;
         std::swap(s.kernels[a], s.kernels[b]);
         return rename_in_tables(s, a, b), rename_in_calls(s, a, b), true;
       }},
      {"kernels told by another operator that is equal",
       {},
       [](Schedule& s, Random& r) {
         auto* kernel = any(r, s.kernels);
         if (!kernel || kernel->packs) return false;
         for (std::size_t o = 0; o < s.kernel_of.size(); ++o)
           if (s.kernel_of[o] == static_cast<std::size_t>(kernel - s.kernels.data()))
             kernel->computes = ir::OperatorId(o);
         return true;
       }},
  };
}

}  // namespace tap::driver::test
