#include "cost/model/longest_step.h"

#include <algorithm>
#include <map>

#include "cost/model/model.h"
#include "cost/model/trace.h"

namespace tap::cost {
namespace {

// The batch of each row: rows come in the order of the events, without iterates, whose bodies they list instead. The last row,
// the start of a run, has none.
void list_batches(const Trace& trace, std::vector<std::size_t>& batches) {
  for (const Event& event : trace)
    if (const auto* repeat = std::get_if<Repeat>(&event.does)) list_batches(repeat->body, batches);
    else batches.push_back(event.batch);
}

}  // namespace

double longest_step(const ir::Schedule& schedule, const std::vector<backend::Kernel>& kernels, const Cluster& cluster) {
  const Trace trace = trace_of(schedule, kernels);
  std::vector<std::size_t> batches;
  list_batches(trace, batches);
  Model model(cluster, 1);
  const ProgramCost cost = model.of(trace, kernels);
  std::map<std::size_t, double> seconds;  // by batch
  for (std::size_t k = 0; k < batches.size(); ++k)
    seconds[batches[k]] += cost.rows[k].cost.total() / std::max(cost.rows[k].times, 1.0);
  double longest = 0;
  for (auto [batch, its] : seconds) longest = std::max(longest, its);
  return longest;
}

}  // namespace tap::cost
