#include "cost/search/site_time.h"

#include <algorithm>

#include "ir/block_graph.h"
#include "ir/graph.h"
#include "passes/splits/expand.h"

namespace tap::cost {

using namespace ir;

namespace {

double bytes_of(const TensorType& type) {
  double bytes = static_cast<double>(size_of(type.element));
  for (std::int64_t extent : type.shape) bytes *= static_cast<double>(extent);
  return bytes;
}

}  // namespace

OperationTimes::OperationTimes(const Program& program, const Cluster& cluster, std::int64_t threads, bool strict_fp)
    : program_(program),
      model_(cluster, threads),
      lowered_(backend::lower(passes::expand(program), strict_fp, cluster.types.front().core)),
      boxes_(program.graphs.size()) {
  for (const BlockGraph& graph : lowered_.blocks.graphs)
    for (const Task& task : graph.tasks)
      if (auto* application = std::get_if<Application>(&task))
        boxes_[graph.graph.index()].emplace(application->operation, application->box);
}

double OperationTimes::seconds(GraphId graph, OperationId operation, const std::vector<std::int64_t>& parts) {
  const Operation& reader = program_[graph][operation];
  const Operator& op = program_[reader.op];
  auto found = boxes_[graph.index()].find(operation);
  const auto kernel = lowered_.kernels.of[reader.op.index()];
  if (found == boxes_[graph.index()].end() || !kernel) return 0;
  auto [known, fresh] = known_.try_emplace({reader.op, parts}, 0);
  if (!fresh) return known->second;
  Box box = box_to_run(op, found->second);
  double share = 1;
  for (std::size_t d = 0; d < op.dims.size() && d < parts.size(); ++d) {
    Range& range = box.dims[d];
    if (op.dims[d].role == DimRole::counter) range = {0, 1};
    if (parts[d] < 2 || range.size() < 1) continue;
    const std::int64_t cells = (range.size() + parts[d] - 1) / parts[d];
    share *= static_cast<double>(cells) / static_cast<double>(range.size());
    range.hi = range.lo + cells;
  }
  KernelEvent event{*kernel, std::move(box), 1, 1, {}};
  event.portions =
      static_cast<double>(std::max<std::int64_t>(backend::tile_count(lowered_.kernels.kernels[*kernel], event.box), 1));
  std::size_t memory = 0;
  for (const auto* list : {&op.operands, &op.results})
    for (const TensorType& type : *list) event.touches.push_back({memory++, bytes_of(type) * share, 1});
  const Trace trace{{"", "", 0, std::move(event)}};
  const Cost cost = model_.of(trace, lowered_.kernels.kernels).total;
  return known->second = cost.total() - model_.device().run;
}

}  // namespace tap::cost
