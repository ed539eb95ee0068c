#include "passes/shardings/propagate.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/graph.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_position.h"
#include "passes/shardings/prepare_shardings.h"
#include "passes/shardings/propagation_run.h"

namespace tap::passes {
namespace {

using ir::Sharding;

class Propagator {
 public:
  Propagator(const ir::Program& program, const PropagationOptions& options)
      : program_(program), options_(options), net_(net_of(program)) {}

  std::vector<std::string> run(std::vector<Origin>& origins) {
    if (options_.prepare) apply_constraints(net_, program_);
    std::vector<std::string> conflicts = share_group_shardings(net_, program_);
    for (const Node& node : net_.nodes) given_.push_back(node.sharding);
    if (options_.user_priorities) defer_priorities();
    by_levels(origins);
    for (const auto& [priority, nodes] : held_back_) {
      for (NodeId n : nodes) release(n, priority);
      by_levels(origins);
    }
    if (options_.keep_net)
      for (const Node& node : net_.nodes) reached_.push_back(node.sharding);
    if (options_.finish) finish();
    return conflicts;
  }

  // With the shardings before `finish`, which closes all dims. Pre: `keep_net`. Nothing can be done afterwards.
  std::shared_ptr<const ShardingNet> take_net() {
    for (NodeId n = 0; n < net_.nodes.size(); ++n) net_.nodes[n].sharding = std::move(reached_[n]);
    return std::make_shared<const ShardingNet>(std::move(net_));
  }

  void store(ir::Program& program) const {
    for (const Node& node : net_.nodes) {
      if (node.synthetic) continue;
      ir::Graph& graph = program.graphs[node.graph.index()];
      if (node.reader) graph.operations[node.reader->index()].operand_shardings[node.operand] = node.sharding;
      else graph.values[node.value.index()].sharding = node.sharding;
    }
  }

 private:
  void by_levels(std::vector<Origin>& origins) {
    PropagationRunOptions options{options_.strategy, PropagationLevel::all, options_.conservative};
    if (!options_.operation_levels) return run_propagation(net_, program_, options, origins);
    for (PropagationLevel level : all_levels) {
      options.level = level;
      run_propagation(net_, program_, options, origins);
    }
  }

  // Until its priority's turn, a dim is empty and closed, and its axes are reserved.
  void defer_priorities() {
    originals_.resize(net_.nodes.size());
    for (NodeId n = 0; n < net_.nodes.size(); ++n) {
      std::optional<Sharding>& sharding = net_.nodes[n].sharding;
      if (!sharding) continue;
      originals_[n] = sharding;
      std::set<std::int64_t> later;
      for (ir::DimSharding& dim : sharding->dims) {
        std::int64_t priority = dim.priority.value_or(0);
        dim.priority.reset();
        if (priority == 0) continue;
        later.insert(priority);
        sharding->replicated.insert(sharding->replicated.end(), dim.axes.begin(), dim.axes.end());
        dim = {};
      }
      if (later.empty()) continue;
      sharding->replicated = in_mesh_order(program_[sharding->mesh], sharding->replicated);
      for (std::int64_t priority : later) held_back_[priority].push_back(n);
    }
  }

  void release(NodeId n, std::int64_t priority) {
    Sharding& sharding = *net_.nodes[n].sharding;
    const ir::Mesh& mesh = program_[sharding.mesh];
    for (std::size_t d = 0; d < sharding.dims.size(); ++d) {
      const ir::DimSharding& original = originals_[n]->dims[d];
      if (original.priority.value_or(0) != priority) continue;
      sharding.dims[d] = {original.axes, original.open, std::nullopt};
      sharding.replicated = without(mesh, sharding.replicated, original.axes);
    }
  }

  void finish() {
    normalise_inferred(net_, program_, given_);
    for (Node& node : net_.nodes)
      if (node.sharding)
        for (ir::DimSharding& dim : node.sharding->dims) dim = {dim.axes, false, std::nullopt};
  }

  const ir::Program& program_;
  const PropagationOptions& options_;
  ShardingNet net_;
  std::vector<std::optional<Sharding>> given_;             // by node
  std::vector<std::optional<Sharding>> originals_;         // likewise
  std::vector<std::optional<Sharding>> reached_;           // likewise, with `keep_net`
  std::map<std::int64_t, std::vector<NodeId>> held_back_;  // by priority
};

}  // namespace

Propagated propagate(ir::Program program, const PropagationOptions& options) {
  if (options.prepare) program = with_own_constants(std::move(program));
  Propagated out;
  Propagator propagator(program, options);
  out.conflicts = propagator.run(out.origins);
  propagator.store(program);
  out.how = options;
  if (options.keep_net) out.net = propagator.take_net();
  out.program = std::move(program);
  return out;
}

}  // namespace tap::passes
