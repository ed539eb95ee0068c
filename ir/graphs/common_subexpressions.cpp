// Common subexpressions: two operations are one if their operators are equal by structure and they read the same
// values.
//
//   a = exp(x)   b = exp(x)   c = a + b     →     a = exp(x)   c = a + a
//
// A value may have several writers, and an operation several results; operations that are connected in this way form a
// bundle, and bundles are compared as a whole: writer by writer, in order. Annotated values and operations (a group, a
// barrier, a split) are never merged, nor are values of different shardings.
#include <algorithm>
#include <numeric>

#include "ir/graph.h"
#include "ir/graphs/graph_algorithms.h"
#include "ir/graphs/graph_rebuild.h"
#include "ir/hash.h"

namespace tap::ir {
namespace {

// Numbers things so that equal ones get the same number.
template <class T, class Hash, class Equal>
class Distinct {
 public:
  Distinct(Hash hash, Equal equal) : hash_(hash), equal_(equal) {}

  std::size_t number(const T& thing) {
    std::size_t h = hash_(thing);
    auto [begin, end] = by_hash_.equal_range(h);
    for (auto it = begin; it != end; ++it)
      if (equal_(*things_[it->second], thing)) return it->second;
    things_.push_back(&thing);
    by_hash_.emplace(h, things_.size() - 1);
    return things_.size() - 1;
  }

 private:
  Hash hash_;
  Equal equal_;
  std::vector<const T*> things_;
  std::unordered_multimap<std::size_t, std::size_t> by_hash_;
};

struct Bundle {
  std::vector<std::size_t> operations;
  std::vector<ValueId> values;  // in the order in which the operations first write them
  bool pinned = false;
};

using Key = std::vector<std::size_t>;
struct KeyHash {
  std::size_t operator()(const Key& key) const {
    return std::accumulate(key.begin(), key.end(), key.size(), hash_combine);
  }
};

std::size_t hash_sharding(const Sharding& s) {
  std::size_t hash = s.mesh.index();
  for (const DimSharding& dim : s.dims) {
    hash = hash_combine(hash, dim.axes.size());
    for (const AxisRef& axis : dim.axes) hash = hash_combine(hash, axis.id.index());
  }
  return hash;
}

class Merger {
 public:
  Merger(const Program& program, const Graph& graph)
      : program_(program),
        graph_(graph),
        part_{Selection(graph, true), {}, {}},
        is_output_(graph.values.size(), false) {
    for (ValueId v : graph.outputs) is_output_[v.index()] = true;
  }

  SharedPart run() {
    number_operators();
    make_bundles();
    std::unordered_map<Key, std::size_t, KeyHash> seen;
    for (std::size_t i = 0; i < graph_.operations.size(); ++i) {
      std::size_t b = bundle_of_[i];
      // At its last operation, everything that a bundle reads has been processed; readers of its results come later.
      if (bundles_[b].operations.back() != i || bundles_[b].pinned) continue;
      auto [it, fresh] = seen.emplace(key_of(bundles_[b]), b);
      if (!fresh) merge(bundles_[it->second], bundles_[b]);
    }
    return std::move(part_);
  }

 private:
  void number_operators() {
    std::vector<bool> used(program_.operators.size(), false);
    for (const Operation& operation : graph_.operations) used[operation.op.index()] = true;
    Distinct<Operator, std::size_t (*)(const Operator&), bool (*)(const Operator&, const Operator&)> distinct(
        structural_hash, equal_structure);
    operator_class_.resize(program_.operators.size());
    for (std::size_t i = 0; i < used.size(); ++i)
      if (used[i]) operator_class_[i] = distinct.number(program_.operators[i]);
  }

  // Operations that write a common value form a bundle: union-find over operations.
  void make_bundles() {
    std::vector<std::size_t> parent(graph_.operations.size());
    std::iota(parent.begin(), parent.end(), 0);
    auto root = [&](std::size_t i) {
      while (parent[i] != i) i = parent[i] = parent[parent[i]];
      return i;
    };
    DefUse uses = def_use(graph_);
    for (const auto& writers : uses.writers)
      for (OperationId writer : writers) parent[root(writer.index())] = root(writers.front().index());

    std::vector<std::size_t> bundle_of_root(parent.size(), parent.size());
    std::vector<bool> seen(graph_.values.size(), false);
    for (std::size_t i = 0; i < parent.size(); ++i) {
      std::size_t& b = bundle_of_root[root(i)];
      if (b == parent.size()) b = bundles_.size(), bundles_.emplace_back();
      bundle_of_.push_back(b);
      bundles_[b].operations.push_back(i);
      for (ValueId v : graph_.operations[i].results)
        if (!seen[v.index()]) seen[v.index()] = true, bundles_[b].values.push_back(v);
    }
    pin();
  }

  void pin() {
    std::vector<bool> pinned(graph_.values.size(), false);
    for (const ShardingGroup& group : graph_.groups)
      for (ValueId v : group.values) pinned[v.index()] = true;
    for (const Barrier& barrier : graph_.barriers) pinned[barrier.value.index()] = true;
    for (ValueId v : graph_.inputs) pinned[v.index()] = true;
    for (Bundle& bundle : bundles_)
      for (ValueId v : bundle.values) bundle.pinned |= pinned[v.index()];
    for (std::size_t o = 0; o < graph_.operations.size(); ++o)
      if (!graph_.operations[o].placements.empty()) bundles_[bundle_of_[o]].pinned = true;
    for (const SplitRequest& split : graph_.splits) bundles_[bundle_of_[split.operation.index()]].pinned = true;
  }

  // Everything that must agree: per operation the operator, the operands, and which of the bundle's values it writes.
  Key key_of(const Bundle& bundle) {
    Key key{bundle.operations.size(), bundle.values.size()};
    for (std::size_t i : bundle.operations) {
      const Operation& operation = graph_.operations[i];
      key.push_back(operator_class_[operation.op.index()]);
      key.push_back(operation.operands.size());
      for (ValueId v : operation.operands) key.push_back(part_.selection.replacement[v.index()].index());
      for (const auto& sharding : operation.operand_shardings) key.push_back(number(sharding));
      for (ValueId v : operation.results)
        key.push_back(std::find(bundle.values.begin(), bundle.values.end(), v) - bundle.values.begin());
    }
    for (ValueId v : bundle.values) key.push_back(number(graph_[v].sharding) * 2 + graph_[v].is_const);
    return key;
  }

  std::size_t number(const std::optional<Sharding>& sharding) {
    return sharding ? 1 + shardings_.number(*sharding) : 0;
  }

  // Outputs keep their names: two outputs stay two values, and a merged value takes the output's name.
  void merge(const Bundle& kept, const Bundle& removed) {
    for (std::size_t k = 0; k < kept.values.size(); ++k)
      if (is_output_[kept.values[k].index()] && is_output_[removed.values[k].index()]) return;
    for (std::size_t k = 0; k < kept.values.size(); ++k) {
      ValueId from = removed.values[k], to = kept.values[k];
      part_.selection.values[from.index()] = false;
      part_.selection.replacement[from.index()] = to;
      if (is_output_[from.index()]) {
        is_output_[to.index()] = true;
        part_.takes_name.emplace_back(to, from);
      }
    }
    for (std::size_t k = 0; k < removed.operations.size(); ++k) {
      part_.selection.operations[removed.operations[k]] = false;
      part_.equal.emplace_back(kept.operations[k], removed.operations[k]);
    }
  }

  const Program& program_;
  const Graph& graph_;
  SharedPart part_;
  std::vector<bool> is_output_;
  std::vector<std::size_t> operator_class_;  // by operator
  std::vector<Bundle> bundles_;
  std::vector<std::size_t> bundle_of_;  // by operation
  Distinct<Sharding, std::size_t (*)(const Sharding&), std::equal_to<Sharding>> shardings_{hash_sharding, {}};
};

}  // namespace

SharedPart shared_part(const Program& program, const Graph& graph) { return Merger(program, graph).run(); }

}  // namespace tap::ir
