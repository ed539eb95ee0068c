// Copies of all cells of a value, which several buffers hold together, to one buffer.
#pragma once

#include "backend/schedule/schedule_tasks.h"

namespace tap::backend {

// Every cell once, even if several buffers hold it, as tasks of the operation with this number.
void gather(ScheduleTasks& tasks, const std::vector<BufferId>& parts, BufferId to, std::size_t order);

// Levels along all members of a buffer that is copied from, to, or both.
ir::Row along_members(const Buffer& buffer, bool from, bool to);

}  // namespace tap::backend
