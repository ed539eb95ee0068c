#include "cost/decide/sharding_alternatives.h"

#include <algorithm>

#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/sharded_boxes.h"
#include "ir/tensor_bytes.h"
#include "ir/text/plan_text.h"
#include "passes/caution.h"
#include "passes/shardings/plan_shardings.h"
#include "passes/shardings/propagate.h"
#include "passes/splits/requested_splits.h"

namespace tap::cost {
namespace {

using ir::Sharding;

// Each mesh axis removed, or moved to the minor end of another axis of the value.
std::vector<Sharding> neighbours(const ir::Mesh& mesh, const Sharding& now, const Shape& shape) {
  std::vector<Sharding> found;
  for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
    if (mesh.axes[a].size == 1) continue;
    const ir::AxisRef axis{ir::AxisId(a), {}};
    Sharding base{now.mesh, std::vector<ir::DimSharding>(shape.size()), {}, {}, ""};
    for (std::size_t d = 0; d < shape.size(); ++d) base.dims[d].axes = without(mesh, now.dims[d].axes, {axis});
    auto add = [&](const Sharding& one) {
      if (bare(mesh, one) != bare(mesh, now) && std::find(found.begin(), found.end(), one) == found.end())
        found.push_back(one);
    };
    add(base);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      Sharding one = base;
      append(mesh, one.dims[d].axes, axis);
      if (size_of(mesh, one.dims[d].axes) <= shape[d]) add(one);
    }
  }
  return found;
}

double bytes_held(const ir::Program& program) {
  const ir::Graph& main = program[program.main];
  double bytes = 0;
  for (const auto* list : {&main.inputs, &main.outputs})
    for (ir::ValueId v : *list) {
      const ir::Value& value = main[v];
      const ir::TensorType& type = value.type;
      bytes += ir::total_bytes(value.sharding ? ir::TensorType{type.element, local_shape(program[value.sharding->mesh],
                                                                                         *value.sharding, type.shape)}
                                              : type);
    }
  return bytes;
}

}  // namespace

ShardingAlternatives::ShardingAlternatives(const ir::Program& program, std::vector<passes::Pass> then,
                                           passes::PassContext context, Pricer& pricer)
    : program_(program), then_(std::move(then)), context_(std::move(context)), pricer_(pricer) {}

void ShardingAlternatives::price(const ir::Program& program, PricedSharding& into) {
  const passes::Passed made = passes::run(then_, program, context_);
  if (!made.problems.empty()) return;
  passes::PropagationOptions how;
  how.prepare = false;  // as the pass does
  const passes::Propagated found = passes::propagate(made.program, how);
  if (!found.conflicts.empty()) return;
  // The same splits make the same sharded program, whatever shardings they follow from.
  const ir::Plan written = passes::with_requested_splits(made.program, context_.plan);
  const passes::Caution caution = passes::caution_of(context_);
  const std::string splits = ir::print(passes::plan_of_shardings(found.program, caution, written).plan);
  auto known = known_.find(splits);
  if (known == known_.end()) {
    const std::optional<Prediction> price = pricer_.of(made.program, context_.plan);
    if (pricer_.refused()) return;
    known = known_.emplace(splits, price).first;
  }
  into.price = known->second;
  if (into.price) into.memory = into.price->bytes + bytes_held(found.program);
}

std::vector<PricedSharding> ShardingAlternatives::of(ir::GraphId graph, ir::ValueId value, const Sharding& now) {
  std::vector<PricedSharding> out{{now, true}};
  if (as_it_is_) {
    out.front().price = as_it_is_->price;
    out.front().memory = as_it_is_->memory;
  } else {
    price(program_, out.front());
    if (!pricer_.refused()) as_it_is_ = out.front();
  }
  const Shape& shape = program_[graph][value].type.shape;
  for (const Sharding& other : neighbours(program_[now.mesh], now, shape)) {
    ir::Program changed = program_;
    changed.graphs[graph.index()].values[value.index()].sharding = other;
    out.push_back({other});
    price(changed, out.back());
  }
  return out;
}

}  // namespace tap::cost
