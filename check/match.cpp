#include "check/match.h"

#include "check/axioms.h"

namespace tap::check {

using ir::CellId, ir::CellNode, ir::CellOp;

Dims in_order(const ir::Operator& op, std::size_t over, Obligation obligation, const std::set<std::uint32_t>& removed,
              std::optional<std::uint32_t> between) {
  Dims dims(op.dims.size());
  std::uint32_t next = 0;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d) {
    if (removed.count(d) > 0) continue;
    if (between == next) ++next;
    expect(obligation, next < over, "dim {} of the original is missing", d);
    dims[d] = unit(over, next++);
  }
  return dims;
}

std::set<std::uint32_t> dims_of_role(const ir::Operator& op, ir::DimRole role) {
  std::set<std::uint32_t> found;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == role) found.insert(d);
  return found;
}

namespace {

// The cells of an arena, in order; `leaf` handles all but constants and plain operations.
template <class Leaf>
std::vector<Term> evaluated(Terms& terms, const ir::CellExprs& exprs, Leaf leaf) {
  std::vector<Term> made;
  for (std::size_t k = 0; k < exprs.size(); ++k) {
    const CellNode& node = exprs[CellId(k)];
    std::vector<Term> args;
    for (CellId arg : node.args) args.push_back(made[arg.index()]);
    auto kind = ir::info(node.op).kind;
    bool own = kind == ir::CellKind::leaf || kind == ir::CellKind::reduction;
    if (node.op == CellOp::constant) made.push_back(terms.constant(node.value));
    else made.push_back(own ? leaf(node, std::move(args)) : terms.apply(node.op, node.type, std::move(args)));
  }
  return made;
}

// The position of a read along one axis: `extent` cells from the row on, or its coordinate.
void add_axis(Terms::Node& read, const AffineExpr& row, std::int64_t extent, bool by_data) {
  read.data.insert(read.data.end(), {by_data, extent, row.offset});
  read.data.insert(read.data.end(), row.coefficients.begin(), row.coefficients.end());
}

}  // namespace

Term monoid_term(Terms& terms, const ir::Program& program, ir::MonoidId id, bool known) {
  const ir::Monoid& m = program[id];
  Terms::Node node{Terms::Kind::apply, CellOp::reduce, ElementType::boolean, {}, {}};
  for (const auto& c : m.components) node.data.push_back(static_cast<std::int64_t>(c.type));
  for (ir::Law law : {m.laws.associative, m.laws.identity, m.laws.commutative, m.laws.fold})
    node.data.push_back(known ? static_cast<std::int64_t>(law) : 0);
  auto leaf = [&](const CellNode& cell, const std::vector<Term>& args) {
    if (cell.op == CellOp::argument)
      return terms.add({Terms::Kind::argument, cell.op, cell.type, {cell.attribute}, {}});
    return reduced_by(terms, program, ir::MonoidId(cell.attribute), args[0]);  // in a fold
  };
  auto describe = [&](const ir::CellExprs& exprs, const std::vector<CellId>& roots) {
    std::vector<Term> cells = evaluated(terms, exprs, leaf);
    for (CellId root : roots) node.args.push_back(cells[root.index()]);
  };
  describe(m.exprs, m.identity);
  describe(m.exprs, m.combine);
  if (m.fold && known) describe(m.fold->exprs, m.fold->roots);
  return terms.add(std::move(node));
}

std::vector<Term> combined(Terms& terms, const ir::Monoid& monoid, const std::vector<Term>& earlier,
                           const std::vector<Term>& later) {
  std::vector<Term> cells = evaluated(terms, monoid.exprs, [&](const CellNode& node, const auto&) {
    std::size_t n = earlier.size();
    return node.attribute < n ? earlier[node.attribute] : later[node.attribute - n];
  });
  std::vector<Term> roots;
  for (CellId root : monoid.combine) roots.push_back(cells[root.index()]);
  return roots;
}

Term reduced_by(Terms& terms, const ir::Program& program, ir::MonoidId monoid, Term operand) {
  ElementType type = program[monoid].components[0].type;
  return terms.add({Terms::Kind::apply, CellOp::reduce, type, {}, {operand, monoid_term(terms, program, monoid)}});
}
std::vector<Term> folded(Terms& terms, const ir::Program& program, const ir::Monoid& monoid,
                         const std::vector<Term>& operands, bool empty) {
  return evaluated(terms, monoid.fold->exprs, [&](const CellNode& node, const std::vector<Term>& args) {
    if (node.op == CellOp::argument) return operands[node.attribute];
    const ir::Monoid& by = program[ir::MonoidId(node.attribute)];
    return empty ? terms.constant(by.exprs[by.identity[0]].value)
                 : reduced_by(terms, program, ir::MonoidId(node.attribute), args[0]);
  });
}

Term read_of(Terms& terms, Class value, ElementType type, const std::vector<AffineExpr>& rows) {
  Terms::Node node{Terms::Kind::read, CellOp::read, type, {value}, {}};
  for (const AffineExpr& row : rows) add_axis(node, row, 1, false);
  node.data.push_back(false);
  return terms.add(std::move(node));
}

Cells::Cells(Terms& terms, const Side& side, const Dims& dims) : terms_(terms), side_(side) {
  for (std::size_t d = 0; d < dims.size(); ++d)
    dims_.push_back(dims[d].value_or(number(terms.dims(), side.op->dims[d].range.lo)));
}

std::vector<AffineExpr> Cells::rows(const ir::Access& access) const {
  std::vector<AffineExpr> rows;
  for (const AffineExpr& row : access.projection.start.rows) rows.push_back(placed(row));
  return rows;
}

// Only what the cell depends on, and with a stack of its own, so that only coordinates and fills recurse.
Term Cells::term(CellId cell) {
  for (std::vector<CellId> needed{cell}; !needed.empty();) {
    const CellId next = needed.back();
    const CellNode& node = side_.op->exprs[next];
    const std::size_t before = needed.size();
    for (CellId arg : node.args)
      if (!own_[next.index()] && !own_[arg.index()]) needed.push_back(arg);
    if (needed.size() > before) continue;
    needed.pop_back();
    if (own_[next.index()]) continue;
    if (open_[next.index()]) throw Refusal{Obligation::well_formed, "a read depends on itself"};
    open_[next.index()] = true;
    std::vector<Term> args;
    for (CellId arg : node.args) args.push_back(*own_[arg.index()]);
    own_[next.index()] = made(node, std::move(args));
    open_[next.index()] = false;
  }
  return *own_[cell.index()];
}

std::vector<Term> Cells::all(const ir::CellExprs& exprs) {
  return evaluated(terms_, exprs,
                   [this](const CellNode& node, std::vector<Term> args) { return made(node, std::move(args)); });
}

Term Cells::made(const CellNode& node, std::vector<Term> args) {
  bool ours = node.op == CellOp::index ? node.attribute < dims_.size()
                                       : node.op != CellOp::read || node.attribute < reads_.size();
  if (!ours) throw Refusal{Obligation::well_formed, "a cell refers to a dim or read that does not exist"};
  switch (node.op) {
    case CellOp::constant: return terms_.constant(node.value);
    case CellOp::index: return terms_.affine(dims_[node.attribute]);
    case CellOp::read: return read(node.attribute);
    default: return terms_.apply(node.op, node.type, std::move(args));
  }
}

void Cells::replace(std::uint32_t read, Term by) {
  replaced_[read] = by;
  std::ranges::fill(reads_, std::nullopt);
  std::ranges::fill(own_, std::nullopt);
}

Term Cells::read(std::uint32_t number) {
  if (replaced_[number]) return *replaced_[number];
  if (reads_[number]) return *reads_[number];
  const ir::Access& access = side_.op->reads[number];
  ElementType type = side_.op->operands[access.tensor].element;
  Terms::Node node{Terms::Kind::read, CellOp::read, type, {side_.operands[access.tensor]}, {}};
  std::vector<AffineExpr> rows = this->rows(access);
  for (std::size_t axis = 0; axis < rows.size(); ++axis) {
    bool by_data = !access.coordinates.empty() && access.coordinates[axis];
    add_axis(node, rows[axis], access.projection.shape[axis], by_data);
    if (by_data) node.args.push_back(term(*access.coordinates[axis]));
  }
  node.data.push_back(access.fill.has_value());
  if (access.fill) node.args.push_back(term(*access.fill));
  return *(reads_[number] = terms_.add(std::move(node)));
}

Form Match::form_of(const Side& side, const Dims& dims, Cells& cells) {
  const ir::Operator& op = *side.op;
  Form form{{}, {}, {}, {}, {}, op.body.index()};
  std::vector<std::optional<std::uint32_t>> kept(dims.size());  // the dim it equals, if it is one
  for (std::uint32_t d = 0; d < dims.size(); ++d)
    for (std::uint32_t p = 0; p < terms_.dims() && dims[d]; ++p)
      if (*dims[d] == unit(terms_.dims(), p)) kept[d] = p, form.dims.push_back(op.dims[d]);
  for (const ir::Constraint& c : op.constraints) {
    bool removed = false;
    for (std::size_t d = 0; d < dims.size(); ++d) removed |= !dims[d] && uses_dim(c.expr, d);
    if (!removed) form.constraints.push_back({cells.placed(c.expr), c.comparison});
  }
  for (const ir::Blocking& b : op.blockings) {
    if (!dims[b.dim]) continue;
    expect(kept[b.dim] && kept[b.block_dim], "a split dim or its block number is missing");
    form.blockings.push_back({*kept[b.dim], *kept[b.block_dim], b.blocks});
  }
  for (std::size_t r = 0; r < op.results.size(); ++r) form.results.emplace_back(op.results[r], side.results[r]);
  for (const ir::Access& write : op.writes) {
    form.writes.push_back({write.tensor, cells.rows(write), write.projection.shape, {}});
    for (std::uint32_t d : write.invariant_dims)
      if (kept[d]) form.writes.back().invariant.insert(*kept[d]);
  }
  if (auto* map = op.map())
    for (CellId cell : map->values) form.values.push_back(cells.term(cell));
  if (auto* reduce = op.reduce()) {
    for (CellId cell : reduce->operands) form.values.push_back(cells.term(cell));
    form.monoid = monoid_term(terms_, *side.program, reduce->monoid);
  }
  if (op.map() || op.reduce()) return form;
  for (std::size_t k = 0; k < op.operands.size(); ++k) form.operands.emplace_back(op.operands[k], side.operands[k]);
  for (std::uint32_t k = 0; k < op.reads.size(); ++k) form.reads.emplace_back(op.reads[k].tensor, cells.read(k));
  if (auto* kernel = op.kernel()) {
    form.kernel = kernel->symbol;
    if (kernel->reduced_by) form.monoid = monoid_term(terms_, *side.program, *kernel->reduced_by);
  }
  return form;
}

void Match::insert(Form& form, std::size_t at, const ir::IndexDim& dim) const {
  expect(at <= form.dims.size(), "{} dims, but dim {} is claimed as new", form.dims.size(), at);
  form.dims.insert(form.dims.begin() + static_cast<std::ptrdiff_t>(at), dim);
}
void Match::split(Form& form, const ir::Blocking& by, ir::DimRole role) const {
  insert(form, by.block_dim, ir::IndexDim{"", {0, by.blocks.count}, role});
  form.blockings.push_back(by);
}

void Match::is(const Form& expected) {
  Form is = form_of(after_, own_dims_, a_);
  expect(is.body == expected.body && is.kernel == expected.kernel, "the kinds of the bodies differ");
  alike("dim", is.dims, expected.dims, [](const ir::IndexDim& a, const ir::IndexDim& b) {
    return a.range == b.range && a.role == b.role && a.keep == b.keep && a.level == b.level;
  });
  const auto &a = is.constraints, &b = expected.constraints;
  expect(std::is_permutation(a.begin(), a.end(), b.begin(), b.end()), "the constraints of the index spaces differ");
  alike("blocking", is.blockings, expected.blockings);
  alike("result", is.results, expected.results);
  alike("write", is.writes, expected.writes);
  expect(is.monoid == expected.monoid, "the monoids differ");
  alike("value", is.values, expected.values, [this](Term a, Term b) { return terms_.equal(a, b); });
  alike("operand", is.operands, expected.operands);
  alike("read", is.reads, expected.reads);
}

void Match::axioms(const std::vector<ir::AxiomUse>& uses, const ir::CellExprs& exprs) {
  // Creates all terms first, so that congruence closure finds terms built of equal ones.
  for (std::size_t k = 0; k < before_.op->exprs.size(); ++k) b_.term(CellId(k));
  for (std::size_t k = 0; k < after_.op->exprs.size(); ++k) a_.term(CellId(k));
  std::vector<Term> known = b_.all(exprs);
  Space domain{box_of(*before_.op), before_.op->constraints};
  for (const ir::AxiomUse& use : uses) {
    std::vector<Term> variables;
    for (CellId cell : use.variables) variables.push_back(known[cell.index()]);
    use_axiom(terms_, use.axiom, variables, domain);
  }
  terms_.close();
}

}  // namespace tap::check
