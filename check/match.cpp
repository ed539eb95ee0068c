#include "check/match.h"

#include <algorithm>

#include "check/axioms.h"

namespace tap::check {

using ir::CellId, ir::CellNode, ir::CellOp;

namespace {

std::vector<AffineExpr> own_dims(std::size_t count) {
  std::vector<AffineExpr> dims;
  for (std::size_t d = 0; d < count; ++d) dims.push_back(unit(count, d));
  return dims;
}
std::vector<AffineExpr> values_of(const Dims& dims, std::size_t over) {
  std::vector<AffineExpr> values;
  for (std::size_t d = 0; d < dims.place.size(); ++d)
    values.push_back(dims.place[d] ? unit(over, *dims.place[d]) : dims.value[d]);
  return values;
}

using Words = std::vector<std::int64_t>;
Words words_of(const ir::Constraint& c) {
  Words words = c.expr.coefficients;
  words.push_back(c.expr.offset);
  words.push_back(static_cast<std::int64_t>(c.comparison));
  return words;
}

// What a monoid is, but for names and the order of its cells.
void describe(const ir::Program& program, ir::MonoidId id, Words& words);
void describe(const ir::Program& program, const ir::CellExprs& exprs, const std::vector<CellId>& roots, Words& words) {
  std::vector<std::int64_t> number(exprs.size(), -1);
  std::int64_t next = 0;
  auto visit = [&](auto&& self, CellId id) -> void {
    if (number[id.index()] >= 0) return;
    const CellNode& node = exprs[id];
    for (CellId arg : node.args) self(self, arg);
    number[id.index()] = next++;
    words.insert(words.end(), {static_cast<std::int64_t>(node.op), static_cast<std::int64_t>(node.type)});
    Terms constants(0);
    if (node.op == CellOp::constant) {
      const auto& bits = constants[constants.constant(node.value)].data;
      words.insert(words.end(), bits.begin(), bits.end());
    } else if (node.op == CellOp::reduce) {
      describe(program, ir::MonoidId(node.attribute), words);
    } else {
      words.push_back(node.attribute);
    }
    for (CellId arg : node.args) words.push_back(number[arg.index()]);
  };
  for (CellId root : roots) {
    visit(visit, root);
    words.push_back(-1 - number[root.index()]);
  }
}
void describe(const ir::Program& program, ir::MonoidId id, Words& words) {
  const ir::Monoid& m = program[id];
  for (const auto& c : m.components) words.push_back(static_cast<std::int64_t>(c.type));
  for (ir::Law law : {m.laws.associative, m.laws.identity, m.laws.commutative, m.laws.fold})
    words.push_back(-2 - static_cast<std::int64_t>(law));
  describe(program, m.exprs, m.identity, words);
  describe(program, m.exprs, m.combine, words);
  if (m.fold) describe(program, m.fold->exprs, m.fold->roots, words);
}

}  // namespace

bool same_monoid(const ir::Program& a, ir::MonoidId x, const ir::Program& b, ir::MonoidId y) {
  Words left, right;
  describe(a, x, left);
  describe(b, y, right);
  return left == right;
}

std::vector<AffineExpr> Cells::rows(const ir::Access& access) const {
  std::vector<AffineExpr> rows;
  for (const AffineExpr& row : access.projection.start.rows) rows.push_back(placed(row));
  return rows;
}

// In the order of the arena, so that no recursion is deep but through coordinates and fills. Where these come later than the
// read, what depends on that read has to wait.
Term Cells::term(CellId cell) {
  own_.resize(side_.op->exprs.size());
  open_.resize(side_.op->exprs.size(), false);
  for (std::size_t k = done_; k <= cell.index(); ++k) {
    const CellNode& node = side_.op->exprs[CellId(k)];
    bool ready =
        std::all_of(node.args.begin(), node.args.end(), [&](CellId arg) { return own_[arg.index()].has_value(); });
    if (own_[k] || open_[k] || !ready) continue;
    open_[k] = true;
    std::vector<Term> args;
    for (CellId arg : node.args) args.push_back(*own_[arg.index()]);
    own_[k] = made(node, std::move(args));
    open_[k] = false;
  }
  while (done_ < own_.size() && own_[done_]) ++done_;
  if (!own_[cell.index()]) throw Refusal{Obligation::well_formed, "a read needs itself to know what it reads"};
  return *own_[cell.index()];
}

std::vector<Term> Cells::all(const ir::CellExprs& exprs) {
  std::vector<Term> terms;
  for (std::size_t k = 0; k < exprs.size(); ++k) {
    const CellNode& node = exprs[CellId(k)];
    std::vector<Term> args;
    for (CellId arg : node.args) args.push_back(terms[arg.index()]);
    terms.push_back(made(node, std::move(args)));
  }
  return terms;
}

Term Cells::made(const CellNode& node, std::vector<Term> args) {
  switch (node.op) {
    case CellOp::constant: return terms_.constant(node.value);
    case CellOp::index: return terms_.affine(dims_[node.attribute]);
    case CellOp::read: return read(node.attribute);
    default: return terms_.apply(node.op, node.type, std::move(args));
  }
}

Term Cells::read(std::uint32_t number) {
  if (reads_[number]) return *reads_[number];
  const ir::Access& access = side_.op->reads[number];
  Terms::Node node{Terms::Kind::read, CellOp::read, side_.op->operands[access.tensor].element, {}, {}};
  node.data.push_back(side_.operands[access.tensor]);
  std::vector<AffineExpr> rows = this->rows(access);
  for (std::size_t axis = 0; axis < rows.size(); ++axis) {
    bool by_data = !access.coordinates.empty() && access.coordinates[axis];
    node.data.insert(node.data.end(), {by_data, access.projection.shape[axis], rows[axis].offset});
    node.data.insert(node.data.end(), rows[axis].coefficients.begin(), rows[axis].coefficients.end());
    if (by_data) node.args.push_back(term(*access.coordinates[axis]));
  }
  node.data.push_back(access.fill.has_value());
  if (access.fill) node.args.push_back(term(*access.fill));
  return *(reads_[number] = terms_.add(std::move(node)));
}

Dims same_dims(const Side& after, const Side& before, Obligation obligation) {
  expect(obligation, after.op->dims.size() >= before.op->dims.size(), "{} dims and {} before", after.op->dims.size(),
         before.op->dims.size());
  Dims dims{{}, std::vector<AffineExpr>(before.op->dims.size())};
  for (std::uint32_t d = 0; d < before.op->dims.size(); ++d) dims.place.push_back(d);
  return dims;
}

Match::Match(const Places& places, const Side& after, const Side& before, Dims dims, Obligation obligation)
    : places_(places),
      after_(after),
      before_(before),
      dims_(std::move(dims)),
      obligation_(obligation),
      terms_(after.op->dims.size()),
      a_(terms_, after, own_dims(after.op->dims.size())),
      b_(terms_, before, values_of(dims_, after.op->dims.size())) {}

void Match::dims() {
  for (std::size_t d = 0; d < dims_.place.size(); ++d) {
    if (!dims_.place[d]) continue;
    expect(*dims_.place[d] < after_.op->dims.size(), "dim {} is gone", d);
    const ir::IndexDim &a = after_.op->dims[*dims_.place[d]], &b = before_.op->dims[d];
    expect(a.range == b.range, "dim {} runs over {}..{} and ran over {}..{}", d, a.range.lo, a.range.hi, b.range.lo,
           b.range.hi);
    expect(a.role == b.role && a.level == b.level && a.keep == b.keep, "dim {} is of another kind", d);
  }
}

void Match::constraints() {
  std::vector<Words> a, b;
  for (const ir::Constraint& c : after_.op->constraints) a.push_back(words_of(c));
  for (const ir::Constraint& c : before_.op->constraints) b.push_back(words_of({b_.placed(c.expr), c.comparison}));
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  expect(a == b, "the constraints of the index space are others: {} and {} before", a.size(), b.size());
}

void Match::blockings(std::size_t more) {
  const auto &a = after_.op->blockings, &b = before_.op->blockings;
  expect(a.size() == b.size() + more, "{} blockings and {} before", a.size(), b.size());
  for (std::size_t k = 0; k < b.size(); ++k)
    expect(dims_.place[b[k].dim] == a[k].dim && dims_.place[b[k].block_dim] == a[k].block_dim &&
               a[k].blocks == b[k].blocks,
           "blocking {} is another", k);
}

void Match::types() {
  expect(after_.op->results.size() == before_.op->results.size(), "{} results and {} before", after_.op->results.size(),
         before_.op->results.size());
  for (std::size_t r = 0; r < after_.op->results.size(); ++r) {
    expect(after_.op->results[r] == before_.op->results[r], "result {} is of another type", r);
    expect(places_.same(after_.results[r], before_.results[r]), "result {} is another value", r);
  }
}

// The same cells: rows, extents, and dims on which nothing depends. Behind a block's number, if the write has that first.
void Match::write_place(std::size_t number, bool behind_block, std::uint32_t block) {
  const ir::Access &a = after_.op->writes[number], &b = before_.op->writes[number];
  std::vector<AffineExpr> rows = b_.rows(b);
  ir::Projection place = a.projection;
  if (behind_block) {
    auto& its = place.start.rows;
    bool first = !its.empty() && its[0] == unit(terms_.dims(), block) && place.shape[0] == 1;
    expect(first, "write {} does not begin with the number of the block", number);
    its.erase(its.begin());
    place.shape.erase(place.shape.begin());
  }
  expect(place.start.rows == rows && place.shape == b.projection.shape, "write {} is at another place", number);
  std::set<std::uint32_t> now(a.invariant_dims.begin(), a.invariant_dims.end()), was;
  for (std::uint32_t d : b.invariant_dims)
    if (dims_.place[d]) was.insert(*dims_.place[d]);
  for (std::uint32_t d : now) expect(was.count(d) > 0, "write {} is said not to depend on dim {}", number, d);
  for (std::uint32_t d : was) expect(now.count(d) > 0, "write {} was said not to depend on dim {}", number, d);
}

void Match::writes() {
  types();
  expect(after_.op->writes.size() == before_.op->writes.size(), "{} writes and {} before", after_.op->writes.size(),
         before_.op->writes.size());
  for (std::size_t k = 0; k < after_.op->writes.size(); ++k) {
    expect(after_.op->writes[k].tensor == before_.op->writes[k].tensor, "write {} is of another result", k);
    write_place(k);
  }
}

void Match::monoid() {
  const ir::ReduceBody *a = after_.op->reduce(), *b = before_.op->reduce();
  expect(a && b, "a reduction became something else, or the other way round");
  expect(same_monoid(*after_.program, a->monoid, *before_.program, b->monoid), "the monoid is another");
}

void Match::body() {
  const ir::Operator &a = *after_.op, &b = *before_.op;
  expect(a.body.index() == b.body.index(), "the body is of another kind");
  if (auto* reduce = b.reduce()) {
    monoid();
    for (std::size_t k = 0; k < reduce->operands.size(); ++k)
      expect(terms_.equal(a_.term(a.reduce()->operands[k]), b_.term(reduce->operands[k])), "operand {} is another term",
             k);
  }
  if (auto* map = b.map())
    for (std::size_t k = 0; k < map->values.size(); ++k)
      expect(terms_.equal(a_.term(a.map()->values[k]), b_.term(map->values[k])), "value {} is another term", k);
  if (a.map() || a.reduce()) return;
  accesses(a.reads, b.reads, "read");
  expect(a.operands == b.operands, "the operands are of other types");
  for (std::size_t k = 0; k < after_.operands.size(); ++k)
    expect(places_.same(after_.operands[k], before_.operands[k]), "operand {} is another value", k);
  if (auto* kernel = b.kernel()) {
    expect(a.kernel()->symbol == kernel->symbol, "the kernel is another");
    const auto &now = a.kernel()->reduced_by, &was = kernel->reduced_by;
    expect(now.has_value() == was.has_value() && (!now || same_monoid(*after_.program, *now, *before_.program, *was)),
           "the kernel's monoid is another");
  }
}

void Match::accesses(const std::vector<ir::Access>& a, const std::vector<ir::Access>& b, const char* what) {
  expect(a.size() == b.size(), "{} {}s and {} before", a.size(), what, b.size());
  for (std::uint32_t k = 0; k < a.size(); ++k) {
    expect(a[k].tensor == b[k].tensor, "{} {} is of another tensor", what, k);
    expect(a_.read(k) == b_.read(k), "{} {} is another", what, k);
  }
}

void Match::everything() {
  expect(after_.op->dims.size() == before_.op->dims.size(), "{} dims and {} before", after_.op->dims.size(),
         before_.op->dims.size());
  dims();
  constraints();
  blockings();
  writes();
  body();
}

void Match::axioms(const std::vector<ir::AxiomUse>& uses, const ir::CellExprs& exprs) {
  // All terms first, so that what is made of equal ones is found to be equal.
  for (std::size_t k = 0; k < before_.op->exprs.size(); ++k) b_.term(CellId(k));
  for (std::size_t k = 0; k < after_.op->exprs.size(); ++k) a_.term(CellId(k));
  std::vector<Term> known = b_.all(exprs);
  Space domain = space_of(*before_.op);
  for (const ir::AxiomUse& use : uses) {
    std::vector<Term> variables;
    for (CellId cell : use.variables) variables.push_back(known[cell.index()]);
    use_axiom(terms_, use.axiom, variables, domain);
  }
  terms_.close();
}

}  // namespace tap::check
