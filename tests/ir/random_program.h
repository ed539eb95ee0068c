// Random programs for rapidcheck. `random_program` fills every field of every struct with whatever fits its type, so that
// ids are in range but nothing else need make sense: for print and parse. `random_legal_program` passes the verifier.
#pragma once

#include <limits>
#include <set>
#include <tuple>

#include <rapidcheck.h>

#include "ir/graph.h"
#include "tests/ir/sample_programs.h"

namespace tap::ir::samples {

inline std::int64_t pick(std::int64_t lo, std::int64_t hi) { return *rc::gen::inRange<std::int64_t>(lo, hi); }
inline bool chance() { return *rc::gen::arbitrary<bool>(); }
inline std::size_t count(std::int64_t most = 4) { return static_cast<std::size_t>(pick(0, most)); }
template <class Id>
Id pick_id(std::size_t size) {
  return Id(static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(size))));
}

inline std::string random_name() {
  return *rc::gen::element<std::string>("i", "j", "k", "x", "_", "", "inf", "const", "linear#1", "a b", "quote\"d",
                                        "back\\slash", "new\nline", "tab\t", "// no comment", std::string("nul\0", 4),
                                        "ümlaut", "online.m", "named", "_x1");
}
inline std::int64_t random_integer() {
  using limits = std::numeric_limits<std::int64_t>;
  return *rc::gen::element<std::int64_t>(0, 0, 1, -1, 2, 7, -3, 1000, limits::max(), limits::min());
}
inline ElementType random_type() { return static_cast<ElementType>(pick(0, element_type_count)); }
inline Range random_range() {
  std::int64_t lo = random_integer();
  return {lo, random_integer()};
}
template <class T, class Make>
std::vector<T> several(Make make, std::int64_t most = 4) {
  std::vector<T> result(count(most));
  for (T& element : result) element = make();
  return result;
}

inline Scalar random_scalar(ElementType type) {
  if (is_bool(type)) return Scalar::boolean(chance());
  if (is_integer(type))
    return Scalar::integer(type, *rc::gen::element(least_integer(type), greatest_integer(type), std::int64_t{0},
                                                   std::int64_t{1}, std::int64_t{42}));
  double infinity = std::numeric_limits<double>::infinity();
  if (chance())
    return Scalar::floating(type, *rc::gen::element(0.0, -0.0, 0.1, 1.0 / 3, -1e-45, 4.9e-324, 1e300, infinity,
                                                    -infinity, std::nan(""), -std::nan("")));
  return Scalar::floating(type, static_cast<double>(*rc::gen::arbitrary<std::int64_t>()) * 0x1p-32);
}

struct CellLimits {
  std::size_t dims, reads, arguments, monoids;  // 0: no such leaf
};
inline CellExprs random_cells(CellLimits limits) {
  CellExprs exprs;
  std::size_t node_count = 1 + count(12);
  for (std::size_t k = 0; k < node_count; ++k) {
    auto op = static_cast<CellOp>(pick(0, cell_op_count));
    ElementType type = random_type();
    auto attribute = [](std::size_t limit) {
      return static_cast<std::uint32_t>(pick(0, static_cast<std::int64_t>(limit)));
    };
    CellNode node{op, type, 0, {}, {}};
    std::size_t limit = op == CellOp::index      ? limits.dims
                        : op == CellOp::read     ? limits.reads
                        : op == CellOp::argument ? limits.arguments
                        : op == CellOp::reduce   ? limits.monoids
                                                 : 1;
    bool impossible = limit == 0 || (info(op).arity > 0 && exprs.size() == 0);
    if (op == CellOp::constant || impossible) {
      exprs.constant(random_scalar(type));
      continue;
    }
    node.attribute = attribute(limit);
    for (int a = 0; a < info(op).arity; ++a) node.args.push_back(pick_id<CellId>(exprs.size()));
    exprs.add(std::move(node));
  }
  return exprs;
}

// Names of one table: what is read by its name is the first that has it.
template <class T>
std::vector<T> with_distinct_names(std::vector<T> list) {
  std::set<std::string> names;
  for (T& one : list)
    while (!names.insert(one.name).second) one.name += "'";
  return list;
}
inline std::vector<Mesh> random_meshes() {
  auto mesh = [] {
    return Mesh{random_name(), with_distinct_names(several<MeshAxis>([] {
                  return MeshAxis{random_name(), random_integer()};
                })),
                several<std::int64_t>(random_integer)};
  };
  return with_distinct_names(several<Mesh>(mesh, 3));
}
inline AxisRef random_axis(const Mesh& mesh) {
  AxisRef axis{pick_id<AxisId>(mesh.axes.size()), {}};
  if (chance()) axis.sub = SubAxis{random_integer(), random_integer()};
  return axis;
}
// No axis where the mesh that was picked has none, or there is no mesh.
inline std::pair<MeshId, std::optional<AxisRef>> axis_of_any(const std::vector<Mesh>& meshes) {
  if (meshes.empty()) return {};
  const auto mesh = pick_id<MeshId>(meshes.size());
  if (meshes[mesh.index()].axes.empty()) return {};
  return {mesh, random_axis(meshes[mesh.index()])};
}
// Pre: there is a mesh.
inline Sharding random_sharding(const std::vector<Mesh>& meshes) {
  Sharding s;
  s.mesh = pick_id<MeshId>(meshes.size());
  const Mesh& mesh = meshes[s.mesh.index()];
  auto axes = [&] {
    return mesh.axes.empty() ? std::vector<AxisRef>{} : several<AxisRef>([&] { return random_axis(mesh); }, 3);
  };
  s.dims = several<DimSharding>([&] {
    DimSharding dim{axes(), chance(), {}};
    if (chance()) dim.priority = random_integer();
    return dim;
  });
  s.replicated = axes();
  s.unreduced = axes();
  if (!s.unreduced.empty() || chance()) s.unreduced_monoid = random_name();
  return s;
}
template <class Make>
auto maybe(Make make) -> std::optional<decltype(make())> {
  if (chance()) return make();
  return std::nullopt;
}

inline AffineExpr random_affine_of_any_size(std::size_t dims) {
  AffineExpr e = AffineExpr::constant(dims, random_integer());
  for (std::int64_t& c : e.coefficients) c = random_integer();
  return e;
}

inline Monoid random_monoid(std::size_t monoids) {
  if (chance()) return *builtin_monoid("max", ElementType::f16);
  Monoid m;
  m.name = random_name();
  m.components = several<MonoidComponent>([] { return MonoidComponent{random_name(), random_type()}; });
  m.exprs = random_cells({0, 0, 2 * m.arity(), monoids});
  auto cells = [&](const CellExprs& exprs) {
    std::vector<CellId> ids(m.arity());
    for (CellId& id : ids) id = pick_id<CellId>(exprs.size());
    return ids;
  };
  m.identity = cells(m.exprs);
  m.combine = cells(m.exprs);
  auto law = [] { return static_cast<Law>(pick(0, 4)); };
  m.laws = {law(), law(), law(), law()};
  if (chance()) {
    m.fold.emplace();
    m.fold->exprs = random_cells({0, 0, m.arity(), monoids});
    m.fold->roots = cells(m.fold->exprs);
  }
  return m;
}

inline TensorType random_tensor_type() { return {random_type(), several<std::int64_t>(random_integer)}; }

inline Access random_access(const Operator& op, std::size_t tensors) {
  Access a;
  a.tensor = static_cast<std::uint32_t>(pick(0, static_cast<std::int64_t>(tensors)));
  a.projection.start = {op.dims.size(), several<AffineExpr>([&] { return random_affine_of_any_size(op.dims.size()); })};
  a.projection.shape.resize(a.projection.start.rows.size());
  for (std::int64_t& n : a.projection.shape) n = random_integer();
  auto cell = [&] { return pick_id<CellId>(op.exprs.size()); };
  if (chance())
    for (std::size_t axis = 0; axis < a.projection.rank(); ++axis) a.coordinates.push_back(maybe(cell));
  a.fill = maybe(cell);
  if (!op.dims.empty())
    a.invariant_dims = several<std::uint32_t>(
        [&] { return static_cast<std::uint32_t>(pick(0, static_cast<std::int64_t>(op.dims.size()))); });
  return a;
}

inline Body random_body(const Operator& op, std::size_t monoids, std::size_t graphs) {
  auto cells = [&] { return several<CellId>([&] { return pick_id<CellId>(op.exprs.size()); }); };
  auto monoid = [&] { return pick_id<MonoidId>(monoids); };
  switch (pick(0, 5)) {
    case 4: return TransferBody{};
    case 0: return MapBody{cells()};
    case 1: return ReduceBody{monoid(), cells()};
    case 2: return KernelBody{random_name(), maybe(random_integer), maybe(monoid)};
    default: {
      RegionBody region{static_cast<RegionKind>(pick(0, 4)), pick_id<GraphId>(graphs), random_range()};
      auto number = [] { return static_cast<std::uint32_t>(pick(0, 1000)); };
      auto dim = [&] { return static_cast<std::uint32_t>(pick(0, static_cast<std::int64_t>(op.dims.size()))); };
      if (!op.dims.empty())
        region.anchors = several<GroupAnchor>([&] { return GroupAnchor{dim(), number(), number()}; });
      region.alternatives = several<Alternative>([&] { return Alternative{pick_id<GraphId>(graphs), random_name()}; });
      return region;
    }
  }
}

inline Blocks random_blocks() {
  if (chance()) return {pick(1, 1000)};
  std::vector<std::int64_t> boundaries{random_integer(), random_integer()};
  while (chance()) boundaries.push_back(random_integer());
  return {static_cast<std::int64_t>(boundaries.size()) - 1, boundaries};
}

inline Blocking random_blocking(std::size_t dims) {
  auto dim = [&] { return static_cast<std::uint32_t>(pick(0, static_cast<std::int64_t>(dims))); };
  return {dim(), dim(), random_blocks()};
}

inline Operator random_operator(std::size_t monoids, std::size_t graphs) {
  Operator op;
  op.name = random_name();
  op.dims = several<IndexDim>([] {
    return IndexDim{random_name(), random_range(), static_cast<DimRole>(pick(0, 3)), chance(),
                    static_cast<std::uint32_t>(pick(0, 3))};
  });
  op.constraints = several<Constraint>([&] {
    return Constraint{random_affine_of_any_size(op.dims.size()),
                      chance() ? Comparison::equal_zero : Comparison::at_least_zero};
  });
  if (!op.dims.empty()) op.blockings = several<Blocking>([&] { return random_blocking(op.dims.size()); });
  op.operands = several<TensorType>(random_tensor_type);
  op.results = several<TensorType>(random_tensor_type);
  if (chance()) op.operand_names = several<std::string>(random_name);
  if (chance()) op.result_names = several<std::string>(random_name);
  std::size_t reads = op.operands.empty() ? 0 : count();
  op.exprs = random_cells({op.dims.size(), reads, 0, 0});
  for (std::size_t k = 0; k < reads; ++k) op.reads.push_back(random_access(op, op.operands.size()));
  if (!op.results.empty()) op.writes = several<Access>([&] { return random_access(op, op.results.size()); });
  op.body = random_body(op, monoids, graphs);
  return op;
}

inline Graph random_graph_of_any_shape(std::size_t operators, const std::vector<Mesh>& meshes) {
  Graph g;
  g.name = random_name();
  g.values = several<Value>(
      [&] {
        Value value{random_name(), random_tensor_type(), chance(), {}};
        if (!meshes.empty() && chance()) value.sharding = random_sharding(meshes);
        return value;
      },
      5);
  auto ids = [&] {
    if (g.values.empty()) return std::vector<ValueId>{};
    return several<ValueId>([&] { return pick_id<ValueId>(g.values.size()); });
  };
  g.inputs = ids();
  g.outputs = ids();
  if (operators > 0)
    g.operations = several<Operation>([&] {
      Operation operation{pick_id<OperatorId>(operators), ids(), ids(), {}};
      if (chance() && !meshes.empty())
        for (std::size_t k = 0; k < operation.operands.size(); ++k)
          operation.operand_shardings.push_back(maybe([&] { return random_sharding(meshes); }));
      if (chance())
        operation.placements = several<BlockPlacement>([&] {
          BlockPlacement p{static_cast<std::uint32_t>(pick(0, 5)), static_cast<Placement>(pick(0, 4))};
          if (p.placement != Placement::mesh_axis) return p;
          std::tie(p.mesh, p.axis) = axis_of_any(meshes);
          if (!p.axis) p.placement = Placement::threads;
          return p;
        });
      if (chance()) operation.names = OperationNames{random_name(), several<std::string>(random_name)};
      return operation;
    });
  g.groups = several<ShardingGroup>([&] { return ShardingGroup{ids()}; }, 3);
  if (!g.values.empty())
    g.barriers = several<Barrier>(
        [&] {
          return Barrier{pick_id<ValueId>(g.values.size()), static_cast<BarrierKind>(pick(0, 3))};
        },
        3);
  if (!g.operations.empty() && !g.values.empty())
    g.splits = several<SplitRequest>(
        [&] {
          SplitRequest split{pick_id<OperationId>(g.operations.size()),
                             maybe([&] { return pick_id<ValueId>(g.values.size()); }),
                             static_cast<std::uint32_t>(pick(0, 4)),
                             random_name(),
                             several<Range>(random_range),
                             static_cast<Placement>(pick(0, 4)),
                             {},
                             {}};
          if (chance()) std::tie(split.mesh, split.mesh_axis) = axis_of_any(meshes);
          return split;
        },
        3);
  return g;
}

inline Program random_program() {
  Program p;
  std::size_t monoids = 1 + count(3), operators = count(), graphs = 1 + count(3);
  for (std::size_t k = 0; k < monoids; ++k) p.monoids.push_back(random_monoid(monoids));
  for (std::size_t k = 0; k < operators; ++k) p.operators.push_back(random_operator(monoids, graphs));
  p.meshes = random_meshes();
  for (std::size_t k = 0; k < graphs; ++k) p.graphs.push_back(random_graph_of_any_shape(operators, p.meshes));
  p.rewrites = several<RewriteRule>([] { return RewriteRule{random_name()}; }, 3);
  if (chance()) p.main = pick_id<GraphId>(graphs);
  return p;
}

}  // namespace tap::ir::samples
