// Staged writes: an operation writes each point to a separate cell of a staging buffer, and a map copies it into
// place.
//
//   y[2 i + r] = f(i, r)          p[i, r] = f(i, r)   and   y[2 i + r] = p[i, r]
#include "check/justify.h"

namespace tap::check {

namespace {

constexpr auto obligation = Obligation::staged;

// The cell of the staging buffer: an axis for each dim that determines the write's position, in order.
std::pair<std::vector<AffineExpr>, ir::TensorType> axes_of(const ir::Operator& op, const ir::Access& write,
                                                           const Dims& dims, std::size_t over) {
  std::vector<AffineExpr> rows;
  ir::TensorType type{op.results[write.tensor].element, {}};
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    auto speaks = [d](const AffineExpr& row) { return uses_dim(row, d); };
    if (std::ranges::none_of(write.projection.start.rows, speaks)) continue;
    expect(obligation, dims[d].has_value(), "a dim of the written coordinates is reduced");
    const auto [lo, hi] = op.dims[d].range;
    rows.push_back(*dims[d] - number(over, lo));
    type.shape.push_back(std::max<std::int64_t>(checked::sub(hi, lo), 0));
  }
  return {rows, type};
}

// Checks that every point of these dims exists and writes one cell.
void check_points(const ir::Operator& op) {
  bool all = (op.map() || op.reduce()) && op.blockings.empty() && dims_of_role(op, ir::DimRole::counter).empty();
  const std::set<std::uint32_t> reduced = dims_of_role(op, ir::DimRole::reduction);
  for (const ir::Constraint& c : op.constraints)
    all &= std::ranges::any_of(reduced, [&](std::uint32_t d) { return uses_dim(c.expr, d); });
  expect(obligation, all,
         "only maps and reductions that are not split and write at every point can use a staging buffer");
}

}  // namespace

Justify::Result Justify::justify(const ir::StagedOf& j) {
  const Side before = numbering_.side(j.of);
  const std::size_t over = side_.op->dims.size();
  check_points(*before.op);
  const Dims dims = in_order(*before.op, over, obligation);
  Match match(side_, before, dims, obligation);
  Form expected = match.form();
  expected.results.clear();
  match.expect(side_.results.size() == expected.writes.size(), "its results differ");
  for (std::size_t k = 0; k < expected.writes.size(); ++k) {
    match.expect(!claim_.values[side_.operation->results[k].index()], "result {} is not a new value", k);
    auto [rows, type] = axes_of(*before.op, before.op->writes[k], dims, over);
    expected.writes[k] = {k, std::move(rows), Shape(type.shape.size(), 1), expected.writes[k].invariant};
    expected.results.emplace_back(std::move(type), side_.results[k]);
  }
  match.is(expected);
  return {obligation, {}};
}

Justify::Result Justify::justify(const ir::PlacedFrom& j) {
  const Side before = numbering_.side(j.of), staged = part<ir::StagedOf>(j.staged, j.of, obligation).second;
  const std::size_t over = side_.op->dims.size();
  const Dims dims = in_order(*before.op, over, obligation, dims_of_role(*before.op, ir::DimRole::reduction));
  Match match(side_, before, dims, obligation);
  Form expected = match.form();
  match.expect(side_.op->map() && staged.results.size() == expected.writes.size(),
               "it does not move each staged cell into place");
  expected.body = side_.op->body.index();
  expected.monoid.reset();
  expected.values.clear();
  for (std::size_t k = 0; k < expected.writes.size(); ++k) {
    const auto [rows, type] = axes_of(*before.op, before.op->writes[k], dims, over);
    expected.values.push_back(read_of(match.terms(), staged.results[k], type.element, rows));
  }
  match.is(expected);
  return {obligation, {j.of}};
}

}  // namespace tap::check
