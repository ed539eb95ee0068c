#include "backend/schedule/rows_of_calls.h"

#include <utility>

namespace tap::backend {

using namespace ir;

Schedule with_rows_of_calls(Schedule schedule) {
  for (Sequence& sequence : schedule.sequences)
    for (Batch& batch : sequence) {
      Batch calls;
      for (ScheduledTask& task : batch) {
        auto* call = std::get_if<KernelCall>(&task.what);
        if (!call || call->row.size() < 2) {
          calls.push_back(std::move(task));
          continue;
        }
        const Row innermost{call->row.back()};
        call->row.pop_back();
        for (KernelCall& one : members(*call)) {
          one.row = innermost;
          calls.push_back({std::move(one), task.tiles});
        }
      }
      batch = std::move(calls);
    }
  return schedule;
}

}  // namespace tap::backend
