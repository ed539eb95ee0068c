#include "backend/schedule/schedule_tasks.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "ir/machine.h"
#include "support/check.h"
#include "support/checked.h"

namespace tap::backend {

namespace {

constexpr std::int64_t copy_bytes = ir::reference_machine.l2_bytes / 4;  // per tile of a copy

}  // namespace

std::int64_t parts_that_pay(const Kernel& kernel, std::int64_t tiles) {
  constexpr std::int64_t few = 16;
  const std::int64_t parts = tiles / kernel.worth;
  if (parts >= few) return parts;
  return std::min(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(parts))), tiles);
}

bool ScheduleTasks::Open::fits(std::size_t order, const std::vector<BufferId>& reads,
                               const std::vector<BufferId>& writes) const {
  auto by_others = [order](const Users& users, BufferId id) {
    auto it = users.find(id);
    return it != users.end() && (it->second.several || it->second.order != order);
  };
  for (BufferId id : reads)
    if (by_others(written_, id)) return false;
  for (BufferId id : writes)
    if (by_others(written_, id) || by_others(read_, id)) return false;
  return true;
}

void ScheduleTasks::Open::add(std::size_t order, const std::vector<BufferId>& reads,
                              const std::vector<BufferId>& writes) {
  for (BufferId id : reads) note(read_, id, order);
  for (BufferId id : writes) note(written_, id, order);
}

void ScheduleTasks::Open::note(Users& users, BufferId id, std::size_t order) {
  auto [it, fresh] = users.try_emplace(id, User{order, false});
  if (!fresh && it->second.order != order) it->second.several = true;
}

BufferId ScheduleTasks::new_buffer(std::string name, ElementType element, ir::Box box, const ir::Row& row) {
  ir::Row own = row;
  for (ir::Level& level : own) {
    level.steps.resize(box.rank());
    level.steps.push_back(0);  // set by plan_memory
  }
  schedule_.buffers.push_back({std::move(name), element, std::move(box), MemorySpace::arena, 0, std::move(own)});
  lifetimes_.emplace_back();
  schedule_.buffers.back().bytes();  // reports too large ones here
  return BufferId(schedule_.buffers.size() - 1);
}

void ScheduleTasks::add(ScheduledTask task, std::size_t order, const std::vector<BufferId>& reads,
                        const std::vector<BufferId>& writes) {
  if (!open_.fits(order, reads, writes)) end_batch();
  if (order != latest_order_) ++step_;
  latest_order_ = order;
  open_.add(order, reads, writes);
  for (const auto* list : {&reads, &writes})
    for (BufferId id : *list) use(id);
  batch_.push_back(std::move(task));
  steps_.push_back(step_);
}

void ScheduleTasks::copy(CopyBox copy, std::size_t order) {
  if (copy.box.empty()) return;
  std::int64_t bytes = copy.box.size() * static_cast<std::int64_t>(size_of(at(copy.from.id).element));
  const BufferId from = copy.from.id, to = copy.to.id;
  add({std::move(copy), std::max<std::int64_t>(1, bytes / copy_bytes)}, order, {from}, {to});
}

void ScheduleTasks::use(BufferId id) {
  of(id).first = std::min(of(id).first, time_);
  of(id).last = std::max(of(id).last, time_);
}

void ScheduleTasks::close() {
  latest_order_ = SIZE_MAX;
  end_batch();
}

void ScheduleTasks::end_batch() {
  open_ = {};
  if (batch_.empty()) return;
  schedule_.sequences[sequence_].push_back(std::exchange(batch_, {}));
  facts_.steps[sequence_].push_back(std::exchange(steps_, {}));
  ++time_;
}

void ScheduleTasks::new_sequence() {
  schedule_.sequences.emplace_back();
  facts_.steps.emplace_back();
  facts_.buffers_before.push_back(schedule_.buffers.size());
}

ScheduleTasks::Body ScheduleTasks::begin_body() {
  close();
  Body body{schedule_.sequences.size(), sequence_, schedule_.buffers.size(), time_++};
  sequence_ = body.sequence;
  new_sequence();
  return body;
}

void ScheduleTasks::end_body(const Body& body, Iteration loop) {
  close();
  sequence_ = body.outer;
  loop.body = body.sequence;
  const std::int64_t end = time_++;
  for (std::size_t b = 0; b < body.buffers_before; ++b)
    if (Lifetime& life = lifetimes_[b]; life.last >= body.begin) life.last = end;
  for (const ir::ExchangedState& one : loop.states) of(one.now).last = end;
  schedule_.sequences[sequence_].push_back({{std::move(loop), 1}});
  facts_.steps[sequence_].push_back({++step_});
}

BufferId ScheduleTasks::prepared(BufferId constant, const Preparation& how, const Kernel& kernel,
                                 std::size_t operations) {
  TAP_CHECK(at(constant).space == MemorySpace::input, "a prepared operand must be constant");
  auto [known, fresh] = prepared_.try_emplace({constant, how.kernel});
  if (!fresh) return known->second;
  BufferId to = known->second = new_buffer(at(constant).name, how.type.element, ir::Box::of_shape(how.type.shape));
  Buffer& buffer = at(to);
  buffer.space = MemorySpace::prepared;
  buffer.at = schedule_.prepared_bytes;
  schedule_.prepared_bytes = checked::add(buffer.at, aligned_bytes(buffer.bytes()));
  KernelCall call;
  call.kernel = how.kernel;
  call.box = buffer.box;
  call.tiles = tile_count(kernel, call.box);
  call.operations = operations;
  call.buffers = {{constant}, {to}};
  const std::int64_t parts = call.tiles / kernel.worth;
  preparation_.push_back({std::move(call), std::max<std::int64_t>(parts, 1)});
  return to;
}

void ScheduleTasks::end_preparation() {
  if (preparation_.empty()) return;
  schedule_.preparation = schedule_.sequences.size();
  schedule_.sequences.push_back({std::move(preparation_)});
}

void ScheduleTasks::in_use_together(const std::vector<std::pair<BufferId, BufferId>>& exchanged) {
  for (auto [a, b] : exchanged) {
    of(a).first = of(b).first = std::min(of(a).first, of(b).first);
    of(a).last = of(b).last = std::max(of(a).last, of(b).last);
  }
  facts_.exchanged = exchanged;
}

}  // namespace tap::backend
