// The form in which schedules are encoded: no rows of memories, and rows of calls with one level each.
#pragma once

#include "ir/schedule.h"

namespace tap::backend {

// Splits rows of rows into rows. Pre: rows differ only in the boxes of kernels (ir::by_memory).
ir::Schedule with_rows_of_calls(ir::Schedule schedule);

}  // namespace tap::backend
