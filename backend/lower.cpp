// From an operator to its loops. Dims become loops in the order parallel, then reduction, each as declared, so that
// reductions combine in increasing index; a constraint becomes a bound of the innermost loop that it speaks of, so no
// point outside of the domain is ever visited. Scans and scatters (patterns.h) get their own, linear shapes.
#include <algorithm>
#include <cmath>

#include "backend/lowering.h"
#include "support/check.h"

namespace tap::backend {

using namespace ir;

Kernel Lowering::run() {
  TAP_CHECK(op_.map() || op_.reduce(), "only maps and reductions become loops");
  declare_tensors();
  declare_variables();
  declare_cut();
  declare_loads();
  if (op_.map()) {
    map_body();
  } else if (auto scan = find_scan(op_)) {
    scan_body(*scan);
  } else if (auto scatter = find_scatter(program_, op_)) {
    scatter_body(*scatter);
  } else {
    reduction_body();
  }
  return std::move(kernel_);
}

void Lowering::declare_tensors() {
  for (const auto& t : op_.operands) kernel_.tensors.push_back({"t" + std::to_string(kernel_.tensors.size()), t});
  kernel_.operands = op_.operands.size();
  kernel_.results = op_.results.size();
  for (const auto& t : op_.results) kernel_.tensors.push_back({"t" + std::to_string(kernel_.tensors.size()), t});
}

void Lowering::declare_variables() {
  kernel_.dims = op_.dims.size();
  for (const auto& dim : op_.dims) {
    kernel_.variables.push_back("lo." + dim.name);
    kernel_.variables.push_back("hi." + dim.name);
  }
  for (const auto& dim : op_.dims) kernel_.variables.push_back(dim.name);
  kernel_.sections.emplace_back();
  for (std::size_t d = 0; d < op_.dims.size(); ++d) {
    kernel_.sections[0].lo.push_back(kernel_.lo(d));
    kernel_.sections[0].at.push_back(kernel_.at(d));
  }
}

// The largest dim along which parts share nothing, of equal ones the outermost; and how much is worth a call.
void Lowering::declare_cut() {
  constexpr double worth = 1 << 14;  // points
  double points = 1;
  for (const IndexDim& dim : op_.dims) points *= static_cast<double>(std::max<std::int64_t>(dim.range.size(), 1));
  for (std::size_t d : free_dims(program_, op_))
    if (!kernel_.cut || op_.dims[d].range.size() > op_.dims[*kernel_.cut].range.size()) kernel_.cut = d;
  if (!kernel_.cut) return;
  double each = points / static_cast<double>(std::max<std::int64_t>(op_.dims[*kernel_.cut].range.size(), 1));
  kernel_.worth = each >= worth ? 1 : static_cast<std::int64_t>(std::ceil(worth / each));
}

AffineExpr Lowering::over_variables(const AffineExpr& over_dims) const {
  AffineExpr e = number(over_dims.offset);
  for (std::size_t d = 0; d < op_.dims.size(); ++d) e.coefficients[kernel_.at(d)] = over_dims.coefficients[d];
  return e;
}

void Lowering::declare_loads() {
  cells_.resize(op_.exprs.size());
  for (const Access& access : op_.reads) kernel_.loads.push_back(load_of(access));
  // Coordinates and fills are cells that may read themselves, so they come when every load has its number.
  for (std::size_t r = 0; r < op_.reads.size(); ++r) {
    const Access& access = op_.reads[r];
    for (std::size_t axis = 0; axis < access.coordinates.size(); ++axis)
      if (access.coordinates[axis]) kernel_.loads[r].at[axis].data = cell(*access.coordinates[axis]);
    if (access.fill) kernel_.loads[r].fill = cell(*access.fill);
  }
}

Load Lowering::load_of(const Access& access) {
  Load load;
  load.tensor = access.tensor;
  const Shape& shape = op_.operands[access.tensor].shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    bool from_data = axis < access.coordinates.size() && access.coordinates[axis];
    const AffineExpr& start = access.projection.start.rows[axis];
    Range values = start.bounds(op_.box());
    bool inside = Range{0, shape[axis]}.contains(values);
    load.at.push_back({over_variables(start), {}, from_data || (access.fill && !inside)});
    if (!from_data && !inside) load.anywhere = false;
    if (from_data && !access.fill) load.anywhere = false;
  }
  if (access.fill) load.anywhere = true;
  return load;
}

CellId Lowering::cell(CellId id) {
  if (cells_[id.index()]) return *cells_[id.index()];
  CellNode node = op_.exprs[id];
  for (CellId& arg : node.args) arg = cell(arg);
  if (node.op == CellOp::index) node.attribute = kernel_.at(node.attribute);
  return *(cells_[id.index()] = kernel_.exprs.add(std::move(node)));
}

CellId Lowering::monoid_cell(const Monoid& monoid, CellId id, const std::vector<CellId>& arguments) {
  std::vector<std::optional<CellId>> known(monoid.exprs.size());
  auto visit = [&](auto& self, CellId at) -> CellId {
    if (known[at.index()]) return *known[at.index()];
    CellNode node = monoid.exprs[at];
    if (node.op == CellOp::argument) return arguments[node.attribute];
    for (CellId& arg : node.args) arg = self(self, arg);
    return *(known[at.index()] = kernel_.exprs.add(std::move(node)));
  };
  return visit(visit, id);
}

std::vector<CellId> Lowering::identity(const Monoid& monoid) {
  std::vector<CellId> result;
  for (CellId id : monoid.identity) result.push_back(monoid_cell(monoid, id, {}));
  return result;
}

std::vector<CellId> Lowering::combination(const Monoid& monoid, const std::vector<CellId>& a,
                                          const std::vector<CellId>& b) {
  std::vector<CellId> arguments = a;
  arguments.insert(arguments.end(), b.begin(), b.end());
  std::vector<CellId> result;
  for (CellId id : monoid.combine) result.push_back(monoid_cell(monoid, id, arguments));
  return result;
}

std::vector<std::size_t> Lowering::dims_with(bool reduction) const {
  std::vector<std::size_t> result;
  for (std::size_t d = 0; d < op_.dims.size(); ++d)
    if ((op_.dims[d].role == DimRole::reduction) == reduction) result.push_back(d);
  return result;
}

// The loop over `dim` inside of loops over the dims of `outside`: constraints that speak of these dims only bound it.
For Lowering::loop(std::size_t dim, const std::vector<bool>& outside) const {
  For result;
  result.variable = kernel_.at(dim);
  result.lower.push_back({variable(kernel_.lo(dim)), 1});
  result.upper.push_back({variable(kernel_.hi(dim)), 1});
  for (const Constraint& constraint : op_.constraints) {
    const auto& coefficients = constraint.expr.coefficients;
    std::int64_t c = coefficients[dim];
    bool known = c != 0;
    for (std::size_t d = 0; d < op_.dims.size(); ++d) known = known && (d == dim || coefficients[d] == 0 || outside[d]);
    if (!known) continue;
    AffineExpr rest = over_variables(constraint.expr);
    rest.coefficients[kernel_.at(dim)] = 0;
    // c*d + rest >= 0 is d >= -rest/c for c > 0, and d <= rest/-c for c < 0; an equality is both.
    AffineExpr scaled = c > 0 ? scale(rest, -1) : rest;
    std::int64_t divisor = std::abs(c);
    bool equality = constraint.comparison == Comparison::equal_zero;
    if (c > 0 || equality) result.lower.push_back({scaled, divisor});
    if (c < 0 || equality) result.upper.push_back({scaled + number(divisor), divisor});
  }
  return result;
}

std::vector<Statement> Lowering::nest(const std::vector<std::size_t>& order, std::vector<bool> outside,
                                      std::vector<Statement> inner) const {
  std::vector<For> loops;
  for (std::size_t d : order) {
    loops.push_back(loop(d, outside));
    outside[d] = true;
  }
  for (std::size_t n = loops.size(); n-- > 0;) {
    loops[n].body = std::move(inner);
    inner.clear();
    inner.push_back({std::move(loops[n])});
  }
  return inner;
}

// A nest outside of everything else; constraints without any dim guard all of it.
std::vector<Statement> Lowering::whole_nest(const std::vector<std::size_t>& order, std::vector<Statement> inner) const {
  auto result = nest(order, std::vector<bool>(op_.dims.size(), false), std::move(inner));
  Guard guard;
  for (const Constraint& c : op_.constraints)
    if (c.expr.is_constant()) guard.conditions.push_back({over_variables(c.expr), c.comparison});
  if (guard.conditions.empty()) return result;
  guard.body = std::move(result);
  return {{std::move(guard)}};
}

Store Lowering::store(const std::vector<CellId>& values) const {
  Store result;
  for (std::size_t w = 0; w < op_.writes.size(); ++w) {
    Store::Target target;
    target.tensor = static_cast<std::uint32_t>(kernel_.operands + op_.writes[w].tensor);
    for (const AffineExpr& row : op_.writes[w].projection.start.rows) target.at.push_back(over_variables(row));
    target.value = values[w];
    result.targets.push_back(std::move(target));
  }
  return result;
}

void Lowering::map_body() {
  std::vector<CellId> values;
  for (CellId id : op_.map()->values) values.push_back(cell(id));
  kernel_.body = whole_nest(dims_with(false), {{store(values)}});
}

std::vector<CellId> Lowering::accumulators(const Monoid& monoid) {
  std::vector<CellId> result;
  kernel_.accumulators.clear();
  kernel_.slots.clear();
  for (const auto& component : monoid.components) {
    result.push_back(kernel_.exprs.argument(static_cast<std::uint32_t>(result.size()), component.type));
    kernel_.slots.push_back({static_cast<std::uint32_t>(kernel_.accumulators.size()), {}});
    kernel_.accumulators.push_back({component.type});
  }
  return result;
}

Assign assign(std::vector<CellId> values) {
  Assign result;
  for (std::uint32_t k = 0; k < values.size(); ++k) result.slots.push_back(k);
  result.values = std::move(values);
  return result;
}

Statement Lowering::accumulate(const Monoid& monoid, bool descending) {
  auto earlier = accumulators(monoid);
  std::vector<CellId> later;
  for (CellId id : op_.reduce()->operands) later.push_back(cell(id));
  if (descending) std::swap(earlier, later);
  return {assign(combination(monoid, earlier, later))};
}

void Lowering::reduction_body() {
  const Monoid& monoid = program_[op_.reduce()->monoid];
  std::vector<bool> outside(op_.dims.size(), false);
  for (std::size_t d : dims_with(false)) outside[d] = true;
  Statement step = accumulate(monoid, false);
  std::vector<Statement> inner{{assign(identity(monoid))}};
  for (auto& s : nest(dims_with(true), outside, {step})) inner.push_back(std::move(s));
  inner.push_back({store(accumulators(monoid))});
  kernel_.body = whole_nest(dims_with(false), std::move(inner));
}

Kernel lower(const Program& program, const Operator& op) { return Lowering(program, op).run(); }

}  // namespace tap::backend
