#include "passes/simplify/compose.h"

#include <algorithm>
#include <unordered_map>

#include "ir/affine_cell.h"
#include "passes/simplify/cell_facts.h"
#include "passes/simplify/cell_values.h"
#include "support/checked.h"

namespace tap::passes {

using namespace ir;

namespace {

// ±d + c: the dim and its sign, if the row has that form.
std::optional<std::pair<std::size_t, std::int64_t>> as_signed_dim(const AffineExpr& row) {
  std::optional<std::pair<std::size_t, std::int64_t>> found;
  for (std::size_t d = 0; d < row.coefficients.size(); ++d) {
    if (row.coefficients[d] == 0) continue;
    if (found || std::abs(row.coefficients[d]) != 1) return std::nullopt;
    found.emplace(d, row.coefficients[d]);
  }
  return found;
}

// The dims from the cell:  axis = s·d + c  →  d = s·axis - s·c.   A dim of one point is constant.
std::optional<std::vector<AffineExpr>> dims_from_cell(const Operator& op) {
  const std::vector<AffineExpr>& rows = op.writes[0].projection.start.rows;
  std::vector<std::optional<AffineExpr>> dims(op.dims.size());
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    const IndexDim& dim = op.dims[d];
    if (dim.role == DimRole::counter || dim.range.size() == 1)
      dims[d] = AffineExpr::constant(rows.size(), dim.range.lo);
  }
  for (std::size_t axis = 0; axis < rows.size(); ++axis) {
    if (rows[axis].is_constant()) continue;
    auto one = as_signed_dim(rows[axis]);
    if (!one || op.dims[one->first].role == DimRole::counter) return std::nullopt;
    auto [d, sign] = *one;
    AffineExpr cell = AffineExpr::variable(rows.size(), axis);
    cell.offset = -rows[axis].offset;
    dims[d] = scale(cell, sign);
  }
  std::vector<AffineExpr> all;
  for (const auto& dim : dims) {
    if (!dim) return std::nullopt;
    all.push_back(*dim);
  }
  return all;
}

}  // namespace

std::optional<Producer> as_producer(const Operator& op, std::string& why) {
  auto no = [&](const char* reason) {
    why = reason;
    return std::nullopt;
  };
  if (!op.map()) return no("its writer is not a map");
  if (op.writes.size() != 1) return no("its writer has several results");
  if (!op.blockings.empty()) return no("its writer is already split");
  if (may_fail(op, op.map()->values)) return no("its writer can fail, and the error must name the writer");
  try {
    if (auto dims = dims_from_cell(op)) return Producer{&op, *dims};
  } catch (const Overflow&) {}
  return no("the index point that writes a cell is not an affine function of the cell");
}

namespace {

class Composer {
 public:
  Composer(const Operator& consumer, const std::vector<ValueId>& operands, const std::vector<ReplacedOperand>& replaced)
      : consumer_(consumer), replaced_(replaced), replaced_at_(operands.size()) {
    for (std::size_t k = 0; k < replaced.size(); ++k) replaced_at_[replaced[k].tensor] = k;
    declare_dims();
    declare_operands(operands);
    for (std::size_t d = 0; d < consumer.dims.size(); ++d)
      own_dims_.push_back(AffineExpr::variable(op().dims.size(), d));
  }

  Composition run() {
    if (const MapBody* map = consumer_.map()) op().body = MapBody{mapped(map->values)};
    else op().body = ReduceBody{consumer_.reduce()->monoid, mapped(consumer_.reduce()->operands)};
    return std::move(made_);
  }

 private:
  // A source of cells: an operator, with its dims in terms of the new ones.
  struct Source {
    const Operator& op;
    std::vector<AffineExpr> dims;
    std::vector<std::uint32_t> tensors;  // by operand, the new one's number
    std::unordered_map<CellId, CellId> done;
    // Explicit, since producer and consumer may have the same operator.
    bool is_consumer = false;
  };

  Operator& op() { return made_.op; }

  // The consumer's dims, and counters that only a producer uses.
  void declare_dims() {
    op().name = consumer_.name;
    op().dims = consumer_.dims;
    for (const ReplacedOperand& r : replaced_)
      for (const IndexDim& dim : r.producer.op->dims)
        if (dim.role == DimRole::counter && !counter(dim.level)) op().dims.push_back(dim);
    const std::size_t dims = op().dims.size();
    op().constraints = consumer_.constraints;
    for (Constraint& c : op().constraints) c.expr.coefficients.resize(dims, 0);
    op().blockings = consumer_.blockings;
    op().results = consumer_.results;
    op().result_names = consumer_.result_names;
    op().writes = consumer_.writes;
    for (Access& write : op().writes) {
      write.projection.start.inputs = dims;
      for (AffineExpr& row : write.projection.start.rows) row.coefficients.resize(dims, 0);
    }
  }
  std::optional<std::size_t> counter(std::uint32_t level) const {
    for (std::size_t d = 0; d < made_.op.dims.size(); ++d)
      if (made_.op.dims[d].role == DimRole::counter && made_.op.dims[d].level == level) return d;
    return std::nullopt;
  }

  // The consumer's remaining operands, then the producers' others.
  void declare_operands(const std::vector<ValueId>& operands) {
    bool named = !consumer_.operand_names.empty();
    for (const ReplacedOperand& r : replaced_)
      named &= r.producer.op->operands.empty() || !r.producer.op->operand_names.empty();
    for (std::uint32_t t = 0; t < operands.size(); ++t) {
      own_tensors_.push_back(static_cast<std::uint32_t>(made_.operands.size()));
      if (!replaced_at_[t])
        add_operand(operands[t], consumer_.operands[t], named ? consumer_.operand_names[t] : "", named);
    }
    for (const ReplacedOperand& r : replaced_) {
      std::vector<std::uint32_t>& tensors = tensors_.emplace_back();
      for (std::size_t t = 0; t < r.operands.size(); ++t) {
        auto at = std::find(made_.operands.begin(), made_.operands.end(), r.operands[t]);
        tensors.push_back(static_cast<std::uint32_t>(at - made_.operands.begin()));
        if (at != made_.operands.end()) continue;
        add_operand(r.operands[t], r.producer.op->operands[t], named ? r.producer.op->operand_names[t] : "", named);
      }
    }
  }
  void add_operand(ValueId value, const TensorType& type, std::string name, bool named) {
    made_.operands.push_back(value);
    op().operands.push_back(type);
    if (!named) return;
    auto taken = [&](const std::string& n) {
      auto in = [&](const std::vector<std::string>& names) {
        return std::find(names.begin(), names.end(), n) != names.end();
      };
      return in(op().operand_names) || in(op().result_names);
    };
    std::string fresh = name;
    for (int n = 2; taken(fresh); ++n) fresh = name + std::to_string(n);
    op().operand_names.push_back(fresh);
  }

  std::vector<CellId> mapped(const std::vector<CellId>& roots) {
    Source own{consumer_, own_dims_, own_tensors_, {}, true};
    std::vector<CellId> result;
    for (CellId root : roots) result.push_back(copy(own, root));
    return result;
  }

  CellId copy(Source& from, CellId cell) {
    if (auto at = from.done.find(cell); at != from.done.end()) return at->second;
    const CellNode& node = from.op.exprs[cell];
    CellId made;
    if (node.op == CellOp::index) {
      made = affine_cell(from.dims[node.attribute]);
    } else if (node.op == CellOp::read) {
      made = copy_read(from, node);
    } else {
      CellNode copied = node;
      for (CellId& arg : copied.args) arg = copy(from, arg);
      made = op().exprs.add(std::move(copied));
    }
    from.done.emplace(cell, made);
    return made;
  }

  CellId copy_read(Source& from, const CellNode& node) {
    const Access& access = from.op.reads[node.attribute];
    AffineMap dims{op().dims.size(), from.dims};
    Projection composed{compose(access.projection.start, dims), access.projection.shape};
    if (from.is_consumer && replaced_at_[access.tensor])
      return computed(from, node.attribute, composed, *replaced_at_[access.tensor]);
    Access copied{from.tensors[access.tensor], std::move(composed), {}, {}, {}};
    for (const auto& coordinate : access.coordinates)
      copied.coordinates.push_back(coordinate ? std::optional(copy(from, *coordinate)) : std::nullopt);
    if (access.fill) copied.fill = copy(from, *access.fill);
    return read(copied, node.type);
  }
  CellId read(const Access& access, ElementType type) {
    std::vector<Access>& reads = op().reads;
    auto at = std::find(reads.begin(), reads.end(), access) - reads.begin();
    if (static_cast<std::size_t>(at) == reads.size()) reads.push_back(access);
    return op().exprs.read(static_cast<std::uint32_t>(at), type);
  }

  // The producer's cell at the position that the consumer would read.
  CellId computed(Source& consumer, std::uint32_t number, const Projection& composed, std::size_t which) {
    made_.reads.push_back(number);
    made_.replaced_by.push_back(static_cast<std::uint32_t>(which));
    const ReplacedOperand& r = replaced_[which];
    const Operator& producer = *r.producer.op;
    Source from{producer, {}, tensors_[which], {}};
    for (std::size_t d = 0; d < producer.dims.size(); ++d)
      from.dims.push_back(producer.dims[d].role == DimRole::counter
                              ? AffineExpr::variable(op().dims.size(), *counter(producer.dims[d].level))
                              : compose(r.producer.dims[d], composed.start));
    const TensorType& type = producer.results[0];
    CellId value = rounded(copy(from, producer.map()->values[0]), type.element);
    const auto& fill = consumer.op.reads[number].fill;
    auto inside = fill ? is_inside(composed, type.shape) : std::nullopt;
    if (!inside) return value;
    return op().exprs.apply(CellOp::select, type.element, {*inside, value, copy(consumer, *fill)});
  }

  // Written values are rounded to their type.
  CellId rounded(CellId value, ElementType type) {
    const CellNode& node = op().exprs[value];
    if (node.type != type) return op().exprs.cast(value, type);
    bool exact = !is_float(type) || type == ElementType::f64 || node.op == CellOp::read || node.op == CellOp::constant;
    return exact ? value : op().exprs.apply(CellOp::cast, type, {value});
  }

  // 0 <= e and e < n on each axis where it is not obvious; none if it is always true.
  std::optional<CellId> is_inside(const Projection& composed, const Shape& shape) {
    std::optional<CellId> all;
    Box box = op().box();
    auto also = [&](CellId condition) {
      all = all ? op().exprs.apply(CellOp::logical_and, ElementType::boolean, {*all, condition}) : condition;
    };
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const AffineExpr& at = composed.start.rows[axis];
      Range values = at.bounds(box);
      if (values.empty()) continue;
      auto condition = [&](CellOp compare, CellId a, CellId b) {
        also(op().exprs.apply(compare, ElementType::boolean, {a, b}));
      };
      if (values.lo < 0) condition(CellOp::less_equal, number(0), affine_cell(at));
      if (values.hi > shape[axis]) condition(CellOp::less, affine_cell(at), number(shape[axis]));
    }
    return all;
  }

  CellId number(std::int64_t n) { return op().exprs.constant(Scalar::integer(ElementType::i64, n)); }

  // An index value wraps; that does not matter if the final value fits, as every position does.
  CellId affine_cell(const AffineExpr& e) { return ir::affine_cell(op().exprs, e); }

  const Operator& consumer_;
  const std::vector<ReplacedOperand>& replaced_;
  std::vector<std::optional<std::size_t>> replaced_at_;  // by the consumer's operand
  std::vector<AffineExpr> own_dims_;
  std::vector<std::uint32_t> own_tensors_;
  std::vector<std::vector<std::uint32_t>> tensors_;  // by replaced operand and operand of its producer
  Composition made_;
};

}  // namespace

Composition compose(const Operator& consumer, const std::vector<ValueId>& operands,
                    const std::vector<ReplacedOperand>& replaced) {
  return Composer(consumer, operands, replaced).run();
}

}  // namespace tap::passes
