#include "cost/model/task_times.h"

#include <algorithm>

#include "cost/model/model.h"
#include "cost/model/trace.h"

namespace tap::cost {
namespace {

constexpr double seconds_of_batch = 0.5e-6;  // two to four threads that are awake

// The rows of a prediction come in the order of the tasks, with those of an iterate's body in its place.
class Rows {
 public:
  Rows(const ir::Schedule& schedule, const std::vector<CostRow>& rows) : schedule_(schedule), rows_(rows) {
    seconds.resize(schedule.sequences.size());
  }
  void take(std::size_t sequence) {
    for (const ir::Batch& batch : schedule_.sequences[sequence]) {
      std::vector<double> its;
      for (const ir::ScheduledTask& task : batch)
        if (const auto* loop = std::get_if<ir::Iteration>(&task.what)) {
          take(loop->body);
          its.push_back(0);
        } else {
          const CostRow& row = rows_[next_++];
          its.push_back(row.cost.total() / std::max(row.times, 1.0));
        }
      seconds[sequence].push_back(std::move(its));
    }
  }
  std::vector<std::vector<std::vector<double>>> seconds;

 private:
  const ir::Schedule& schedule_;
  const std::vector<CostRow>& rows_;
  std::size_t next_ = 0;
};

}  // namespace

backend::TaskTimes task_times(const ir::Schedule& schedule, const std::vector<backend::Kernel>& kernels,
                              const ir::Machine& machine) {
  Model model(builtin_cluster(builtin(machine, 1)), 1);
  const ProgramCost cost = model.of(trace_of(schedule, kernels), kernels);
  Rows rows(schedule, cost.rows);
  rows.take(0);
  const Link& link = model.cluster().links.front();
  return {std::move(rows.seconds), seconds_of_batch, link.latency, link.bandwidth};
}

}  // namespace tap::cost
