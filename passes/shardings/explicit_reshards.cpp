#include "passes/shardings/explicit_reshards.h"

#include <algorithm>
#include <map>

#include "ir/graph.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "passes/shardings/common_axes.h"
#include "passes/shardings/reads.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;

namespace {

std::int64_t cells(const Shape& shape) {
  std::int64_t product = 1;
  for (std::int64_t n : shape) product *= n;
  return product;
}

bool is_unsharded(const Sharding& sharding) {
  return std::all_of(sharding.dims.begin(), sharding.dims.end(), [](const DimSharding& d) { return d.axes.empty(); });
}

Sharding whole(MeshId mesh, std::size_t rank) { return {mesh, std::vector<DimSharding>(rank), {}, {}, ""}; }

// Closed, and only the placement of cells.
const MonoidId* monoid_of(const Operator& op) {
  if (const ReduceBody* reduce = op.reduce()) return &reduce->monoid;
  if (const KernelBody* kernel = op.kernel()) return kernel->reduced_by ? &*kernel->reduced_by : nullptr;
  return nullptr;
}

class SiteChooser {
 public:
  SiteChooser(const Program& program, const Graph& graph, Site site)
      : program_(program), graph_(graph), out_{std::move(site)} {
    for (std::size_t k = 0; k < out_.site.operands.size(); ++k) known_.push_back(sharding_of_use(graph, out_.site, k));
    for (ValueId v : out_.site.results) known_.push_back(graph[v].sharding);
  }

  SiteShardings choose() {
    out_.copy = copies();
    if (out_.copy) return as_copied();
    out_.mesh = most_common_mesh();
    if (!out_.mesh.valid()) return std::move(out_);
    const Mesh& mesh = program_[out_.mesh];
    const Factors& factors = out_.site.factors;
    if (is_maximal(mesh)) {
      out_.factors.resize(factors.factors.size());
    } else {
      std::vector<FactoredTensor> tensors;
      for (std::size_t k = 0; k < known_.size(); ++k)
        tensors.push_back({&tensor(k), axes_by_factor(mesh, factors, tensor(k), on_mesh(mesh, k)),
                           cells(graph_[value(k)].type.shape)});
      out_.factors = common_axes(mesh, factors, tensors);
    }
    return finished();
  }

  SiteShardings with_axes(MeshId mesh, std::vector<Axes> factors) {
    out_.mesh = mesh;
    out_.factors = std::move(factors);
    return finished();
  }

 private:
  // From the axes of the factors to the shardings of the tensors.
  SiteShardings finished() {
    const Mesh& mesh = program_[out_.mesh];
    if (out_.site.operations.size() > 1) gather_what_is_reduced();
    for (std::size_t k = 0; k < known_.size(); ++k)
      (k < out_.site.operands.size() ? out_.operands : out_.results).push_back(needed(mesh, k));
    read_blocks_of_scan();
    add_partials(mesh);
    return std::move(out_);
  }

  // Blocks of the running dim of a scan read blocks of what is scanned (split_scan.h).
  //   y[i] = sum[k in 0..i + 1] x[k], i over a      x @ m[{a}]
  void read_blocks_of_scan() {
    const auto scan = divided_scan(program_, graph_, out_.site, out_.mesh, out_.factors);
    if (!scan) return;
    const std::vector<Factor>& factors = out_.site.factors.factors;
    for (std::size_t k = 0; k < operand_count(); ++k)
      for (std::size_t a = 0; a < tensor(k).axes.size(); ++a) {
        const std::vector<std::uint32_t>& along = tensor(k).axes[a].factors;
        if (along.empty() || factors[along.front()].dim != scan->reduced) continue;
        append(program_[out_.mesh], out_.operands[k].dims[a].axes, scan->over);
      }
  }

  std::size_t operand_count() const { return out_.site.operands.size(); }
  const TensorFactors& tensor(std::size_t k) const {
    return k < operand_count() ? out_.site.factors.operands[k] : out_.site.factors.results[k - operand_count()];
  }
  ValueId value(std::size_t k) const {
    return k < operand_count() ? out_.site.operands[k] : out_.site.results[k - operand_count()];
  }
  bool copies() const {
    return out_.site.operations.size() == 1 && operand_count() == 1 &&
           is_identity(program_[graph_[out_.site.operations[0]].op]);
  }

  // A result on one device is computed there. Otherwise the mesh on which most tensors are split; if there is none, the
  // first one.
  MeshId most_common_mesh() const {
    MeshId first, best;
    std::map<MeshId, int> count;
    for (std::size_t k = 0; k < known_.size(); ++k) {
      if (!known_[k]) continue;
      const MeshId mesh = known_[k]->mesh;
      const bool maximal = is_maximal(program_[mesh]);
      if (maximal && k >= operand_count()) return mesh;
      if (maximal) continue;
      if (!first.valid()) first = mesh;
      if (!is_unsharded(*known_[k]) && ++count[mesh] > (best.valid() ? count[best] : 0)) best = mesh;
    }
    return best.valid() ? best : first;
  }

  // Shardings on another mesh count if it has the same axes: then only the device order differs.
  std::optional<Sharding> on_mesh(const Mesh& mesh, std::size_t k) const {
    if (!known_[k]) return std::nullopt;
    const Mesh& own = program_[known_[k]->mesh];
    if (own.axes != mesh.axes || is_maximal(own)) return std::nullopt;
    Sharding sharding = bare(own, *known_[k]);
    sharding.mesh = out_.mesh;
    return sharding;
  }

  // A copy is placed like the original, including partials; a different sharding of its result is a reshard of the
  // result.
  SiteShardings as_copied() {
    const std::optional<Sharding>& known = known_[0] ? known_[0] : known_[1];
    if (!known) return std::move(out_);
    const Mesh& mesh = program_[known->mesh];
    Sharding own = known_[0] ? bare(mesh, *known_[0]) : whole(known->mesh, tensor(0).axes.size());
    out_.mesh = known->mesh;
    out_.factors.resize(out_.site.factors.factors.size());
    for (const FactorAxes& f : axes_by_factor(mesh, out_.site.factors, tensor(0), own).factors)
      out_.factors[f.factor] = f.axes;
    out_.operands = out_.results = {own};
    return std::move(out_);
  }

  Sharding needed(const Mesh& mesh, std::size_t k) const {
    TensorAxes axes = axes_by_factor(mesh, out_.site.factors, tensor(k), std::nullopt);
    for (FactorAxes& f : axes.factors) {
      f.axes = out_.factors[f.factor];
      f.closed = true;
    }
    return bare(mesh, sharding_from(mesh, out_.mesh, out_.site.factors, tensor(k), axes));
  }

  // The writes of several operations are not partials: what one of them writes need not be combined with the others.
  //   Y[2*i] = A[i, 0]     Y[2*i + 1] = sum[k] A[i, k]
  void gather_what_is_reduced() {
    for (std::uint32_t f = 0; f < out_.factors.size(); ++f)
      if (out_.site.factors.factors[f].kind == FactorKind::reduction) out_.factors[f].clear();
  }

  void add_partials(const Mesh& mesh) {
    const Axes all = in_mesh_order(mesh, axes_of_partials(out_));
    if (all.empty()) return;
    const MonoidId* monoid = monoid_of(program_[graph_[out_.site.operations[0]].op]);
    TAP_CHECK(monoid, "partials without a monoid");
    for (Sharding& result : out_.results) {
      result.unreduced = all;
      result.unreduced_monoid = program_[*monoid].name;
    }
  }

  const Program& program_;
  const Graph& graph_;
  SiteShardings out_;
  std::vector<std::optional<Sharding>> known_;  // operands, then results
};

// Whether each device holds the same cells.
bool places_alike(const Sharding& a, const Sharding& b) {
  return a.mesh == b.mesh && a.unreduced == b.unreduced &&
         std::equal(a.dims.begin(), a.dims.end(), b.dims.begin(), b.dims.end(),
                    [](const DimSharding& x, const DimSharding& y) { return x.axes == y.axes; });
}

// Adds the reshard from one sharding to another, if they differ.
void add(std::vector<Reshard>& list, const Program& program, Reshard reshard, const Shape& shape) {
  const Mesh &from = program[reshard.from.mesh], &to = program[reshard.to.mesh];
  reshard.steps = passes::reshard({from, reshard.from}, {to, reshard.to}, shape);
  if (!reshard.steps.empty()) list.push_back(std::move(reshard));
}

}  // namespace

std::optional<Sharding> sharding_of_use(const Graph& graph, const Site& site, std::size_t operand) {
  auto [reader, number] = site.uses[operand];
  const auto& own = graph[reader].operand_shardings;
  if (number < own.size() && own[number]) return own[number];
  return graph[site.operands[operand]].sharding;
}

Axes axes_of_partials(const SiteShardings& site) {
  Axes all;
  for (std::size_t f = 0; f < site.factors.size(); ++f)
    if (site.site.factors.factors[f].kind == FactorKind::reduction)
      all.insert(all.end(), site.factors[f].begin(), site.factors[f].end());
  return all;
}

SiteShardings site_with_axes(const Program& program, const Graph& graph, Site site, MeshId mesh,
                             std::vector<Axes> factors) {
  return SiteChooser(program, graph, std::move(site)).with_axes(mesh, std::move(factors));
}

std::vector<SiteShardings> explicit_shardings(const Program& program, const Graph& graph) {
  FactorTable table(program);
  std::vector<SiteShardings> all;
  for (Site& site : sites_of(program, graph, table))
    all.push_back(SiteChooser(program, graph, std::move(site)).choose());
  return all;
}

std::vector<Reshard> reshards(const Program& program, const Graph& graph, const std::vector<SiteShardings>& sites) {
  std::vector<Reshard> list;
  for (std::size_t s = 0; s < sites.size(); ++s) {
    const SiteShardings& site = sites[s];
    if (!site.mesh.valid()) continue;
    for (std::size_t k = 0; k < site.operands.size(); ++k) {
      const Shape& shape = graph[site.site.operands[k]].type.shape;
      Sharding from = sharding_of_use(graph, site.site, k).value_or(whole(site.mesh, shape.size()));
      if (places_alike(from, site.operands[k])) continue;
      add(list, program, {s, false, k, from, site.operands[k], {}, site.copy}, shape);
    }
    for (std::size_t k = 0; k < site.results.size(); ++k) {
      const Value& value = graph[site.site.results[k]];
      Sharding to = value.sharding.value_or(whole(site.mesh, value.type.shape.size()));
      if (places_alike(site.results[k], to)) continue;
      add(list, program, {s, true, k, site.results[k], to, {}, site.copy}, value.type.shape);
    }
  }
  return list;
}

}  // namespace tap::passes
