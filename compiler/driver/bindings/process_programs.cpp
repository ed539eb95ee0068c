#include "compiler/driver/bindings/process_programs.h"

#include <algorithm>
#include <cmath>

#include "backend/schedule/process_schedule.h"
#include "cost/model/longest_step.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

void append(std::vector<std::int64_t>& words, const std::vector<backend::HeldPart>& parts) {
  for (const backend::HeldPart& part : parts) {
    words.push_back(static_cast<std::int64_t>(part.tensor));
    for (const ir::Range& range : part.box.dims) words.insert(words.end(), {range.lo, range.hi});
  }
}

}  // namespace

std::vector<backend::ProcessCode> process_programs(const std::vector<std::int64_t>& counts, std::int64_t devices,
                                                   const backend::CompiledProgram& program,
                                                   const backend::Schedule& schedule, const backend::BufferFacts& facts,
                                                   const std::vector<std::string>& features,
                                                   const cost::Cluster& cluster) {
  Phase phase("dividing the program among processes");
  std::vector<backend::ProcessCode> made;
  for (std::int64_t ranks : counts)
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      const executor::Distribution among{rank, ranks, devices};
      const backend::ProcessSchedule own = backend::process_schedule(schedule, facts, program.blocks.program, among);
      backend::ProcessCode code{rank, ranks, devices, 0, {}, {}};
      const double seconds = cost::longest_step(own.schedule, program.kernels.kernels, cluster);
      code.longest_step = static_cast<std::int64_t>(std::ceil(std::min(seconds, 1e9) * 1000));
      code.tables = backend::encode(own.schedule, program.kernels.kernels, features, own.devices);
      append(code.parts, own.inputs);
      append(code.parts, own.results[static_cast<std::size_t>(rank)]);
      made.push_back(std::move(code));
    }
  return made;
}

}  // namespace tap::driver
