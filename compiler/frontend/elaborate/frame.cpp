#include "compiler/frontend/elaborate/frame.h"

#include <algorithm>

#include "support/check.h"
#include "support/checked.h"

namespace tap {

using ir::CellId;
using ir::CellOp;

void Frame::use(const VarAffine& a) {
  for (const auto& [var, coefficient] : a.terms)
    if (used_.insert(var).second)
      for (const auto& constraint : std::vector<VarAffine>(space_[var].constraints)) use(constraint);
}

CellId Frame::index(VarId var) {
  use({{{var, 1}}, 0});
  return cells.index(static_cast<std::uint32_t>(var.index()));
}

CellId Frame::affine(const VarAffine& a) {
  std::optional<CellId> sum;
  auto plus = [&](CellId term) { sum = sum ? cells.apply(CellOp::add, ElementType::i64, {*sum, term}) : term; };
  for (const auto& [var, coefficient] : a.terms) {
    CellId term = index(var);
    if (coefficient != 1)
      term = cells.apply(CellOp::mul, ElementType::i64,
                         {cells.constant(ir::Scalar::integer(ElementType::i64, coefficient)), term});
    plus(term);
  }
  if (a.offset != 0 || !sum) plus(cells.constant(ir::Scalar::integer(ElementType::i64, a.offset)));
  return *sum;
}

CellId Frame::read(FrameRead read) {
  for (const auto& start : read.start) use(start);
  ElementType type = read.type.element;
  for (std::size_t i = 0; i < reads_.size(); ++i) {
    const FrameRead& other = reads_[i];
    if (other.value == read.value && other.start == read.start && other.coordinates == read.coordinates &&
        other.fill == read.fill)
      return cells.read(static_cast<std::uint32_t>(i), type);
  }
  reads_.push_back(std::move(read));
  return cells.read(static_cast<std::uint32_t>(reads_.size() - 1), type);
}

bool Frame::can_fail() const {
  for (const auto& read : reads_) {
    if (read.fill) continue;
    if (!read.coordinates.empty()) return true;
    for (std::size_t axis = 0; axis < read.start.size(); ++axis) {
      ir::Range range = space_.bounds(read.start[axis]);
      if (!range.empty() && (range.lo < 0 || range.hi > read.type.shape[axis])) return true;
    }
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const ir::CellNode& node = cells[CellId(i)];
    bool partial =
        (node.op == CellOp::div || node.op == CellOp::mod || node.op == CellOp::shl || node.op == CellOp::shr) &&
        !is_float(node.type);
    if (!partial) continue;
    const ir::CellNode& right = cells[node.args[1]];
    if (right.op != CellOp::constant || right.value.i <= 0) return true;
  }
  return false;
}

namespace {

// Turns VarAffine and VarId attributes into coefficients over the operator's dims.
class DimNumbers {
 public:
  void add(VarId var) { numbers_.emplace(var, numbers_.size()); }
  std::size_t size() const { return numbers_.size(); }
  std::uint32_t operator[](VarId var) const {
    auto found = numbers_.find(var);
    TAP_CHECK(found != numbers_.end(), "a variable outside the index space");
    return static_cast<std::uint32_t>(found->second);
  }
  ir::AffineExpr affine(const VarAffine& a) const {
    ir::AffineExpr e = ir::AffineExpr::constant(size(), a.offset);
    for (const auto& [var, coefficient] : a.terms) e.coefficients[(*this)[var]] = coefficient;
    return e;
  }
  ir::Projection cell(const std::vector<VarAffine>& start) const {
    ir::Projection p;
    p.start.inputs = size();
    for (const auto& row : start) p.start.rows.push_back(affine(row));
    p.shape.assign(start.size(), 1);
    return p;
  }

 private:
  std::map<VarId, std::size_t> numbers_;
};

}  // namespace

Frame::Finished Frame::finish(std::string name, const std::vector<VarId>& parallel, const std::vector<VarId>& reduction,
                              const std::vector<FrameWrite>& writes, std::vector<CellId>& roots,
                              std::uint32_t counter_depth, bool whole_box) const {
  Finished result;
  ir::Operator& op = result.op;
  op.name = std::move(name);

  std::set<VarId> used = used_;
  for (const auto& write : writes)
    for (const auto& row : write.start)
      for (const auto& [var, coefficient] : row.terms) used.insert(var);
  for (const auto* group : {&parallel, &reduction})
    for (VarId var : *group)
      for (const auto& constraint : space_[var].constraints)
        for (const auto& [other, coefficient] : constraint.terms) used.insert(other);

  DimNumbers dims;
  auto add_dim = [&](VarId id, ir::DimRole role) {
    const IndexVar& var = space_[id];
    dims.add(id);
    op.dims.push_back(
        {var.name, var.range, role, false, role == ir::DimRole::counter ? counter_depth - 1 - var.depth : 0});
  };
  for (VarId var : parallel) add_dim(var, ir::DimRole::parallel);
  for (VarId var : used)
    if (space_[var].role == VarRole::counter) add_dim(var, ir::DimRole::counter);
  for (VarId var : reduction) add_dim(var, ir::DimRole::reduction);
  for (const auto* group : {&parallel, &reduction})
    for (VarId var : *group)
      for (const auto& constraint :
           group == &parallel && whole_box ? std::vector<VarAffine>{} : space_[var].constraints)
        op.constraints.push_back({dims.affine(constraint), ir::Comparison::at_least_zero});

  // Only cells that the roots reach: an argument of an inlined operator may be unused.
  std::vector<bool> live(cells.size(), false);
  std::vector<std::optional<std::uint32_t>> access_of(reads_.size());
  std::vector<CellId> open(roots.begin(), roots.end());
  while (!open.empty()) {
    CellId id = open.back();
    open.pop_back();
    if (live[id.index()]) continue;
    live[id.index()] = true;
    const ir::CellNode& node = cells[id];
    open.insert(open.end(), node.args.begin(), node.args.end());
    if (node.op != CellOp::read) continue;
    const FrameRead& read = reads_[node.attribute];
    access_of[node.attribute] = 0;
    for (const auto& coordinate : read.coordinates)
      if (coordinate) open.push_back(*coordinate);
    if (read.fill) open.push_back(*read.fill);
  }
  std::uint32_t accesses = 0;
  for (auto& number : access_of)
    if (number) number = accesses++;

  std::vector<CellId> remap(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!live[i]) continue;
    ir::CellNode node = cells[CellId(i)];
    if (node.op == CellOp::index) node.attribute = dims[VarId(node.attribute)];
    if (node.op == CellOp::read) node.attribute = *access_of[node.attribute];
    for (CellId& arg : node.args) arg = remap[arg.index()];
    remap[i] = op.exprs.add(std::move(node));
  }
  for (CellId& root : roots) root = remap[root.index()];

  for (std::size_t number = 0; number < reads_.size(); ++number) {
    if (!access_of[number]) continue;
    const FrameRead& read = reads_[number];
    auto known = std::find(result.operands.begin(), result.operands.end(), read.value);
    auto tensor = static_cast<std::uint32_t>(known - result.operands.begin());
    if (known == result.operands.end()) {
      result.operands.push_back(read.value);
      op.operands.push_back(read.type);
    }
    ir::Access access;
    access.tensor = tensor;
    access.projection = dims.cell(read.start);
    for (std::size_t axis = 0; axis < read.coordinates.size(); ++axis) {
      access.coordinates.push_back(read.coordinates[axis] ? std::optional(remap[read.coordinates[axis]->index()])
                                                          : std::nullopt);
      if (read.coordinates[axis]) access.projection.shape[axis] = read.type.shape[axis];
    }
    if (read.fill) access.fill = remap[read.fill->index()];
    op.reads.push_back(std::move(access));
    result.read_spans.push_back(read.span);
  }
  for (std::size_t i = 0; i < writes.size(); ++i) {
    ir::Access access;
    access.tensor = static_cast<std::uint32_t>(i);
    access.projection = dims.cell(writes[i].start);
    for (VarId var : writes[i].invariant) access.invariant_dims.push_back(dims[var]);
    std::sort(access.invariant_dims.begin(), access.invariant_dims.end());
    op.writes.push_back(std::move(access));
    op.results.push_back({writes[i].element, writes[i].result_shape});
  }
  return result;
}

}  // namespace tap
