#include "compiler/driver/memory_limit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "backend/compiled_program.h"
#include "backend/schedule/process_schedule.h"
#include "compiler/driver/device_processes.h"
#include "compiler/driver/mpi_host.h"
#include "compiler/driver/process_messages.h"
#include "compiler/driver/show/columns.h"
#include "ir/graph.h"
#include "support/checked.h"
#include "support/exit_code.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

using namespace ir;

std::int64_t bytes_of_box(const Box& box, ElementType type) {
  return checked::mul(box.size(), static_cast<std::int64_t>(size_of(type)));
}

// Whether the box's cells follow one another in the buffer.
bool is_contiguous(const Box& box, const Box& buffer) {
  std::size_t axis = 0;
  while (axis < box.dims.size() && box.dims[axis].size() == 1) ++axis;
  for (++axis; axis < box.dims.size(); ++axis)
    if (box.dims[axis] != buffer.dims[axis]) return false;
  return true;
}

// Boxes that are sent or received by this process are packed unless they are contiguous.
std::int64_t packed_bytes(const Schedule& own, const std::vector<BufferDevice>& devices, const Batch& batch,
                          const executor::Distribution& among) {
  constexpr std::int64_t header = 64;
  auto process_of = [&](BufferId id) {
    const std::int64_t device = devices[id.index()].first;
    return device == everywhere ? -1 : among.rank_of(device);
  };
  std::int64_t bytes = 0;
  for (const ScheduledTask& task : batch) {
    const auto* copy = std::get_if<CopyBox>(&task.what);
    if (!copy) continue;
    const std::int64_t from = process_of(copy->from.id), to = process_of(copy->to.id);
    if (from < 0 || from == to) continue;
    const Buffer& buffer = own.buffers[(from == among.rank ? copy->from : copy->to).id.index()];
    if (is_contiguous(copy->box, buffer.box)) continue;
    bytes = checked::add(bytes, checked::add(bytes_of_box(copy->box, buffer.element), header));
  }
  return bytes;
}

MemoryNeed need_of(const backend::CompiledProgram& program, const Schedule& own,
                   const std::vector<BufferDevice>& devices, std::int64_t threads,
                   const executor::Distribution* among) {
  MemoryNeed need;
  auto add = [](std::int64_t& sum, const TensorType& type) {
    sum = checked::add(sum, bytes_of_box(Box::of_shape(type.shape), type.element));
  };
  for (const ProgramTensor& input : own.inputs) add(need.inputs, input.type);
  for (const ProgramTensor& output : own.outputs) add(need.results, output.type);
  need.intermediates = own.arena_bytes;
  need.constants = own.prepared_bytes;
  need.scratch = checked::mul(backend::most_scratch(program.kernels.kernels), threads);
  for (const Sequence& sequence : own.sequences)
    for (const Batch& batch : sequence)
      if (among) need.messages = std::max(need.messages, packed_bytes(own, devices, batch, *among));
  return need;
}

// Whole results, and a box of another process at a time.
std::int64_t gathered_bytes(const Program& program, const std::vector<bool>& gathered) {
  const Graph& graph = program[program.main];
  std::int64_t sum = 0, largest = 0;
  for (std::size_t k = 0; k < gathered.size(); ++k) {
    if (!gathered[k]) continue;
    const TensorType& type = graph[graph.outputs[k]].type;
    const std::int64_t bytes = bytes_of_box(Box::of_shape(type.shape), type.element);
    sum = checked::add(sum, bytes);
    largest = std::max(largest, bytes);
  }
  return checked::add(sum, largest);
}

// In whole MiB or KiB, rounded up, as --memory reads it.
std::string enough(std::int64_t bytes) {
  constexpr std::int64_t kib = 1024, mib = kib * kib;
  const bool is_small = bytes < 100 * mib;
  const std::int64_t unit = is_small ? kib : mib;
  return fmt::format("{}{}", bytes / unit + (bytes % unit != 0), is_small ? "KiB" : "MiB");
}

std::string shown(std::int64_t bytes) { return bytes_text(static_cast<double>(bytes)); }

std::string listed(const MemoryNeed& need) {
  std::string text;
  const std::pair<std::int64_t, const char*> parts[] = {{need.inputs, "inputs"},
                                                        {need.results, "results"},
                                                        {need.intermediates, "intermediates"},
                                                        {need.constants, "packed constants"},
                                                        {need.scratch, "scratch"},
                                                        {need.messages, "messages"}};
  for (auto [bytes, what] : parts)
    if (bytes > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", shown(bytes), what);
  return text;
}

Diagnostic exceeded(const std::string& who, const MemoryNeed& need, std::int64_t limit) {
  return Diagnostic(Code::out_of_memory, Span{},
                    fmt::format("{} needs {}, but `--memory` allows {}", who, shown(need.total()), shown(limit)))
      .note(listed(need));
}

std::string devices_of_process(const executor::Distribution& among, std::int64_t process) {
  std::vector<std::int64_t> its;
  for (std::int64_t device = 0; device < among.devices; ++device)
    if (among.rank_of(device) == process) its.push_back(device);
  if (its.empty()) return "no devices";
  return fmt::format("device{} {}", its.size() == 1 ? "" : "s", fmt::join(its, ", "));
}

// What the largest device would need in a process of its own.
std::pair<std::int64_t, MemoryNeed> largest_device(const backend::CompiledProgram& program, std::int64_t devices,
                                                   std::int64_t threads) {
  backend::BufferFacts facts;
  backend::ScheduleOptions how;
  how.facts = &facts;
  how.shared = true;
  const Schedule whole = backend::schedule(program.blocks, program.kernels, how);
  std::pair<std::int64_t, MemoryNeed> largest;
  for (std::int64_t device = 0; device < devices; ++device) {
    const executor::Distribution among{device, devices, devices};
    const backend::ProcessSchedule own = backend::process_schedule(whole, facts, program.blocks.program, among);
    const MemoryNeed need = need_of(program, own.schedule, own.devices, threads, &among);
    if (device == 0 || need.total() > largest.second.total()) largest = {device, need};
  }
  return largest;
}

void require_alone(const backend::CompiledProgram& program, const MemoryNeed& need, const MemoryLimit& limit) {
  if (need.total() <= limit.bytes) return;
  Diagnostic diagnostic = exceeded("the program", need, limit.bytes);
  const std::int64_t devices = count_devices(program.blocks.program);
  constexpr std::int64_t most_devices = 256;  // that are priced one by one
  if (devices > 1 && devices <= most_devices) {
    const auto [device, its] = largest_device(program, devices, limit.threads);
    diagnostic.note(fmt::format("in a process of its own, device {} needs {}, the most of {} devices: {}", device,
                                shown(its.total()), devices, listed(its)));
  }
  diagnostic.help(fmt::format("`--memory {}` is enough", enough(need.total())));
  throw MemoryExceeded{{exit_code::resource, std::move(diagnostic)}};
}

// What processes tell the first one.
struct Told {
  MemoryNeed need;
  std::int64_t limit = 0;
};

void require_of_all(const MemoryNeed& need, const MemoryLimit& limit) {
  const MpiHost& host = *limit.host;
  const ProcessMessages messages(host);
  std::vector<Told> told(static_cast<std::size_t>(host.size()), Told{need, limit.bytes});
  if (!host.is_first()) messages.send(0, std::as_bytes(std::span(&told.front(), 1)));
  for (std::int64_t process = 1; process < host.size() && host.is_first(); ++process)
    messages.receive(process, std::as_writable_bytes(std::span(&told[static_cast<std::size_t>(process)], 1)));
  auto excess = [](const Told& one) { return one.need.total() - one.limit; };
  const auto worst = std::ranges::max_element(told, {}, excess);
  std::int64_t refused = excess(*worst) > 0;
  for (std::int64_t process = 1; process < host.size() && host.is_first(); ++process)
    messages.send(process, std::as_bytes(std::span(&refused, 1)));
  if (!host.is_first()) messages.receive(0, std::as_writable_bytes(std::span(&refused, 1)));
  if (refused == 0) return;
  std::int64_t most = 0;
  for (const Told& one : told) most = std::max(most, one.need.total());
  const std::int64_t process = worst - told.begin();
  throw MemoryExceeded{
      {exit_code::resource,
       exceeded(fmt::format("process {} of the job ({})", process, devices_of_process(*limit.among, process)),
                worst->need, worst->limit)
           .help(fmt::format("`--memory {}` is enough for every process", enough(most)))}};
}

}  // namespace

std::int64_t MemoryNeed::total() const {
  std::int64_t sum = 0;
  for (std::int64_t part : {inputs, results, intermediates, constants, scratch, messages})
    sum = checked::add(sum, part);
  return sum;
}

void require_memory(const backend::CompiledProgram& program, const ir::Schedule& own,
                    const std::vector<ir::BufferDevice>& devices, const MemoryLimit& limit) {
  if (limit.bytes == 0) return;
  MemoryNeed need = need_of(program, own, devices, limit.threads, limit.among ? &*limit.among : nullptr);
  if (!limit.host) return require_alone(program, need, limit);
  if (limit.host->is_first() && limit.gathered)
    need.results = checked::add(need.results, gathered_bytes(program.blocks.program, *limit.gathered));
  require_of_all(need, limit);
}

}  // namespace tap::driver
