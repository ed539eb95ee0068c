#include "ir/verify/well_formed.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/graph.h"

namespace tap::ir {

namespace {

using Cells = std::vector<CellId>;

struct IllFormed {
  std::string what;
};

class WellFormed {
 public:
  explicit WellFormed(const Program& program) : p_(program) {}

  void run() {
    need(p_.main.index() < p_.graphs.size());
    for (const Mesh& m : p_.meshes) at("mesh", &m - p_.meshes.data()), mesh(m);
    for (const Monoid& m : p_.monoids) at("monoid", &m - p_.monoids.data()), monoid(m);
    for (const Operator& op : p_.operators) at("operator", &op - p_.operators.data()), this->op(op);
    for (const Graph& g : p_.graphs) at("graph", &g - p_.graphs.data()), graph(g);
    std::vector<int> state(p_.graphs.size(), 0);
    for (std::size_t k = 0; k < p_.graphs.size(); ++k) nesting(k, state);
  }

 private:
  void at(const char* what, std::ptrdiff_t number) { at_ = fmt::format("{} {}", what, number); }
  void need(bool holds) const {
    if (!holds) throw IllFormed{at_ + ": invalid reference, rank or type"};
  }
  void mesh(const Mesh& m) const {
    need(std::ranges::count(p_.meshes, m.name, &Mesh::name) == 1);
    for (const MeshAxis& axis : m.axes) need(axis.size >= 1);
  }
  void cells(const CellExprs& exprs, std::size_t dims, std::size_t reads, std::size_t arguments) const {
    for (std::size_t k = 0; k < exprs.size(); ++k) {
      const CellNode& node = exprs[CellId(k)];
      bool args = std::ranges::all_of(node.args, [k](CellId arg) { return arg.index() < k; });
      need(args && node.args.size() == static_cast<std::size_t>(info(node.op).arity));
      auto below = [&](CellOp op, std::size_t count) { return node.op != op || node.attribute < count; };
      need(below(CellOp::index, dims) && below(CellOp::read, reads));
      need(below(CellOp::argument, arguments) && below(CellOp::reduce, dims + reads > 0 ? 0 : p_.monoids.size()));
      if (node.op != CellOp::reduce) continue;  // in a fold, which refers to monoids without folds
      need(p_.monoids[node.attribute].components.size() == 1 && !p_.monoids[node.attribute].fold);
    }
  }
  void all(const Cells& list, const CellExprs& exprs, std::size_t count) const {
    need(list.size() == count);
    for (CellId cell : list) need(cell.index() < exprs.size());
  }

  void monoid(const Monoid& m) const {
    std::size_t n = m.components.size();
    cells(m.exprs, 0, 0, 2 * n);
    all(m.identity, m.exprs, n);
    all(m.combine, m.exprs, n);
    for (CellId cell : m.identity) need(m.exprs[cell].op == CellOp::constant);
    if (!m.fold) return;
    cells(m.fold->exprs, 0, 0, n);
    all(m.fold->roots, m.fold->exprs, n);
  }

  void access(const Operator& op, const Access& a, const std::vector<TensorType>& tensors) const {
    need(a.tensor < tensors.size());
    std::size_t rank = tensors[a.tensor].shape.size();
    need(a.projection.shape.size() == rank && a.projection.start.rows.size() == rank);
    need(a.projection.start.inputs == op.dims.size() && (a.coordinates.empty() || a.coordinates.size() == rank));
    for (const AffineExpr& row : a.projection.start.rows) need(row.coefficients.size() == op.dims.size());
    for (const auto& c : a.coordinates) need(!c || c->index() < op.exprs.size());
    need(!a.fill || a.fill->index() < op.exprs.size());
    for (std::uint32_t d : a.invariant_dims) need(d < op.dims.size());
  }

  void op(const Operator& op) const {
    std::size_t dims = op.dims.size();
    for (const IndexDim& dim : op.dims) need(dim.range.lo <= dim.range.hi);
    for (const Constraint& c : op.constraints) need(c.expr.coefficients.size() == dims);
    for (const Blocking& b : op.blockings) {
      need(b.dim < dims && b.block_dim < dims && b.dim != b.block_dim && b.blocks.count >= 1);
      need(b.blocks.boundaries.empty() || std::ssize(b.blocks.boundaries) - 1 == b.blocks.count);
    }
    cells(op.exprs, dims, op.reads.size(), 0);
    for (const Access& a : op.reads) access(op, a, op.operands);
    for (std::size_t k = 0; k < op.exprs.size(); ++k)
      if (const CellNode& cell = op.exprs[CellId(k)]; cell.op == CellOp::read)
        need(cell.type == op.operands[op.reads[cell.attribute].tensor].element);
    for (const Access& a : op.writes) access(op, a, op.results);
    if (auto* map = op.map()) all(map->values, op.exprs, op.writes.size());
    if (auto* reduce = op.reduce()) {
      need(reduce->monoid.index() < p_.monoids.size());
      all(reduce->operands, op.exprs, op.writes.size());
      need(p_[reduce->monoid].components.size() == op.writes.size());
    }
    if (auto* kernel = op.kernel(); kernel && kernel->reduced_by) need(kernel->reduced_by->index() < p_.monoids.size());
    if (auto* region = op.region()) this->region(op, *region);
  }

  void region(const Operator& op, const RegionBody& region) const {
    std::vector<GraphId> graphs{region.graph};
    for (const Alternative& a : region.alternatives) graphs.push_back(a.graph);
    for (GraphId id : graphs) {
      need(id.index() < p_.graphs.size());
      types(p_[id], p_[id].inputs, op.operands);
      types(p_[id], p_[id].outputs, op.results);
    }
    need(region.kind != RegionKind::iterate || op.results.size() <= op.operands.size());
    for (const GroupAnchor& a : region.anchors) {
      const Graph& inner = p_[region.graph];
      need(a.dim < op.dims.size() && a.operation < inner.operations.size());
      need(inner.operations[a.operation].op.index() < p_.operators.size());
      need(a.inner_dim < p_[inner.operations[a.operation].op].dims.size());
    }
  }

  void types(const Graph& graph, const std::vector<ValueId>& values, const std::vector<TensorType>& types) const {
    need(values.size() == types.size());
    for (ValueId v : values) need(v.index() < graph.values.size());
    for (std::size_t k = 0; k < types.size(); ++k) need(graph[values[k]].type == types[k]);
  }
  void graph(const Graph& graph) const {
    for (ValueId v : graph.inputs) need(v.index() < graph.values.size());
    for (ValueId v : graph.outputs) need(v.index() < graph.values.size());
    for (const Operation& operation : graph.operations) {
      need(operation.op.index() < p_.operators.size());
      types(graph, operation.operands, p_[operation.op].operands);
      types(graph, operation.results, p_[operation.op].results);
      for (const BlockPlacement& placed : operation.placements)
        need((placed.dim < p_[operation.op].dims.size() || placed.dim == whole_operation) &&
             (!placed.axis || on_mesh(placed.mesh, *placed.axis)));
      for (const auto& sharding : operation.operand_shardings) need(!sharding || this->sharding(*sharding));
    }
    for (const Value& value : graph.values) need(!value.sharding || sharding(*value.sharding));
    for (const SplitRequest& split : graph.splits) need(!split.mesh_axis || on_mesh(split.mesh, *split.mesh_axis));
  }
  bool on_mesh(MeshId mesh, const AxisRef& axis) const {
    return mesh.index() < p_.meshes.size() && axis.id.index() < p_[mesh].axes.size();
  }
  bool sharding(const Sharding& s) const {
    auto all_on = [&](const std::vector<AxisRef>& axes) {
      return std::ranges::all_of(axes, [&](const AxisRef& axis) { return on_mesh(s.mesh, axis); });
    };
    const bool dims = std::ranges::all_of(s.dims, all_on, &DimSharding::axes);
    return s.mesh.index() < p_.meshes.size() && dims && all_on(s.replicated) && all_on(s.unreduced);
  }

  void nesting(std::size_t g, std::vector<int>& state) const {  // no graph contains itself
    need(state[g] != 1);
    if (state[g] != 0) return;
    state[g] = 1;
    for (const Operation& operation : p_.graphs[g].operations)
      if (const RegionBody* region = p_[operation.op].region()) {
        nesting(region->graph.index(), state);
        for (const Alternative& a : region->alternatives) nesting(a.graph.index(), state);
      }
    state[g] = 2;
  }

  const Program& p_;
  std::string at_ = "the program";
};

}  // namespace

std::optional<std::string> ill_formed(const Program& program) {
  try {
    WellFormed(program).run();
  } catch (const IllFormed& found) { return found.what; }
  return std::nullopt;
}

}  // namespace tap::ir
