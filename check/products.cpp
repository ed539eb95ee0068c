// Products over a semiring, computed a few factors at a time. Every step is viewed over the dims of the original
// product: its result is then a list of factors and a set of reduced dims.
//
//   t[i, k] = sum[j] a[i, j] * b[j, k]      a[i, j], b[j, k]           over j
//   y[i, l] = sum[k] t[i, k] * c[k, l]      a[i, j], b[j, k], c[k, l]  over j and k
//
// A step may read a part only if none of the part's reduced dims is a dim of the step: by the law of the semiring, its
// factors then move into the part's reduction. At the end each factor occurs once, and each dim is reduced once.
#include <algorithm>

#include "check/justify.h"

namespace tap::check {

namespace {

void require(bool holds, const char* why) { expect(Obligation::product, holds, "{}", why); }

constexpr std::size_t most_factors = 64;

struct Semiring {
  ir::CellOp plus, times;
  ir::CellArguments types;
  bool exact;
};
using ir::CellArguments;
constexpr Semiring semirings[] = {
#define TAP_SEMIRING(plus, times, types, exact, law) {ir::CellOp::plus, ir::CellOp::times, CellArguments::types, exact},
#include "check/semirings.def"
#undef TAP_SEMIRING
};

struct Factors {
  std::vector<Term> factors;
  std::set<std::uint32_t> reduced;
};

// The cells of a product, in order.
std::vector<ir::CellId> factors_of(const ir::Operator& op, ir::CellId root, ir::CellOp times) {
  std::vector<ir::CellId> open{root}, found;
  while (!open.empty()) {
    ir::CellId cell = open.back();
    open.pop_back();
    const ir::CellNode& node = op.exprs[cell];
    if (node.op == times) open.insert(open.end(), node.args.rbegin(), node.args.rend());
    else found.push_back(cell);
    require(open.size() + found.size() <= most_factors, "it has more than 64 factors");
  }
  return found;
}
ir::CellId root_of(const ir::Operator& op) {
  const bool plain = (op.map() || op.reduce()) && op.writes.size() == 1 && op.results.size() == 1 &&
                     op.constraints.empty() && op.blockings.empty();
  require(plain, "it must be a map or reduction with one result, without constraints and splits");
  return op.map() ? op.map()->values[0] : op.reduce()->operands[0];
}

class Product {
 public:
  Product(const Side& side, const ir::OperationRef& of, const ir::Program& after, const ir::GraphClaim& claim,
          const std::vector<Class>& classes)
      : of_(side), ref_(of), after_(after), claim_(claim), classes_(classes) {}

  // What the operation computes, in terms of the earlier ones.
  const Factors& of_step(ir::OperationId id) {
    if (auto known = known_.find(id); known != known_.end()) return known->second;
    const ir::Operation& operation = after_[claim_.after][id];
    const ir::Operator& own = after_[operation.op];
    const ir::CellId root = root_of(own);
    Factors made;
    std::set<std::uint32_t> used;
    Dims dims = dims_of(id, own, made.reduced, used);
    const Side side = side_of(after_, operation, [this](ir::ValueId v) { return classes_[v.index()]; });
    Cells cells(terms_, side, dims);
    for (ir::CellId cell : factors_of(own, root, times_)) {
      const ir::CellNode& node = own.exprs[cell];
      const bool part = node.op == ir::CellOp::read &&
                        !claim_.values[operation.operands[own.reads[node.attribute].tensor].index()];
      if (part) join(made, part_read(id, own.reads[node.attribute], cells), used);
      else made.factors.push_back(cells.term(cell));
    }
    require(made.factors.size() <= most_factors && own.exprs[root].type == type_, "a step has the wrong type");
    return known_[id] = std::move(made);
  }

  // The last one writes the product's cells.
  void is_all(ir::OperationId id) {
    Factors all = of_step(id), expected;
    const ir::Operator& own = after_[after_[claim_.after][id].op];
    Cells cells(terms_, of_, in_order(op_, op_.dims.size(), Obligation::product));
    for (ir::CellId cell : factors_of(op_, root_of(op_), times_)) expected.factors.push_back(cells.term(cell));
    std::sort(all.factors.begin(), all.factors.end());
    std::sort(expected.factors.begin(), expected.factors.end());
    require(all.factors == expected.factors, "its factors differ from the product's");
    require(all.reduced == reduced_, "its reduction dims differ from the product's");
    std::set<std::uint32_t> used, own_reduced;
    std::vector<AffineExpr> dims, to;
    for (const auto& dim : dims_of(id, own, own_reduced, used)) dims.push_back(*dim);
    require(used.size() - own_reduced.size() == op_.dims.size() - reduced_.size(), "the result lacks dims");
    const ir::Access &write = own.writes[0], &was = op_.writes[0];
    for (const AffineExpr& row : write.projection.start.rows) to.push_back(substituted(row, dims, op_.dims.size()));
    std::set<std::uint32_t> invariant, expected_invariant(was.invariant_dims.begin(), was.invariant_dims.end());
    for (std::uint32_t d : write.invariant_dims) invariant.insert(justified(id).dims[d]);
    require(to == was.projection.start.rows && write.projection.shape == was.projection.shape &&
                invariant == expected_invariant && own.results == op_.results,
            "it writes different cells than the product that it replaces");
  }

  // The assumptions about the semiring; refused if it is not one.
  bool exact() {
    auto argument = [this](std::int64_t k) {
      return terms_.add({Terms::Kind::argument, ir::CellOp::argument, type_, {k}, {}});
    };
    for (const Semiring& s : semirings) {
      if (s.times != times_ || !ir::accepts(s.types, type_)) continue;
      if (!op_.reduce()) return s.exact;
      const ir::Monoid& monoid = (*of_.program)[op_.reduce()->monoid];
      require(monoid.components.size() == 1 && monoid.components[0].type == type_, "it reduces several components");
      const Term a = argument(0), b = argument(1), sum = combined(terms_, monoid, {a}, {b})[0];
      if (sum == terms_.apply(s.plus, type_, {a, b}) || sum == terms_.apply(s.plus, type_, {b, a})) return s.exact;
    }
    throw Refusal{Obligation::product, "its operations do not form a known semiring"};
  }

 private:
  const ir::ProductOf& justified(ir::OperationId id) const {
    const auto* j = std::get_if<ir::ProductOf>(&claim_.operations[id.index()]);
    require(j && j->of == ref_, "a part belongs to a different product");
    return *j;
  }

  // Each dim of a step is a whole dim of the product; it is reduced there if it is here.
  Dims dims_of(ir::OperationId id, const ir::Operator& own, std::set<std::uint32_t>& reduced,
               std::set<std::uint32_t>& used) {
    const std::vector<std::uint32_t>& numbers = justified(id).dims;
    require(numbers.size() == own.dims.size(), "a dim of a step is not a dim of the product");
    Dims dims;
    for (std::size_t d = 0; d < numbers.size(); ++d) {
      require(numbers[d] < op_.dims.size() && used.insert(numbers[d]).second,
              "two dims of a step map to the same dim, or to none");
      const ir::IndexDim &dim = own.dims[d], &was = op_.dims[numbers[d]];
      require(dim.range == was.range && dim.range.lo == 0, "a dim of a step has the wrong range");
      const bool reduces = dim.role == ir::DimRole::reduction;
      require(reduces ? was.role == dim.role && dim.range.hi > 0 : dim.role == ir::DimRole::parallel,
              "a dim of a step has the wrong role");
      if (reduces) reduced.insert(numbers[d]);
      dims.push_back(unit(op_.dims.size(), numbers[d]));
    }
    if (!own.reduce()) require(reduced.empty(), "a map reduces");
    else
      require(op_.reduce() && monoid_term(terms_, after_, own.reduce()->monoid) ==
                                  monoid_term(terms_, *of_.program, op_.reduce()->monoid),
              "a step reduces by the wrong monoid");
    return dims;
  }

  // A part is read at the point of the step, and has an axis for each dim that it has not reduced.
  const Factors& part_read(ir::OperationId reader, const ir::Access& read, const Cells& cells) {
    const ir::Graph& graph = after_[claim_.after];
    const ir::ValueId value = graph[reader].operands[read.tensor];
    std::size_t by = reader.index();
    do require(by-- > 0, "it reads a part that has no writer");
    while (graph.operations[by].results != std::vector{value});
    const ir::Operator& its = after_[graph.operations[by].op];
    const Factors& part = of_step(ir::OperationId(by));
    const auto& [start, shape] = its.writes[0].projection;
    const std::vector<std::uint32_t>& numbers = justified(ir::OperationId(by)).dims;
    std::vector<AffineExpr> rows = cells.rows(read), at;
    std::set<std::size_t> axes;
    for (std::size_t axis = 0; axis < start.rows.size(); ++axis) {
      std::size_t d = 0;
      while (d < its.dims.size() && start.rows[axis] != unit(its.dims.size(), d)) ++d;
      require(d < its.dims.size() && its.dims[d].role == ir::DimRole::parallel && axes.insert(d).second &&
                  shape[axis] == 1 && read.projection.shape[axis] == 1 &&
                  its.results[0].shape[axis] == its.dims[d].range.hi,
              "an axis of a part is not one of its dims");
      at.push_back(unit(op_.dims.size(), numbers[d]));
    }
    std::size_t kept = dims_of_role(its, ir::DimRole::parallel).size();
    require(its.results[0].element == type_, "a part has the wrong type");
    require(axes.size() == kept && rows == at && !read.fill && read.coordinates.empty(),
            "a part is read at the wrong cells");
    return part;
  }

  static void join(Factors& to, const Factors& part, const std::set<std::uint32_t>& used) {
    to.factors.insert(to.factors.end(), part.factors.begin(), part.factors.end());
    for (std::uint32_t d : part.reduced)
      require(used.count(d) == 0 && to.reduced.insert(d).second, "a dim is used after its reduction");
  }

  const Side& of_;
  const ir::OperationRef& ref_;
  const ir::Program& after_;
  const ir::GraphClaim& claim_;
  const std::vector<Class>& classes_;
  const ir::Operator& op_ = *of_.op;
  const ir::CellOp times_ = op_.exprs[root_of(op_)].op;
  const ElementType type_ = op_.exprs[root_of(op_)].type;
  const std::set<std::uint32_t> reduced_ = dims_of_role(op_, ir::DimRole::reduction);
  Terms terms_{op_.dims.size()};
  std::map<ir::OperationId, Factors> known_;
};

}  // namespace

// An operation that writes a new value is a part, and is checked at its reads.
Justify::Result Justify::justify(const ir::ProductOf& j) {
  constexpr auto obligation = Obligation::product;
  auto is_new = [&](ir::ValueId v) { return !claim_.values[v.index()]; };
  if (std::ranges::all_of(side_.operation->results, is_new)) return {obligation, {}};
  Side before = numbering_.side(j.of);
  require(dims_of_role(*before.op, ir::DimRole::counter).empty(), "a product uses a counter");
  Product product(before, j.of, context_.after, claim_, classes_);
  const ir::Operation* first = context_.after[claim_.after].operations.data();
  product.is_all(ir::OperationId(static_cast<std::size_t>(side_.operation - first)));
  require(side_.results == before.results, "it computes a different value than the product that it replaces");
  if (before.op->reduce()) laws((*before.program)[before.op->reduce()->monoid], true);
  if (!product.exact()) context_.assumed.emplace_back(obligation, distributing_floats);
  return {obligation, {j.of}};
}

}  // namespace tap::check
