#include "passes/rewrites/monoid_fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/graph.h"
#include "passes/caution.h"
#include "passes/operator_edit.h"
#include "passes/rewrites/fold_facts.h"
#include "passes/simplify/cell_facts.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;

namespace {

constexpr std::string_view fold_rule_start = "the fold of ", rule_end = " and a contraction";

class FoldBuilder {
 public:
  FoldBuilder(const Program& program, const Operator& op, const FoldedSpace& space)
      : op_(op),
        monoid_(program[op.reduce()->monoid]),
        fold_(*monoid_.fold),
        space_(space),
        facts_(fold_facts(program, op, space)) {
    made_.monoids = program.monoids;  // unused ones are dropped when it is added
    for (std::size_t k = 0; k < op.operands.size(); ++k)
      graph_.inputs.push_back(
          add_value(op.operand_names.empty() ? fmt::format("x{}", k) : op.operand_names[k], op.operands[k]));
  }

  // Returns no program if one of its operations can fail.
  FoldedReduction run() {
    FoldedReduction result{nullptr, space_.dim, space_.size, {}};
    for (std::size_t k = 0; k < fold_.exprs.size(); ++k)
      if (facts_.becomes_operation[k]) compute(CellId(k));
    combine();
    graph_.name = "fold";
    made_.graphs.push_back(std::move(graph_));
    made_.main = GraphId(0);
    if (!fails_) result.program = std::make_shared<Program>(std::move(made_));
    return result;
  }
  bool contracts() const { return facts_.contracts; }

 private:
  struct Computed {
    ValueId value;
    std::vector<std::uint32_t> dims;  // by axis
  };
  // An operation under construction.
  struct Draft {
    Operator op;
    Operation operation;
    std::vector<std::uint32_t> dims;  // by its dims: the dim of the space
    std::vector<std::size_t> inverse;
    std::map<CellId, CellId> written;  // cells of the fold
  };

  ValueId add_value(std::string name, TensorType type) {
    graph_.values.push_back({std::move(name), std::move(type)});
    return ValueId(graph_.values.size() - 1);
  }

  // Over those dims, with the block number outermost, and reduced dims last, in order.
  Draft draft(DimSet dims, std::string name) const {
    Draft d;
    d.op.name = std::move(name);
    d.inverse.resize(space_.dims.size());
    auto add = [&](std::uint32_t dim) {
      d.inverse[dim] = d.dims.size();
      d.dims.push_back(dim);
      d.op.dims.push_back(space_.dims[dim]);
    };
    if (has(dims, space_.block)) add(space_.block);
    for (DimRole role : {DimRole::parallel, DimRole::reduction})
      for (std::uint32_t k = 0; k < space_.block; ++k)
        if (has(dims, k) && space_.dims[k].role == role) add(k);
    return d;
  }

  AffineExpr placed(const Draft& d, const AffineExpr& over_space) const {
    AffineExpr e = AffineExpr::constant(d.dims.size(), over_space.offset);
    for (std::size_t k = 0; k < space_.dims.size(); ++k)
      if (over_space.coefficients[k] != 0) e.coefficients[d.inverse[k]] = over_space.coefficients[k];
    return e;
  }

  std::uint32_t operand(Draft& d, ValueId value) const {
    auto& operands = d.operation.operands;
    auto known = std::find(operands.begin(), operands.end(), value);
    if (known != operands.end()) return static_cast<std::uint32_t>(known - operands.begin());
    d.op.operands.push_back(graph_[value].type);
    operands.push_back(value);
    return static_cast<std::uint32_t>(operands.size() - 1);
  }
  CellId add_read(Draft& d, Access read) const {
    ElementType type = d.op.operands[read.tensor].element;
    auto known = std::find(d.op.reads.begin(), d.op.reads.end(), read);
    if (known == d.op.reads.end()) known = d.op.reads.insert(known, std::move(read));
    return d.op.exprs.read(static_cast<std::uint32_t>(known - d.op.reads.begin()), type);
  }

  // The result of another operation, at the same point.
  CellId read_computed(Draft& d, const Computed& computed) const {
    Access read{operand(d, computed.value), {{d.dims.size(), {}}, {}}, {}, {}, {}};
    for (std::uint32_t dim : computed.dims) {
      read.projection.start.rows.push_back(AffineExpr::variable(d.dims.size(), d.inverse[dim]));
      read.projection.shape.push_back(1);
    }
    return add_read(d, std::move(read));
  }

  // A cell of the reduction, at the point's position in its block.
  CellId original(Draft& d, CellId cell) const {
    return graft(op_.exprs, cell, d.op.exprs, [&](const CellNode& node) -> std::optional<CellId> {
      if (node.op == CellOp::index) return index(d, node.attribute);
      if (node.op == CellOp::read) return original_read(d, op_.reads[node.attribute]);
      return std::nullopt;
    });
  }
  CellId index(Draft& d, std::uint32_t dim) const {
    CellExprs& cells = d.op.exprs;
    auto number = [&](std::int64_t n) { return cells.constant(Scalar::integer(ElementType::i64, n)); };
    CellId own = cells.index(static_cast<std::uint32_t>(d.inverse[dim]));
    if (dim != space_.dim || space_.count == 1) return own;
    CellId block = cells.index(static_cast<std::uint32_t>(d.inverse[space_.block]));
    CellId first = cells.apply(CellOp::mul, ElementType::i64, {block, number(space_.size)});
    return cells.apply(CellOp::add, ElementType::i64, {first, own});
  }
  // The last block may be shorter: positions outside the tensor do not count, and read 0.
  CellId original_read(Draft& d, const Access& was) const {
    Access read = was;
    read.tensor = operand(d, graph_.inputs[was.tensor]);
    read.projection.start.inputs = d.dims.size();
    bool inside = true;
    for (std::size_t axis = 0; axis < read.projection.rank(); ++axis) {
      AffineExpr& row = read.projection.start.rows[axis];
      row = placed(d, space_.placed(row));
      Range at = row.bounds(d.op.box());
      inside &= at.empty() ||
                (at.lo >= 0 && at.hi - 1 + read.projection.shape[axis] <= d.op.operands[read.tensor].shape[axis]);
    }
    for (auto& coordinate : read.coordinates)
      if (coordinate) coordinate = original(d, *coordinate);
    if (read.fill) read.fill = original(d, *read.fill);
    else if (!inside) read.fill = d.op.exprs.constant(Scalar::zero(d.op.operands[read.tensor].element));
    return add_read(d, std::move(read));
  }

  // A cell of the fold; cells that are operations are read.
  CellId cell(Draft& d, CellId id) const {
    if (auto known = d.written.find(id); known != d.written.end()) return known->second;
    CellId made;
    CellNode node = fold_.exprs[id];
    if (auto computed = computed_.find(id); computed != computed_.end()) {
      made = read_computed(d, computed->second);
    } else if (node.op == CellOp::argument) {
      made = original(d, op_.reduce()->operands[node.attribute]);
    } else {
      for (CellId& arg : node.args) arg = cell(d, arg);
      made = d.op.exprs.add(std::move(node));
    }
    return d.written[id] = made;
  }

  // The operation that computes one cell of the fold.
  void compute(CellId id) {
    const CellNode& node = fold_.exprs[id];
    const bool reduces = node.op == CellOp::reduce;
    DimSet dims = facts_.indexed[id.index()];
    if (reduces)
      for (std::uint32_t k = 0; k < space_.block; ++k)
        if (space_.dims[k].role == DimRole::reduction) dims |= DimSet{1} << k;
    Draft d = draft(dims, name_of_cell(id));
    if (reduces) {
      d.op.body = ReduceBody{MonoidId(node.attribute), {cell(d, node.args[0])}};
      for (const Constraint& c : space_.constraints) d.op.constraints.push_back({placed(d, c.expr), c.comparison});
    } else {
      for (IndexDim& dim : d.op.dims) dim.role = DimRole::parallel;
      d.op.body = MapBody{{cell(d, id)}};
    }
    Computed made{{}, {}};
    Access write{0, {{d.dims.size(), {}}, {}}, {}, {}, {}};
    TensorType type{node.type, {}};
    for (std::size_t k = 0; k < d.dims.size(); ++k) {
      if (d.op.dims[k].role == DimRole::reduction) continue;
      made.dims.push_back(d.dims[k]);
      type.shape.push_back(d.op.dims[k].range.hi);
      write.projection.start.rows.push_back(AffineExpr::variable(d.dims.size(), k));
      write.projection.shape.push_back(1);
    }
    made.value = add_value(d.op.name, type);
    d.op.results = {type};
    d.op.writes = {write};
    d.operation.results = {made.value};
    add(std::move(d));
    computed_.emplace(id, std::move(made));
  }

  std::string name_of_cell(CellId id) const {
    for (std::size_t c = 0; c < monoid_.arity(); ++c)
      if (fold_.roots[c] == id) return monoid_.components[c].name;
    const CellNode& node = fold_.exprs[id];
    return node.op == CellOp::reduce ? made_.monoids[node.attribute].name : "e";
  }

  // y = the blocks in order, combined by the monoid; combine(identity, x) → x, if there is one.
  void combine() {
    const bool blocks = space_.count != 1;
    DimSet dims = blocks ? DimSet{1} << space_.block : 0;
    for (std::uint32_t k = 0; k < space_.block; ++k)
      if (space_.dims[k].role != DimRole::reduction) dims |= DimSet{1} << k;
    Draft d = draft(dims, op_.name);
    if (blocks) {
      std::rotate(d.dims.begin(), d.dims.begin() + 1, d.dims.end());  // the block number last
      std::rotate(d.op.dims.begin(), d.op.dims.begin() + 1, d.op.dims.end());
      for (std::size_t k = 0; k < d.dims.size(); ++k) d.inverse[d.dims[k]] = k;
      d.op.dims.back().role = DimRole::reduction;
    }
    d.op.results = op_.results;
    d.op.result_names = op_.result_names;
    for (Access write : op_.writes) {
      write.projection.start.inputs = d.dims.size();
      for (AffineExpr& row : write.projection.start.rows) row = placed(d, space_.placed(row));
      for (std::uint32_t& dim : write.invariant_dims) dim = static_cast<std::uint32_t>(d.inverse[dim]);
      d.op.writes.push_back(std::move(write));
    }
    std::vector<CellId> values;
    for (CellId root : fold_.roots) values.push_back(read_computed(d, computed_.at(root)));
    if (blocks) d.op.body = ReduceBody{op_.reduce()->monoid, std::move(values)};
    else d.op.body = MapBody{std::move(values)};
    for (std::size_t k = 0; k < op_.results.size(); ++k)
      d.operation.results.push_back(add_value(fmt::format("y{}", k), op_.results[k]));
    graph_.outputs = d.operation.results;
    add(std::move(d));
  }

  void add(Draft d) {
    fails_ |= may_fail(d.op, roots_of(d.op));
    d.operation.op = OperatorId(made_.operators.size());
    made_.operators.push_back(std::move(d.op));
    graph_.operations.push_back(std::move(d.operation));
  }

  const Operator& op_;
  const Monoid& monoid_;
  const Fold& fold_;
  const FoldedSpace& space_;
  FoldFacts facts_;
  Program made_;
  Graph graph_;
  std::map<CellId, Computed> computed_;
  bool fails_ = false;
};

// Block sizes that keep a block's data small, without too many blocks.
std::vector<std::int64_t> block_sizes(std::int64_t points) {
  std::vector<std::int64_t> sizes{points};
  for (std::int64_t size : {256, 64, 16, 4, 2})
    if (size < points && (size > 2 || points <= 4) && (size == 256 || points / size <= 256)) sizes.push_back(size);
  return sizes;
}

}  // namespace

FoldOffers fold_offers(const Program& program, const Operator& op, bool strict_fp) {
  FoldOffers result;
  if (!op.reduce() || !program[op.reduce()->monoid].fold) return result;
  const std::string name = fmt::format("{}`{}`", fold_rule_start, program[op.reduce()->monoid].name);
  if (std::string why = why_not_folded(program, op, strict_fp); !why.empty()) {
    result.remark = fmt::format("{} is not offered: {}", name, why);
    return result;
  }
  const std::uint32_t dim = dim_to_fold(op);
  const Monoid& by = program[op.reduce()->monoid];
  const bool floats = std::any_of(by.components.begin(), by.components.end(), [](auto& c) { return is_float(c.type); });
  const std::string rests_on = assumptions(by.name, {by.laws.associative, by.laws.identity, by.laws.fold}, floats);
  for (std::int64_t size : block_sizes(op.dims[dim].range.hi)) {
    const FoldedSpace space = folded_space(op, dim, size);
    FoldBuilder builder(program, op, space);
    const bool contracts = builder.contracts();
    FoldedReduction made = builder.run();
    if (!made.program) {
      result.remark = fmt::format("{} is not offered: it can fail and would be evaluated at more points", name);
      break;
    }
    const std::string& own = op.dims[dim].name;
    made.rule = space.count == 1 ? fmt::format("{} over all of {}", name, own)
                                 : fmt::format("{} in blocks of {} of {}", name, size, own);
    if (contracts) made.rule += rule_end;
    made.rule += rests_on;
    result.offers.push_back(std::move(made));
  }
  return result;
}

bool is_fold(std::string_view rule) { return rule.starts_with(fold_rule_start); }
bool is_contracting_fold(std::string_view rule) {
  return is_fold(rule) && rule.substr(0, rule.find(assuming)).ends_with(rule_end) &&
         rule.find("` in blocks of ") == rule.npos;
}

}  // namespace tap::passes
