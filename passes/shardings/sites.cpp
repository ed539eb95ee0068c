#include "passes/shardings/sites.h"

#include <algorithm>

#include "ir/graph.h"
#include "ir/graphs/graph_algorithms.h"

namespace tap::passes {
namespace {

using ir::OperationId;
using ir::ValueId;

// The sites of one graph.
class SiteFinder {
 public:
  SiteFinder(const ir::Program& program, const ir::Graph& graph, FactorTable& table)
      : program_(program), graph_(graph), table_(table), uses_(def_use(graph)) {}

  std::vector<Site> find() {
    std::vector<Site> sites;
    std::vector<bool> done(graph_.operations.size());
    for (std::uint32_t o = 0; o < graph_.operations.size(); ++o) {
      if (done[o] || program_[graph_.operations[o].op].region()) continue;
      std::vector<OperationId> together = co_writers(OperationId(o));
      for (OperationId each : together) done[each.index()] = true;
      sites.push_back(together.size() == 1 ? site_of(program_, graph_, together[0], table_)
                                           : joint(std::move(together)));
    }
    return sites;
  }

 private:
  // The operations that write parts of the same value as this one, in order.
  std::vector<OperationId> co_writers(OperationId first) const {
    std::vector<OperationId> list{first};
    for (std::size_t k = 0; k < list.size(); ++k)
      for (ValueId value : graph_[list[k]].results)
        for (OperationId other : uses_.writers[value.index()])
          if (!program_[graph_[other].op].region() && std::find(list.begin(), list.end(), other) == list.end())
            list.push_back(other);
    std::sort(list.begin(), list.end());
    return list;
  }

  Site joint(std::vector<OperationId> operations) {
    Site site{std::move(operations), {}, {}, {}, {}};
    std::vector<TensorFactors> results;
    for (OperationId o : site.operations) append(site, results, o);
    site.broadcast.assign(site.operands.size(), false);
    unite(site, results);
    return site;
  }

  // Appends the operation's factors to the existing ones.
  void append(Site& site, std::vector<TensorFactors>& results, OperationId o) {
    Factors added = table_[graph_[o].op];
    auto base = static_cast<std::uint32_t>(site.factors.factors.size());
    auto shift = [&](TensorFactors& tensor) {
      for (AxisFactors& axis : tensor.axes)
        for (std::uint32_t& f : axis.factors) f += base;
    };
    for (Factor& factor : added.factors) site.factors.factors.push_back(std::move(factor));
    for (TensorFactors& tensor : added.operands) {
      shift(tensor);
      site.operands.push_back(graph_[o].operands[tensor.tensor]);
      site.uses.emplace_back(o, tensor.tensor);
      tensor.tensor = static_cast<std::uint32_t>(site.operands.size() - 1);
      site.factors.operands.push_back(std::move(tensor));
    }
    for (TensorFactors& tensor : added.results) {
      shift(tensor);
      ValueId value = graph_[o].results[tensor.tensor];
      auto at = std::find(site.results.begin(), site.results.end(), value);
      if (at == site.results.end()) at = site.results.insert(at, value);
      tensor.tensor = static_cast<std::uint32_t>(at - site.results.begin());
      results.push_back(std::move(tensor));
    }
  }

  // Axis by axis of each value: operations that all cover the whole axis share their factors; otherwise the axis
  // consists of pieces, and a reader of a piece has a different position in it.
  void unite(Site& site, const std::vector<TensorFactors>& results) {
    std::vector<std::uint32_t> now(site.factors.factors.size());
    for (std::uint32_t f = 0; f < now.size(); ++f) now[f] = f;
    auto root = [&](std::uint32_t f) {
      while (f < now.size() && now[f] != f) f = now[f];
      return f;
    };
    for (std::uint32_t r = 0; r < site.results.size(); ++r) {
      const Shape& shape = graph_[site.results[r]].type.shape;
      TensorFactors whole{r, std::vector<AxisFactors>(shape.size())};
      for (std::size_t a = 0; a < shape.size(); ++a) {
        std::vector<const AxisFactors*> lists;
        for (const TensorFactors& tensor : results)
          if (tensor.tensor == r) lists.push_back(&tensor.axes[a]);
        if (same_digits(site.factors, lists, shape[a])) {
          for (const AxisFactors* list : lists)
            for (std::size_t k = 0; k < list->factors.size(); ++k)
              now[root(list->factors[k])] =
                  with_kind_of(site.factors, root(lists[0]->factors[k]), root(list->factors[k]));
          whole.axes[a] = *lists[0];
          continue;
        }
        auto fresh = static_cast<std::uint32_t>(site.factors.factors.size());
        Factor factor{site.factors.factors[lists[0]->factors[0]].name, shape[a], kind_of_pieces(site, lists)};
        factor.moves = true;
        site.factors.factors.push_back(std::move(factor));
        now.push_back(fresh);
        for (const AxisFactors* list : lists)
          for (std::uint32_t f : list->factors) now[root(f)] = fresh;
        whole.axes[a].factors = {fresh};
      }
      site.factors.results.push_back(std::move(whole));
    }
    rename(site, [&](std::uint32_t f) { return root(f); });
  }

  // One factor stands for both: it moves cells if one of them does.
  static std::uint32_t with_kind_of(Factors& all, std::uint32_t one, std::uint32_t other) {
    Factor& factor = all.factors[one];
    if (factor.kind == FactorKind::pass_through) factor.kind = all.factors[other].kind;
    factor.moves = factor.moves || all.factors[other].moves;
    factor.kept = factor.kept || all.factors[other].kept;
    return one;
  }

  static bool same_digits(const Factors& all, const std::vector<const AxisFactors*>& lists, std::int64_t extent) {
    for (const AxisFactors* list : lists) {
      std::int64_t points = 1;
      if (list->factors.size() != lists[0]->factors.size()) return false;
      for (std::size_t k = 0; k < list->factors.size(); ++k) {
        const Factor& factor = all.factors[list->factors[k]];
        // A factor of one axis alone is a fixed position in it.
        if (!factor.dim || factor.size != all.factors[lists[0]->factors[k]].size) return false;
        points *= factor.size;
      }
      if (points != extent) return false;
    }
    return true;
  }

  // Pieces of split axes only change positions; otherwise every reader needs all pieces.
  FactorKind kind_of_pieces(const Site& site, const std::vector<const AxisFactors*>& lists) const {
    std::vector<ValueId> read;
    for (std::size_t k = 0; k < site.operands.size(); ++k)
      for (const AxisFactors* list : lists)
        if (std::any_of(list->factors.begin(), list->factors.end(),
                        [&](std::uint32_t f) { return has_factor(site.factors.operands[k], f); })) {
          read.push_back(site.operands[k]);
          break;
        }
    if (read.size() == 1) return FactorKind::permutation;  // the other pieces are computed in place: padding
    auto sliced = [&](ValueId v) { return graph_[v].type.shape != graph_[source(v)].type.shape; };
    bool all = std::all_of(read.begin(), read.end(), sliced), some = std::any_of(read.begin(), read.end(), sliced);
    bool one = std::all_of(read.begin(), read.end(), [&](ValueId v) { return source(v) == source(read[0]); });
    return !read.empty() && (all || (some && one)) ? FactorKind::permutation : FactorKind::need_replication;
  }

  // The value that this one is a copy or a slice of, else itself.
  ValueId source(ValueId value) const {
    const auto& writers = uses_.writers[value.index()];
    if (writers.size() != 1) return value;
    const ir::Operation& operation = graph_[writers[0]];
    const ir::Operator& op = program_[operation.op];
    return is_copy(op) ? operation.operands[0] : value;
  }

  template <class Now>
  static void rename(Site& site, Now now) {
    std::vector<std::uint32_t> number(site.factors.factors.size(), ~0u);
    std::vector<Factor> kept;
    for (auto* list : {&site.factors.results, &site.factors.operands})
      for (TensorFactors& tensor : *list)
        for (AxisFactors& axis : tensor.axes) {
          std::vector<std::uint32_t> factors;
          for (std::uint32_t old : axis.factors) {
            std::uint32_t f = now(old);
            if (number[f] == ~0u) {
              number[f] = static_cast<std::uint32_t>(kept.size());
              kept.push_back(site.factors.factors[f]);
            }
            if (std::find(factors.begin(), factors.end(), number[f]) == factors.end()) factors.push_back(number[f]);
          }
          axis.factors = std::move(factors);
        }
    site.factors.factors = std::move(kept);
  }

  const ir::Program& program_;
  const ir::Graph& graph_;
  FactorTable& table_;
  ir::DefUse uses_;
};

}  // namespace

const Factors& FactorTable::operator[](ir::OperatorId op) {
  auto [it, fresh] = found_.try_emplace(op);
  if (fresh) it->second = factors_of(program_[op]);
  return it->second;
}

Site site_of(const ir::Program& program, const ir::Graph& graph, OperationId operation, FactorTable& table) {
  const ir::Operation& own = graph[operation];
  Site site{{operation}, {}, {}, {}, table[own.op]};
  for (const TensorFactors& t : site.factors.operands) {
    site.operands.push_back(own.operands[t.tensor]);
    site.uses.emplace_back(operation, t.tensor);
  }
  for (const TensorFactors& t : site.factors.results) site.results.push_back(own.results[t.tensor]);
  site.moves_no_data = moves_no_data(program[own.op], site.factors);
  const bool map = program[own.op].map() != nullptr;
  for (std::size_t k = 0; k < site.operands.size(); ++k)
    site.broadcast.push_back(map && !site.factors.operands[k].axes.empty() && is_broadcast(site.factors, k));
  return site;
}

std::vector<Site> sites_of(const ir::Program& program, const ir::Graph& graph, FactorTable& table) {
  return SiteFinder(program, graph, table).find();
}

bool is_copy(const ir::Operator& op) {
  if (!op.map() || op.reads.size() != 1 || op.writes.size() != 1 || op.operands.size() != 1) return false;
  // 16-bit floats are computed as f32 and rounded again, which gives the same value.
  const ir::CellNode* cell = &op.exprs[op.map()->values[0]];
  if (cell->op == ir::CellOp::cast && cell->type == op.operands[0].element)
    if (const ir::CellNode& inner = op.exprs[cell->args[0]];
        inner.op == ir::CellOp::cast && inner.type == ElementType::f32)
      cell = &op.exprs[inner.args[0]];
  return cell->op == ir::CellOp::read && cell->type == op.results[0].element && !op.reads[0].fill &&
         op.reads[0].coordinates.empty();
}

bool is_identity(const ir::Operator& op) {
  return is_copy(op) && op.operands[0].shape == op.results[0].shape &&
         op.reads[0].projection == op.writes[0].projection;
}

}  // namespace tap::passes
