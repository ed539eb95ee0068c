#include "cost/search/site_time.h"

#include <algorithm>
#include <utility>

#include "backend/lower/lowered.h"
#include "ir/block_graph.h"
#include "ir/graph.h"
#include "ir/tensor_bytes.h"
#include "passes/splits/expand.h"

namespace tap::cost {

using namespace ir;

OperationTimes::OperationTimes(const Program& program, const Cluster& cluster, std::int64_t threads, bool strict_fp)
    : program_(program),
      model_(cluster, threads),
      strict_fp_(strict_fp),
      lowered_(backend::lower(passes::expand(program), strict_fp, cluster.types.front().core)),
      boxes_(program.graphs.size()) {
  for (const Graph& graph : program.graphs)
    for (const Value& value : graph.values) bytes_of_others_ += total_bytes(value.type);
  for (const BlockGraph& graph : lowered_.blocks.graphs)
    for (const Task& task : graph.tasks)
      if (auto* application = std::get_if<Application>(&task))
        boxes_[graph.graph.index()].emplace(application->operation, application->box);
}

std::size_t OperationTimes::priced() const {
  const std::lock_guard lock(mutex_);
  return known_.size();
}

// Tiles depend on the extents, so each part has a kernel of its own.
backend::Kernel OperationTimes::kernel_for(OperatorId id, const Box& box) {
  const std::pair key(id, box.shape());
  {
    const std::lock_guard lock(mutex_);
    if (auto known = kernels_.find(key); known != kernels_.end()) return known->second;
  }
  Operator local = program_[id];
  for (std::size_t d = 0; d < local.dims.size(); ++d)
    if (local.dims[d].role != DimRole::counter) local.dims[d].range = box.dims[d];
  backend::Kernel kernel =
      backend::lowered(program_, local, {.exact_arithmetic = strict_fp_, .machine = model_.device().core});
  const std::lock_guard lock(mutex_);
  return kernels_.emplace(key, std::move(kernel)).first->second;
}

double OperationTimes::of(GraphId graph, OperationId operation, const Part& part) {
  const Operation& reader = program_[graph][operation];
  auto found = boxes_[graph.index()].find(operation);
  const auto number = lowered_.kernels.of[reader.op.index()];
  if (found == boxes_[graph.index()].end() || !number) return 0;
  const std::pair key(reader.op, part);
  {
    const std::lock_guard lock(mutex_);
    if (auto known = known_.find(key); known != known_.end()) return known->second;
  }
  const double seconds = computed(reader.op, found->second, part);
  const std::lock_guard lock(mutex_);
  return known_.emplace(key, seconds).first->second;
}

double OperationTimes::computed(OperatorId id, const Box& whole, const Part& part) {
  const Operator& op = program_[id];
  Box box = box_to_run(op, whole);
  double share = 1;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    Range& range = box.dims[d];
    if (op.dims[d].role == DimRole::counter) range = {0, 1};
    if (d >= part.parts.size() || part.parts[d] < 2 || range.size() < 1) continue;
    const std::int64_t cells = (range.size() + part.parts[d] - 1) / part.parts[d];
    share *= static_cast<double>(cells) / static_cast<double>(range.size());
    range.hi = range.lo + cells;
  }
  std::vector<backend::Kernel> kernels{kernel_for(id, box)};
  KernelEvent event{0, std::move(box), 1, 1, {}};
  for (std::size_t t = 0; t < kernels[0].operands + kernels[0].results; ++t) {
    TensorType& type = kernels[0].tensors[t].type;
    const bool reads = t < kernels[0].operands;
    const std::vector<Shape>& own = reads ? part.operands : part.results;
    const std::size_t k = reads ? t : t - kernels[0].operands;
    if (k < own.size() && own[k].size() == type.shape.size()) type.shape = own[k];
    event.touches.push_back({t, total_bytes(type), 1});
  }
  event.portions = static_cast<double>(std::max<std::int64_t>(backend::tile_count(kernels[0], event.box), 1));
  // Between two runs of the operation, all others touch their parts.
  constexpr std::size_t others = 1 << 20;
  const CopyEvent between{bytes_of_others_ * share, 1, {}, {others, bytes_of_others_ * share, 1}};
  const Trace trace{{"", "others", 0, between}, {"", "operation", 1, std::move(event)}};
  return model_.of(trace, kernels).rows[1].cost.total();
}

}  // namespace tap::cost
