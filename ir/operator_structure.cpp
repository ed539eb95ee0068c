// Hash and equality of operators by structure: independent of the names of the operator and its dims, the order of
// its cells in the arena, and unused cells.
#include <utility>

#include "ir/hash.h"
#include "ir/operator.h"

namespace tap::ir {
namespace {

// All cells that an operator's facts refer to, in a fixed order.
std::vector<CellId> roots_of(const Operator& op) {
  std::vector<CellId> roots;
  for (const Access& read : op.reads) {
    for (const auto& coordinate : read.coordinates)
      if (coordinate) roots.push_back(*coordinate);
    if (read.fill) roots.push_back(*read.fill);
  }
  if (auto* map = op.map()) roots.insert(roots.end(), map->values.begin(), map->values.end());
  if (auto* reduce = op.reduce()) roots.insert(roots.end(), reduce->operands.begin(), reduce->operands.end());
  return roots;
}

std::size_t hash_cells(const Operator& op) {
  std::vector<CellId> roots = roots_of(op);
  std::unordered_map<CellId, std::size_t> hashes;
  for (CellId id : reachable_from(op.exprs, roots)) {
    CellNode node = op.exprs[id];
    std::vector<CellId> args = std::exchange(node.args, {});
    std::size_t h = hash_of(node);
    for (CellId arg : args) h = hash_combine(h, hashes.at(arg));
    hashes.emplace(id, h);
  }
  std::size_t h = roots.size();
  for (CellId root : roots) h = hash_combine(h, hashes.at(root));
  return h;
}

std::size_t hash_affine(std::size_t h, const AffineExpr& e) {
  for (std::int64_t c : e.coefficients) h = hash_combine(h, static_cast<std::size_t>(c));
  return hash_combine(h, static_cast<std::size_t>(e.offset));
}

std::size_t hash_access(std::size_t h, const Access& access) {
  h = hash_combine(h, access.tensor);
  for (const AffineExpr& row : access.projection.start.rows) h = hash_affine(h, row);
  for (std::int64_t extent : access.projection.shape) h = hash_combine(h, static_cast<std::size_t>(extent));
  for (const auto& coordinate : access.coordinates) h = hash_combine(h, coordinate.has_value());
  h = hash_combine(h, access.fill.has_value());
  for (std::uint32_t dim : access.invariant_dims) h = hash_combine(h, dim);
  return hash_combine(h, access.projection.rank());
}

std::size_t hash_types(std::size_t h, const std::vector<TensorType>& types) {
  for (const TensorType& type : types) {
    h = hash_combine(h, static_cast<std::size_t>(type.element));
    for (std::int64_t n : type.shape) h = hash_combine(h, static_cast<std::size_t>(n));
  }
  return hash_combine(h, types.size());
}

std::size_t hash_body(std::size_t h, const Body& body) {
  h = hash_combine(h, body.index());
  if (auto* reduce = std::get_if<ReduceBody>(&body)) h = hash_combine(h, reduce->monoid.index());
  if (auto* kernel = std::get_if<KernelBody>(&body)) h = hash_text(h, kernel->symbol);
  if (auto* region = std::get_if<RegionBody>(&body)) {
    h = hash_combine(h, static_cast<std::size_t>(region->kind));
    h = hash_combine(h, region->graph.index());
    h = hash_combine(h, static_cast<std::size_t>(region->trips.lo));
    h = hash_combine(h, static_cast<std::size_t>(region->trips.hi));
    for (const GroupAnchor& a : region->anchors)
      h = hash_combine(hash_combine(hash_combine(h, a.dim), a.operation), a.inner_dim);
    for (const Alternative& a : region->alternatives) h = hash_combine(h, a.graph.index());
  }
  return h;
}

// Pairs of cells that are equal, or are being compared: both arenas are acyclic and hash-consed, so a cell of one has
// only one partner in the other.
bool equal_cells(const Operator& a, const std::vector<CellId>& a_roots, const Operator& b,
                 const std::vector<CellId>& b_roots) {
  if (a_roots.size() != b_roots.size()) return false;
  std::unordered_map<CellId, CellId> partner;
  std::vector<std::pair<CellId, CellId>> open;
  for (std::size_t r = 0; r < a_roots.size(); ++r) open.emplace_back(a_roots[r], b_roots[r]);
  while (!open.empty()) {
    auto [x, y] = open.back();
    open.pop_back();
    auto [it, fresh] = partner.emplace(x, y);
    if (!fresh) {
      if (it->second != y) return false;
      continue;
    }
    const CellNode &m = a.exprs[x], &n = b.exprs[y];
    if (m.op != n.op || m.type != n.type || m.attribute != n.attribute || m.value != n.value ||
        m.args.size() != n.args.size())
      return false;
    for (std::size_t k = 0; k < m.args.size(); ++k) open.emplace_back(m.args[k], n.args[k]);
  }
  return true;
}

bool equal_dim(const IndexDim& a, const IndexDim& b) {
  return a.range == b.range && a.role == b.role && a.keep == b.keep && a.level == b.level;
}

// Which axes have a coordinate, and whether there is a fill; the cells themselves are compared as roots.
bool equal_access(const Access& a, const Access& b) {
  if (a.tensor != b.tensor || a.projection != b.projection || a.invariant_dims != b.invariant_dims) return false;
  if (a.fill.has_value() != b.fill.has_value() || a.coordinates.size() != b.coordinates.size()) return false;
  for (std::size_t axis = 0; axis < a.coordinates.size(); ++axis)
    if (a.coordinates[axis].has_value() != b.coordinates[axis].has_value()) return false;
  return true;
}

// The parts of a body other than its cells.
bool equal_body(const Body& a, const Body& b) {
  if (a.index() != b.index()) return false;
  if (auto* map = std::get_if<MapBody>(&a)) return map->values.size() == std::get<MapBody>(b).values.size();
  if (auto* reduce = std::get_if<ReduceBody>(&a)) {
    auto& other = std::get<ReduceBody>(b);
    return reduce->monoid == other.monoid && reduce->operands.size() == other.operands.size();
  }
  return a == b;
}

template <class T, class Equal>
bool equal_lists(const std::vector<T>& a, const std::vector<T>& b, Equal equal) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!equal(a[i], b[i])) return false;
  return true;
}

}  // namespace

std::size_t structural_hash(const Operator& op) {
  std::size_t h = op.dims.size();
  for (const IndexDim& dim : op.dims) {
    h = hash_combine(h, static_cast<std::size_t>(dim.range.lo));
    h = hash_combine(h, static_cast<std::size_t>(dim.range.hi));
    h = hash_combine(h, static_cast<std::size_t>(dim.role) * 2 + dim.keep);
    h = hash_combine(h, dim.level);
  }
  for (const Constraint& c : op.constraints)
    h = hash_combine(hash_affine(h, c.expr), static_cast<std::size_t>(c.comparison));
  for (const Blocking& b : op.blockings) {
    h = hash_combine(hash_combine(h, b.dim), b.block_dim);
    h = hash_combine(h, static_cast<std::size_t>(b.blocks.count));
    for (std::int64_t n : b.blocks.boundaries) h = hash_combine(h, static_cast<std::size_t>(n));
  }
  h = hash_types(hash_types(h, op.operands), op.results);
  for (const Access& read : op.reads) h = hash_access(h, read);
  for (const Access& write : op.writes) h = hash_access(h, write);
  return hash_combine(hash_body(h, op.body), hash_cells(op));
}

bool equal_structure(const Operator& a, const Operator& b) {
  return equal_lists(a.dims, b.dims, equal_dim) && a.constraints == b.constraints && a.blockings == b.blockings &&
         a.operands == b.operands && a.results == b.results && equal_lists(a.reads, b.reads, equal_access) &&
         equal_lists(a.writes, b.writes, equal_access) && equal_body(a.body, b.body) &&
         equal_cells(a, roots_of(a), b, roots_of(b));
}

}  // namespace tap::ir
