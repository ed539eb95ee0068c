// `tapc compile --mpi 2,4`: what each process of such jobs runs, beside the whole program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/compiled_program.h"
#include "backend/llvm/library.h"
#include "backend/schedule/schedule.h"
#include "cost/machine/device.h"

namespace tap::driver {

// `facts` are of the call that made the schedule for several processes; `cluster` predicts how long a step may take.
std::vector<backend::ProcessCode> process_programs(const std::vector<std::int64_t>& counts, std::int64_t devices,
                                                   const backend::CompiledProgram& program,
                                                   const backend::Schedule& schedule, const backend::BufferFacts& facts,
                                                   const std::vector<std::string>& features,
                                                   const cost::Cluster& cluster);

}  // namespace tap::driver
