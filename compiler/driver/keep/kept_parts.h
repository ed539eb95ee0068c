// Which cells of a run's memory are one kept result: what one call writes, or the states of an iterate.
#pragma once

#include <vector>

#include "backend/llvm/executable.h"
#include "backend/schedule/schedule.h"
#include "compiler/driver/keep/kept_folder.h"

namespace tap::driver {

struct RunMemory {
  const backend::Executable& executable;
  const backend::EncodedSchedule& schedule;
  void* const* addresses = nullptr;  // by buffer
};

// Of a call of a kernel or an outside kernel; of other tasks nothing: what they do is done again.
std::vector<KeptPart> written_parts(const RunMemory& memory, const ir::ScheduledTask& call);
// Before a trip.
std::vector<KeptPart> state_parts(const RunMemory& memory, const ir::Iteration& loop);

// Clears calls of one batch whose boxes may have gaps, into which others of them write: what is there depends on which of
// them came first.
void drop_shared_tensors(const RunMemory& memory, const std::vector<ir::ScheduledTask>& calls,
                         const std::vector<std::vector<KeptPart>*>& parts);

}  // namespace tap::driver
