// Three steps, on buffers without rows: results become parts of the processes that compute them, tasks of other processes
// are left out, and inputs become the parts that the remaining tasks read. Then the own buffers are placed.
#include "backend/schedule/process_schedule.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "backend/schedule/equal_parts.h"
#include "ir/graph.h"
#include "support/checked.h"

namespace tap::backend {

using namespace ir;

namespace {

constexpr std::int64_t every_process = -1;

// How the whole schedule uses a buffer.
struct BufferUses {
  bool read = false;
  bool computed = false;        // written by other than copies of the program's own sequence
  bool written_inside = false;  // in the body of an iterate
  bool exchanged = false;       // a state of an iterate
};

// Of an input: what the tasks of one device read, and the buffer that holds it.
struct ReadPart {
  Box box;
  BufferId buffer = {};
};

class ProcessPart {
 public:
  ProcessPart(const Schedule& rows, const BufferFacts& facts, const Program& program,
              const executor::Distribution& among)
      : program_(program), among_(among), schedule_(by_memory(rows)) {
    made_.results.resize(static_cast<std::size_t>(among.ranks));
    for (std::size_t b = 0; b < rows.buffers.size(); ++b)
      for (std::int64_t device : devices_of(facts.devices[b], rows.buffers[b].row)) {
        devices_.push_back(device);
        lifetimes_.push_back(facts.lifetimes[b]);
      }
    uses_.resize(devices_.size());
    for (std::size_t s = 0; s < schedule_.sequences.size(); ++s) note_uses(s);
  }

  ProcessSchedule run() {
    const std::vector<ProgramTensor> inputs = std::exchange(schedule_.inputs, {});
    const std::vector<ProgramTensor> outputs = std::exchange(schedule_.outputs, {});
    exchange_equal_parts();
    split_outputs(outputs);
    for (Sequence& sequence : schedule_.sequences) keep_own(sequence);
    keep_preparation();
    split_inputs(inputs);
    place();
    made_.schedule = std::move(schedule_);
    for (std::int64_t device : devices_) made_.devices.push_back({device});
    return std::move(made_);
  }

 private:
  Buffer& at(BufferId id) { return schedule_.buffers[id.index()]; }
  const Buffer& at(BufferId id) const { return schedule_.buffers[id.index()]; }
  std::int64_t owner(BufferId id) const {
    const std::int64_t device = devices_[id.index()];
    return device == everywhere ? every_process : among_.rank_of(device);
  }
  bool holds(BufferId id) const { return owner(id) == every_process || owner(id) == among_.rank; }

  // Calls `each(buffer, reads, writes)`; of an outside kernel, every region may be either.
  template <class Each>
  void for_each_access(const ScheduledTask& task, const Each& each) const {
    if (const auto* call = std::get_if<KernelCall>(&task.what)) {
      for (std::size_t k = 0; k < call->buffers.size(); ++k)
        each(call->buffers[k].id, k < reads_of(*call), k >= reads_of(*call));
    } else if (const auto* copy = std::get_if<CopyBox>(&task.what)) {
      each(copy->from.id, true, false);
      each(copy->to.id, false, true);
    } else if (const auto* fill = std::get_if<Fill>(&task.what)) {
      each(fill->buffer.id, false, true);
    } else if (const auto* outside = std::get_if<OutsideCall>(&task.what)) {
      for (const BufferMember& region : outside->regions) each(region.id, true, true);
    } else {
      for (const ExchangedState& one : std::get<Iteration>(task.what).states)
        for (BufferId id : {one.now, one.next}) each(id, true, true);
    }
  }
  std::size_t reads_of(const KernelCall& call) const {
    const ScheduledKernel& kernel = schedule_.kernels[call.kernel];
    return kernel.packs ? 1 : program_[kernel.computes].operands.size();
  }

  void note_uses(std::size_t sequence) {
    for (const Batch& batch : schedule_.sequences[sequence])
      for (const ScheduledTask& task : batch)
        for_each_access(task, [&](BufferId id, bool reads, bool writes) {
          BufferUses& uses = uses_[id.index()];
          uses.read |= reads;
          uses.computed |= writes && (sequence != 0 || !std::holds_alternative<CopyBox>(task.what));
          uses.written_inside |= writes && sequence != 0;
          uses.exchanged |= std::holds_alternative<Iteration>(task.what);
        });
  }

  // Of parts of a value that all processes need, several devices may have the same one: each process takes its own part, else
  // that of one holder, so that no process sends to all. Such a value then belongs to each process, and what goes to others is
  // written down as copies to their devices.
  void exchange_equal_parts() {
    std::vector<std::int64_t> devices(static_cast<std::size_t>(among_.ranks), everywhere);  // the first of each process
    for (std::int64_t d = among_.devices; d-- > 0;) devices[static_cast<std::size_t>(among_.rank_of(d))] = d;
    if (std::ranges::find(devices, everywhere) != devices.end()) return;
    const EqualParts equal = equal_parts(schedule_, [this](const KernelCall& call) { return reads_of(call); });
    const std::set<BufferId> wholes = needed_by_all(equal);
    std::map<BufferId, std::vector<BufferId>> at_others;  // by process
    for (BufferId whole : wholes)
      for (std::int64_t device : devices)
        at_others[whole].push_back(new_buffer(Buffer(at(whole)), MemorySpace::arena, 0, at(whole).box, device));
    for (Sequence& sequence : schedule_.sequences)
      for (Batch& batch : sequence) {
        Batch made;
        for (ScheduledTask& task : batch) {
          const auto* copy = std::get_if<CopyBox>(&task.what);
          if (!copy || !wholes.contains(copy->to.id)) made.push_back(std::move(task));
          else
            for (CopyBox& one : copies_of_part(*copy, equal, at_others.at(copy->to.id)))
              made.push_back({std::move(one), task.tiles});
        }
        batch = std::move(made);
      }
    for (BufferId whole : wholes) devices_[whole.index()] = devices[static_cast<std::size_t>(among_.rank)];
  }

  // Buffers of all processes that only kernels read, and of which a device's copy could come from others as well.
  std::set<BufferId> needed_by_all(const EqualParts& equal) const {
    std::set<BufferId> wholes, others;
    for (const Sequence& sequence : schedule_.sequences)
      for (const Batch& batch : sequence)
        for (const ScheduledTask& task : batch) {
          const auto* copy = std::get_if<CopyBox>(&task.what);
          if (copy && equal.contains(copy->from.id)) wholes.insert(copy->to.id);
          const bool from_device = copy && owner(copy->from.id) != every_process;
          for_each_access(task, [&](BufferId id, bool reads, bool writes) {
            const bool by_kernel = reads && !writes && std::holds_alternative<KernelCall>(task.what);
            const bool is_needed = owner(id) == every_process && at(id).space == MemorySpace::arena;
            if (!is_needed || !(by_kernel || (writes && from_device))) others.insert(id);
          });
        }
    std::erase_if(wholes, [&](BufferId id) { return others.contains(id); });
    return wholes;
  }

  // To this process from its own part or a holder's, and to those that take this process's.
  std::vector<CopyBox> copies_of_part(const CopyBox& copy, const EqualParts& equal,
                                      const std::vector<BufferId>& at_others) {
    const auto known = equal.find(copy.from.id);
    const std::vector<BufferId> parts = known == equal.end() ? std::vector{copy.from.id} : known->second;
    std::vector<CopyBox> copies;
    for (std::int64_t process = 0; process < among_.ranks; ++process) {
      BufferId from = parts[static_cast<std::size_t>(process) % parts.size()];
      for (BufferId part : parts)
        if (owner(part) == process) from = part;
      const bool is_here = process == among_.rank;
      if (!is_here && owner(from) != among_.rank) continue;
      uses_[from.index()].read = true;
      // In the whole schedule nothing may read this part, so its memory is free for others at once.
      Lifetime& lifetime = lifetimes_[from.index()];
      const Lifetime& read = lifetimes_[copy.from.id.index()];
      lifetime = {std::min(lifetime.first, read.first), std::max(lifetime.last, read.last)};
      copies.push_back({from, is_here ? copy.to.id : at_others[static_cast<std::size_t>(process)], copy.box, {}});
    }
    return copies;
  }

  BufferId new_buffer(const Buffer& like, MemorySpace space, std::size_t number, const Box& box, std::int64_t device) {
    schedule_.buffers.push_back({like.name, like.element, box, space, static_cast<std::int64_t>(number), {}});
    devices_.push_back(device);
    lifetimes_.emplace_back();
    uses_.emplace_back();
    return BufferId(schedule_.buffers.size() - 1);
  }

  // A result that is only gathered from others is not: each process keeps the parts that it computes. Results that all
  // processes compute belong to the first one.
  void split_outputs(const std::vector<ProgramTensor>& outputs) {
    std::vector<std::optional<std::size_t>> gathered(schedule_.buffers.size());  // the output, by buffer
    for (std::size_t b = 0; b < gathered.size(); ++b) {
      Buffer& buffer = schedule_.buffers[b];
      if (buffer.space != MemorySpace::output) continue;
      const auto output = static_cast<std::size_t>(buffer.at);
      buffer.space = MemorySpace::arena;
      if (!uses_[b].read && !uses_[b].computed) gathered[b] = output;
      else if (add_result(output, buffer.box, 0)) make_output(buffer, outputs[output]);
    }
    for (Batch& batch : schedule_.sequences.front()) {
      Batch kept;
      for (ScheduledTask& task : batch) {
        const auto* copy = std::get_if<CopyBox>(&task.what);
        if (!copy || !gathered[copy->to.id.index()]) kept.push_back(std::move(task));
        else if (auto part = copied_part(*copy, *gathered[copy->to.id.index()], outputs))
          kept.push_back({std::move(*part), task.tiles});
      }
      batch = std::move(kept);
    }
  }

  // The copy to this process's part; none if it is another's, or if the source itself is the part.
  std::optional<CopyBox> copied_part(const CopyBox& copy, std::size_t output,
                                     const std::vector<ProgramTensor>& outputs) {
    const std::int64_t process = std::max<std::int64_t>(owner(copy.from.id), 0);
    if (!add_result(output, copy.box, process)) return std::nullopt;
    const BufferUses& uses = uses_[copy.from.id.index()];
    Buffer& from = at(copy.from.id);
    const bool itself = from.space == MemorySpace::arena && from.box == copy.box && !uses.exchanged &&
                        !uses.written_inside;
    if (itself) make_output(from, outputs[output]);
    if (itself) return std::nullopt;
    const BufferId to = new_buffer(Buffer(from), MemorySpace::output, 0, copy.box, devices_[copy.from.id.index()]);
    make_output(at(to), outputs[output]);
    return CopyBox{copy.from, to, copy.box, {}};
  }
  // Whether it is a part of this process.
  bool add_result(std::size_t output, const Box& box, std::int64_t process) {
    made_.results[static_cast<std::size_t>(process)].push_back({output, box});
    return process == among_.rank;
  }
  void make_output(Buffer& buffer, const ProgramTensor& whole) {
    buffer.space = MemorySpace::output;
    buffer.at = static_cast<std::int64_t>(schedule_.outputs.size());
    schedule_.outputs.push_back({whole.name, {buffer.element, buffer.box.shape()}, false});
  }

  void keep_own(Sequence& sequence) const {
    for (Batch& batch : sequence) {
      std::erase_if(batch, [&](const ScheduledTask& task) { return !concerns(task); });
      for (ScheduledTask& task : batch)
        if (auto* loop = std::get_if<Iteration>(&task.what))
          std::erase_if(loop->states, [&](const ExchangedState& one) { return !holds(one.now); });
    }
    std::erase_if(sequence, [](const Batch& batch) { return batch.empty(); });
  }
  // A copy concerns the process that sends, too.
  bool concerns(const ScheduledTask& task) const {
    if (const auto* call = std::get_if<KernelCall>(&task.what)) return holds(call->buffers.back().id);
    if (const auto* fill = std::get_if<Fill>(&task.what)) return holds(fill->buffer.id);
    if (const auto* outside = std::get_if<OutsideCall>(&task.what))
      return outside->regions.empty() || holds(outside->regions.back().id);
    if (const auto* copy = std::get_if<CopyBox>(&task.what))
      return holds(copy->to.id) || owner(copy->from.id) == among_.rank;
    return true;
  }

  // Constants are packed for the calls that read them.
  void keep_preparation() {
    if (!schedule_.preparation) return;
    std::vector<bool> used(schedule_.buffers.size());
    for (std::size_t s = 0; s < schedule_.sequences.size(); ++s)
      for (const Batch& batch : schedule_.sequences[s])
        for (const ScheduledTask& task : batch)
          if (s != *schedule_.preparation)
            for_each_access(task, [&](BufferId id, bool, bool) { used[id.index()] = true; });
    schedule_.prepared_bytes = 0;
    Sequence& preparation = schedule_.sequences[*schedule_.preparation];
    for (Batch& batch : preparation) {
      std::erase_if(batch, [&](const ScheduledTask& task) {
        return !used[std::get<KernelCall>(task.what).buffers.back().id.index()];
      });
      for (const ScheduledTask& task : batch) {
        Buffer& to = at(std::get<KernelCall>(task.what).buffers.back().id);
        to.at = schedule_.prepared_bytes;
        schedule_.prepared_bytes = checked::add(to.at, aligned_bytes(to.bytes()));
      }
    }
    std::erase_if(preparation, [](const Batch& batch) { return batch.empty(); });
  }

  // Calls `each(buffer, box, device)` for each input that a task reads: the buffer may be replaced.
  template <class Each>
  void for_each_input(const Each& each) {
    for (Sequence& sequence : schedule_.sequences)
      for (Batch& batch : sequence)
        for (ScheduledTask& task : batch) {
          if (auto* call = std::get_if<KernelCall>(&task.what)) {
            for (std::size_t k = 0; k < reads_of(*call); ++k)
              if (is_input(call->buffers[k].id)) each(call->buffers[k].id, read_by(*call, k), device_of(*call));
          } else if (auto* copy = std::get_if<CopyBox>(&task.what); copy && is_input(copy->from.id)) {
            each(copy->from.id, copy->box, devices_[copy->to.id.index()]);
          }
        }
  }
  bool is_input(BufferId id) const { return at(id).space == MemorySpace::input; }
  std::int64_t device_of(const KernelCall& call) const { return devices_[call.buffers.back().id.index()]; }
  // A row of calls reads the hull of what its members read.
  Box read_by(KernelCall call, std::size_t operand) const {
    if (schedule_.kernels[call.kernel].packs) return at(call.buffers[operand].id).box;
    const Operator& op = program_[schedule_.kernels[call.kernel].computes];
    for (const Counter& counter : call.counters) call.box.dims[counter.dim] = op.dims[counter.dim].range;
    std::optional<Box> all;
    for (const KernelCall& one : members(call)) {
      Box region = read_region(op, static_cast<std::uint32_t>(operand), one.box);
      all = all ? hull(*all, region) : std::move(region);
    }
    return *all;
  }

  // One part for each device, or for several where that takes no more memory. Tasks that need nothing of it have an empty one:
  // kernels know distances in the memory of others.
  void split_inputs(const std::vector<ProgramTensor>& inputs) {
    using Key = std::pair<BufferId, std::pair<std::int64_t, bool>>;
    std::map<Key, ReadPart> read;
    for_each_input([&](BufferId id, const Box& box, std::int64_t device) {
      auto [known, fresh] = read.try_emplace({id, {device, box.empty()}}, ReadPart{box});
      if (!fresh) known->second.box = hull(known->second.box, box);
    });
    std::map<Key, BufferId> buffers;
    for (auto first = read.begin(); first != read.end();) {
      const BufferId whole = first->first.first;
      std::vector<Box> parts;
      std::vector<std::pair<Key, std::size_t>> part_of;
      for (; first != read.end() && first->first.first == whole; ++first)
        part_of.emplace_back(first->first, joined(parts, first->second.box));
      std::vector<BufferId> made;
      for (const Box& box : parts) made.push_back(new_input(whole, box, inputs));
      for (const auto& [key, part] : part_of) buffers[key] = made[part];
    }
    const std::size_t before = devices_.size() - schedule_.inputs.size();
    for_each_input([&](BufferId& id, const Box& box, std::int64_t device) {
      id = buffers.at({id, {device, box.empty()}});
    });
    for (std::size_t b = 0; b < before; ++b)
      if (schedule_.buffers[b].space == MemorySpace::input) schedule_.buffers[b].space = MemorySpace::arena;
  }
  static std::size_t joined(std::vector<Box>& parts, const Box& box) {
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (parts[k].empty() != box.empty()) continue;
      const Box both = hull(parts[k], box);
      if (both.size() > checked::add(parts[k].size(), box.size())) continue;
      parts[k] = both;
      return k;
    }
    parts.push_back(box);
    return parts.size() - 1;
  }
  BufferId new_input(BufferId whole, const Box& box, const std::vector<ProgramTensor>& inputs) {
    const Buffer like = at(whole);
    const auto input = static_cast<std::size_t>(like.at);
    made_.inputs.push_back({input, box});
    schedule_.inputs.push_back({inputs[input].name, {like.element, box.shape()}, inputs[input].constant});
    return new_buffer(like, MemorySpace::input, schedule_.inputs.size() - 1, box, everywhere);
  }

  // Buffers that no task of this process uses get no memory.
  void place() {
    std::vector<bool> used(schedule_.buffers.size());
    for (const Sequence& sequence : schedule_.sequences)
      for (const Batch& batch : sequence)
        for (const ScheduledTask& task : batch)
          for_each_access(task, [&](BufferId id, bool, bool) { used[id.index()] = true; });
    for (std::size_t b = 0; b < used.size(); ++b) {
      Buffer& buffer = schedule_.buffers[b];
      if (buffer.space == MemorySpace::arena) buffer.at = 0;
      if (!used[b] || !holds(BufferId(b))) lifetimes_[b] = {};
    }
    plan_memory(schedule_, lifetimes_);
  }

  const Program& program_;
  const executor::Distribution& among_;
  Schedule schedule_;
  ProcessSchedule made_;
  std::vector<std::int64_t> devices_;  // by buffer
  std::vector<Lifetime> lifetimes_;    // by buffer, in the time of the whole schedule: right for a part of its tasks
  std::vector<BufferUses> uses_;
};

}  // namespace

std::vector<std::int64_t> devices_of(const BufferDevice& device, const Row& row) {
  std::vector<std::int64_t> devices;
  for (std::int64_t n = 0; n < count_of(row); ++n) {
    std::int64_t number = device.first, rest = n;
    for (std::size_t l = device.steps.size(); l-- > 0; rest /= row[l].count)
      number += rest % row[l].count * device.steps[l];
    devices.push_back(device.positions.empty() ? number : device.positions[static_cast<std::size_t>(number)]);
  }
  return devices;
}

ProcessSchedule process_schedule(const Schedule& schedule, const BufferFacts& facts, const Program& program,
                                 const executor::Distribution& among) {
  return ProcessPart(schedule, facts, program, among).run();
}

}  // namespace tap::backend
