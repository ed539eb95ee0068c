#include "compiler/driver/keep/kept_parts.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <variant>

#include "backend/compiled_program.h"
#include "compiler/driver/runnable.h"
#include "ir/graph.h"
#include "support/checked.h"

namespace tap::driver {

using namespace ir;

namespace {

KeptPart part_of_buffer(const RunMemory& memory, BufferId id, const Box& box) {
  const Buffer& buffer = memory.schedule.buffers[id.index()];
  KeptPart made{static_cast<std::byte*>(memory.addresses[id.index()]), size_of(buffer.element), buffer.box.shape(),
                part_of(box)};
  for (std::size_t d = 0; d < box.rank(); ++d) made.part.begin[d] -= buffer.box.dims[d].lo;
  return made;
}
KeptPart whole_buffer(const RunMemory& memory, BufferId id) {
  return part_of_buffer(memory, id, memory.schedule.buffers[id.index()].box);
}

// Null for a call that packs constants.
const Operator* operator_of(const RunMemory& memory, const KernelCall& call) {
  const ScheduledKernel& kernel = memory.executable.schedule().kernels[call.kernel];
  return kernel.packs ? nullptr : &memory.executable.compiled().blocks.program[kernel.computes];
}

std::vector<KeptPart> parts_of(const RunMemory& memory, const KernelCall& call) {
  std::vector<KeptPart> parts;
  const Operator* op = operator_of(memory, call);
  if (!op) return parts;
  for (std::size_t r = 0; r < op->results.size(); ++r)
    parts.push_back(part_of_buffer(memory, call.buffers[op->operands.size() + r].id,
                                   written_region(*op, static_cast<std::uint32_t>(r), call.box)));
  return parts;
}

// Reads come first. Each region has a buffer of its own.
std::vector<KeptPart> parts_of(const RunMemory& memory, const OutsideCall& call) {
  std::vector<KeptPart> parts;
  const Program& program = memory.executable.compiled().blocks.program;
  const OperationRef& what = memory.executable.schedule().operations[call.operation].what;
  if (!what.path.empty()) return parts;
  const Operator& op = program[program[program.main][what.operation].op];
  for (std::size_t k = op.reads.size(); k < call.regions.size(); ++k)
    parts.push_back(whole_buffer(memory, call.regions[k].id));
  return parts;
}

// Whether every cell of the hull is written: each cell is written once, so as many points as the hull has cells fill it.
bool fills_hull(const Operator& op, const Access& write, const Box& box) {
  if (!op.constraints.empty()) return false;
  std::int64_t cells = element_count(write.projection.shape);
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    const auto& rows = write.projection.start.rows;
    if (std::any_of(rows.begin(), rows.end(), [&](const AffineExpr& row) { return row.coefficients[d] != 0; }))
      cells = checked::mul(cells, box.dims[d].size());
  }
  return cells >= written_region(op, write.tensor, box).size();
}

bool leaves_gaps(const RunMemory& memory, const ScheduledTask& task) {
  const auto* call = std::get_if<KernelCall>(&task.what);
  if (!call) return true;
  const Operator* op = operator_of(memory, *call);
  return !op || std::any_of(op->writes.begin(), op->writes.end(),
                            [&](const Access& write) { return !fills_hull(*op, write, call->box); });
}

}  // namespace

std::vector<KeptPart> written_parts(const RunMemory& memory, const ScheduledTask& task) {
  std::vector<KeptPart> parts;
  if (const auto* call = std::get_if<KernelCall>(&task.what)) parts = parts_of(memory, *call);
  if (const auto* call = std::get_if<OutsideCall>(&task.what)) parts = parts_of(memory, *call);
  std::erase_if(parts, [](const KeptPart& part) { return element_count(part.part.shape) == 0; });
  return parts;
}

std::vector<KeptPart> state_parts(const RunMemory& memory, const Iteration& loop) {
  std::vector<KeptPart> parts;
  for (const ExchangedState& state : loop.states) parts.push_back(whole_buffer(memory, state.now));
  return parts;
}

void drop_shared_tensors(const RunMemory& memory, const std::vector<ScheduledTask>& calls,
                         const std::vector<std::vector<KeptPart>*>& parts) {
  struct Writers {
    std::int64_t count = 0;
    bool gaps = false;
  };
  std::map<const std::byte*, Writers> writers;  // by tensor
  for (std::size_t k = 0; k < calls.size(); ++k)
    for (const KeptPart& part : *parts[k]) {
      Writers& its = writers[part.tensor];
      ++its.count;
      its.gaps = its.gaps || leaves_gaps(memory, calls[k]);
    }
  for (std::vector<KeptPart>* own : parts)
    if (std::any_of(own->begin(), own->end(), [&](const KeptPart& part) {
          const Writers& its = writers[part.tensor];
          return its.gaps && its.count > 1;
        }))
      own->clear();
}

}  // namespace tap::driver
