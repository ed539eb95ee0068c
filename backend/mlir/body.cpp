#include "backend/mlir/body.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/mlir/arithmetic.h"

namespace tap::backend::mlir {
namespace {

using ir::CellId;
using ir::Constraint;

void mark_reads(const ir::Operator& op, const std::vector<CellId>& roots, std::vector<bool>& used) {
  for (CellId id : reachable_from(op.exprs, roots))
    if (op.exprs[id].op == ir::CellOp::read) used[op.exprs[id].attribute] = true;
}

}  // namespace

Body::Body(Text& text, const OperationText& in, const Loops& loops, std::vector<CellId> roots)
    : text_(text), in_(in), op_(in.op), loops_(loops), roots_(std::move(roots)) {
  for (const ir::Access& access : op_.reads)
    reads_.push_back({"", in_.operands[access.tensor], op_.operands[access.tensor]});
  place_in_.resize(reads_.size());
}

std::optional<GenericTensor> Body::as_operand(const ir::Access& access) const {
  if (std::any_of(access.coordinates.begin(), access.coordinates.end(), [](const auto& c) { return c.has_value(); }))
    return std::nullopt;
  ir::TensorType type = op_.operands[access.tensor];
  std::string value = in_.operands[access.tensor];
  std::vector<Row> rows = rows_of(op_, access, loops_);
  if (!pad(access, rows, type, value)) return std::nullopt;
  Slice slice = slice_of(std::move(rows), type.shape);
  return GenericTensor{take_slice(text_, value, type, slice), type.element, slice.sizes, slice.rows, "x"};
}

// Pads the tensor with the fill where it is read out of bounds, unless that would add too many cells.
bool Body::pad(const ir::Access& access, std::vector<Row>& rows, ir::TensorType& type, std::string& value) const {
  const ir::TensorType before = type;
  std::vector<std::int64_t> low(rows.size()), high(rows.size());
  bool inside = true;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    low[k] = std::max<std::int64_t>(0, -rows[k].bounds.lo);
    high[k] = std::max<std::int64_t>(0, rows[k].bounds.hi - type.shape[k]);
    if (low[k] + high[k] > type.shape[k] + 16) return false;
    inside = inside && low[k] == 0 && high[k] == 0;
    type.shape[k] += low[k] + high[k];
    rows[k].offset += low[k];
    for (ir::Range* range : {&rows[k].bounds, &rows[k].own_bounds}) *range = {range->lo + low[k], range->hi + low[k]};
  }
  if (inside) return true;
  if (!access.fill || op_.exprs[*access.fill].op != ir::CellOp::constant) return false;
  const std::string fill =
      rounded(text_, type.element, define(text_, "k", "arith.constant " + literal(op_.exprs[*access.fill].value)));
  std::vector<std::string> indices;
  for (std::size_t k = 0; k < rows.size(); ++k) indices.push_back(text_.fresh("p") + ": index");
  const std::string padded = text_.fresh(value.substr(1) + ".padded");
  text_.line(fmt::format("{} = tensor.pad {} low{} high{} {{", padded, value, list(low), list(high)));
  text_.line(fmt::format("^bb0({}):", joined(indices)));
  text_.line(fmt::format("  tensor.yield {} : {}", fill, type_name(type.element)));
  text_.line(fmt::format("}} : {} to {}", tensor_type(before), tensor_type(type)));
  value = padded;
  return true;
}

void Body::add_operands(Generic& generic) {
  std::vector<bool> used(op_.reads.size());
  mark_reads(op_, roots_, used);
  for (const ir::Access& access : op_.reads) {  // reads used only by coordinates and fills
    for (const auto& coordinate : access.coordinates)
      if (coordinate) mark_reads(op_, {*coordinate}, used);
    if (access.fill) mark_reads(op_, {*access.fill}, used);
  }
  for (std::size_t k = 0; k < op_.reads.size(); ++k) {
    if (!used[k]) continue;
    std::optional<GenericTensor> operand = as_operand(op_.reads[k]);
    if (!operand) continue;
    place_in_[k] = generic.ins.size();
    reads_[k].argument = "%";  // its name is known inside the body
    generic.ins.push_back(std::move(*operand));
  }
}

CellContext Body::cell_context() const {
  return {&op_.exprs, std::vector<std::string>(op_.dims.size()), &op_.reads, reads_, {}, in_.name};
}

std::vector<bool> Body::needed_loops(const std::vector<Constraint>& within, bool with_cells) const {
  std::vector<bool> by_dim(op_.dims.size());
  if (with_cells) by_dim = Cells(text_, cell_context()).needed_indices(roots_);
  for (const Constraint& c : within)
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      if (c.expr.coefficients[d] != 0) by_dim[d] = true;
  std::vector<bool> needed;
  for (std::uint32_t d : loops_.dims) needed.push_back(by_dim[d]);
  return needed;
}

Cells Body::cells_at(const GenericBody& body) const {
  CellContext at = cell_context();
  for (std::size_t k = 0; k < op_.reads.size(); ++k)
    if (place_in_[k]) at.reads[k].argument = body.ins[*place_in_[k]];
  for (std::size_t d = 0; d < op_.dims.size(); ++d) at.indices[d] = loops_.counters[d];
  for (std::size_t k = 0; k < loops_.dims.size(); ++k) {
    const std::uint32_t d = loops_.dims[k];
    const std::int64_t first = op_.dims[d].range.lo;
    at.indices[d] = body.indices[k];
    if (body.indices[k].empty() || first == 0) continue;
    const std::string begin = index_constant(text_, first);
    at.indices[d] = define(text_, "i", fmt::format("arith.addi {}, {} : index", body.indices[k], begin));
  }
  return Cells(text_, std::move(at));
}

std::vector<std::string> Body::where(Cells& cells, const std::vector<Constraint>& within,
                                     const std::vector<std::string>& before, const std::vector<ElementType>& types,
                                     const std::function<std::vector<std::string>()>& inside) const {
  const std::string condition = cells.inside(within);
  if (condition.empty()) return inside();
  std::vector<std::string> names, written;
  for (ElementType type : types) names.emplace_back(type_name(type));
  const std::string result = text_.fresh("c");
  const std::string many = types.size() == 1 ? "" : fmt::format(":{}", types.size());
  text_.line(fmt::format("{}{} = scf.if {} -> ({}) {{", result, many, condition, joined(names)));
  text_.in();
  written = inside();
  text_.line(fmt::format("scf.yield {} : {}", joined(written), joined(names)));
  text_.out();
  text_.line("} else {");
  text_.line(fmt::format("  scf.yield {} : {}", joined(before), joined(names)));
  text_.line("}");
  if (types.size() == 1) return {result};
  for (std::size_t k = 0; k < types.size(); ++k) written[k] = fmt::format("{}#{}", result, k);
  return written;
}

}  // namespace tap::backend::mlir
