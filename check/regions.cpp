// Groups and transfers: operations moved into a region, and transfers that must cover what is read of them.
#include <algorithm>
#include <span>

#include "check/justify.h"

namespace tap::check {

// The region's first graph has these operations, in data flow order, on the same values; a group may have copies of whole
// values after them.
void Justify::check_region(ir::RegionKind kind, const std::vector<ir::OperationRef>& from, Obligation obligation) {
  const ir::RegionBody* region = side_.op->region();
  expect(obligation, region && region->kind == kind, "the kinds of the regions differ");
  const ir::Graph& inner = context_.after[region->graph];
  const std::size_t held = inner.operations.size();
  expect(obligation, kind == ir::RegionKind::group ? held >= from.size() : held == from.size(),
         "it holds {} operations", held);
  check_data_flow(inner);
  std::vector<Class> classes(inner.values.size());
  for (std::size_t k = 0; k < inner.inputs.size(); ++k) classes[inner.inputs[k].index()] = side_.operands[k];
  std::vector<Origins> origins;
  for (std::size_t o = 0; o < from.size(); ++o) {
    const ir::Operation& operation = inner.operations[o];
    Side before = numbering_.side(from[o]);
    expect(obligation, operation.results.size() == before.results.size(), "its operation {} differs", o);
    for (std::size_t r = 0; r < operation.results.size(); ++r)
      classes[operation.results[r].index()] = before.results[r];
    auto class_of = [&](ir::ValueId v) { return numbering_.find(classes[v.index()]); };
    same_operation(side_of(context_.after, operation, class_of), before);
    origins.push_back({from[o]});
  }
  for (const ir::Operation& copy : std::span(inner.operations).subspan(from.size())) {
    const std::uint32_t read = check_whole_copy(context_.after[copy.op], obligation);
    classes[copy.results[0].index()] = classes[copy.operands[read].index()];
  }
  origins.resize(held);
  check_writes(inner, numbering_, origins);
  for (std::size_t k = 0; k < inner.outputs.size(); ++k)
    expect(obligation, numbering_.same(classes[inner.outputs[k].index()], side_.results[k]), "result {} differs", k);
}

Justify::Result Justify::justify(const ir::GroupOf& j) {
  check_region(ir::RegionKind::group, j.from, Obligation::group);
  check_group(context_.after, *side_.op, context_.assumed);
  return {Obligation::group, {}};
}

// A transfer moves cells to their own positions.
Justify::Result Justify::justify(const ir::TransferOf&) {
  const ir::Operator& op = *side_.op;
  bool moves = op.transfer() && op.operands.size() == 1 && op.results == op.operands && op.reads == op.writes;
  expect(Obligation::transfer, moves, "a transfer changes cells or their positions");
  expect(Obligation::transfer, numbering_.same(side_.operands[0], side_.results[0]), "a transfer changes its value");
  if (readers_.empty()) readers_ = readers_of(context_.after[claim_.after]);
  check_moved(context_.after, context_.after[claim_.after], readers_, *side_.operation);
  return {Obligation::transfer, {}};
}

namespace {

AffineExpr over_reader(const AffineExpr& e, const std::vector<std::uint32_t>& dims, const ir::Operator& reader) {
  AffineExpr out = number(reader.dims.size(), e.offset);
  for (std::size_t d = 0; d < dims.size(); ++d) out.coefficients[dims[d]] += e.coefficients[d];
  return out;
}

// A transfer combines nothing along reduced dims.
bool are_alike(const ir::IndexDim& moved, const ir::IndexDim& read) {
  const bool is_reduced = moved.role == ir::DimRole::parallel && read.role == ir::DimRole::reduction;
  return moved.range == read.range && moved.level == read.level && (moved.role == read.role || is_reduced);
}

bool is_a_constraint_of(const ir::Operator& reader, const ir::Constraint& c, const std::vector<std::uint32_t>& dims) {
  return std::ranges::count(reader.constraints, ir::Constraint{over_reader(c.expr, dims, reader), c.comparison}) > 0;
}

// Whether the index space may only be larger than the reader's, where each dim stands for the reader's of that number: what the
// reader reads at a point is then moved at the corresponding one.
bool is_large_enough(const ir::Operator& op, const ir::Operator& reader, const std::vector<std::uint32_t>& dims) {
  for (std::uint32_t d = 0; d < dims.size(); ++d) {
    // The blocks of a dim are those that the first of the reader's make.
    std::vector<ir::Blocking> blocks, its;
    for (const ir::Blocking& b : op.blockings)
      if (b.dim == d) blocks.push_back({dims[d], dims[b.block_dim], b.blocks});
    for (const ir::Blocking& b : reader.blockings)
      if (b.dim == dims[d] && its.size() < blocks.size()) its.push_back(b);
    if (blocks != its) return false;
  }
  return std::ranges::all_of(op.constraints, [&](auto& c) { return is_a_constraint_of(reader, c, dims); });
}

bool moves_regions(const ir::Operator& op, const ir::Operator& reader, const std::vector<std::uint32_t>& dims,
                   const std::vector<ir::Projection>& required) {
  std::vector<ir::Projection> moved;
  for (const ir::Access& read : op.reads) {
    ir::Projection p{{reader.dims.size(), {}}, read.projection.shape};
    for (const AffineExpr& row : read.projection.start.rows) p.start.rows.push_back(over_reader(row, dims, reader));
    moved.push_back(std::move(p));
  }
  return std::ranges::all_of(required, [&](auto& p) { return std::ranges::count(moved, p) > 0; });
}

// To the reader's devices at least: a placement that the transfer does not have only decides where the reader runs.
bool reaches(const std::vector<ir::BlockPlacement>& moved, const std::vector<ir::BlockPlacement>& devices,
             const std::vector<std::uint32_t>& dims) {
  const bool on_axes = std::ranges::all_of(devices, [](auto& p) { return p.placement == ir::Placement::mesh_axis; });
  return (on_axes || moved.size() == devices.size()) && std::ranges::all_of(moved, [&](ir::BlockPlacement p) {
           if (p.dim < dims.size()) p.dim = dims[p.dim];
           return std::ranges::count(devices, p) > 0;
         });
}

// Looks for the reader's dims that a transfer's dims stand for. Where several fit, nearly always the first one does: the dims of
// transfers are in the order in which regions use them.
class ReadersDims {
 public:
  ReadersDims(const ir::Operator& op, const ir::Operator& reader, const std::vector<ir::Projection>& required)
      : op_(op), reader_(reader), required_(required) {}

  // `also`: of those that cover the reads.
  template <class Also>
  bool exist(const Also& also) {
    if (dims_.size() == op_.dims.size())
      return is_large_enough(op_, reader_, dims_) && moves_regions(op_, reader_, dims_, required_) && also(dims_);
    for (std::uint32_t d = 0; d < reader_.dims.size(); ++d) {
      const bool is_free = std::ranges::count(dims_, d) == 0;
      if (!is_free || !are_alike(op_.dims[dims_.size()], reader_.dims[d]) || !is_used_alike(d) || !numbers_alike(d))
        continue;
      dims_.push_back(d);
      if (has_constraints() && exist(also)) return true;
      dims_.pop_back();
    }
    return false;
  }

 private:
  // In the rows of regions, if these are in the same order.
  bool is_used_alike(std::uint32_t d) const {
    for (std::size_t r = 0; r < required_.size() && required_.size() == op_.reads.size(); ++r) {
      const auto &moved = op_.reads[r].projection.start.rows, &read = required_[r].start.rows;
      for (std::size_t a = 0; a < moved.size() && a < read.size(); ++a)
        if (moved[a].coefficients[dims_.size()] != read[a].coefficients[d]) return false;
    }
    return true;
  }
  // Of blocks, those of the dims that are matched already.
  bool numbers_alike(std::uint32_t d) const {
    return std::ranges::all_of(op_.blockings, [&](const ir::Blocking& b) {
      const bool is_known = b.block_dim == dims_.size() && b.dim < dims_.size();
      return !is_known || std::ranges::count(reader_.blockings, ir::Blocking{dims_[b.dim], d, b.blocks}) > 0;
    });
  }
  // Those of which the last dim is the last one that was matched.
  bool has_constraints() const {
    return std::ranges::all_of(op_.constraints, [&](const ir::Constraint& c) {
      const auto& of = c.expr.coefficients;
      const bool is_last = of[dims_.size() - 1] != 0 &&
                           std::all_of(of.begin() + static_cast<std::ptrdiff_t>(dims_.size()), of.end(),
                                       [](std::int64_t x) { return x == 0; });
      return !is_last || is_a_constraint_of(reader_, c, dims_);
    });
  }

  const ir::Operator &op_, &reader_;
  const std::vector<ir::Projection>& required_;
  std::vector<std::uint32_t> dims_;
};

}  // namespace

// For each read of the value by its reader there is a region.
void check_moved(const ir::Program& program, const ir::Graph& graph, const Uses& readers, const ir::Operation& moves) {
  const ir::Operator& op = program[moves.op];
  ir::ValueId moved = moves.results[0];
  expect(Obligation::transfer, std::ranges::count(graph.outputs, moved) == 0, "an output is only partly transferred");
  for (auto [r, t] : readers[moved.index()]) {
    const ir::Operation& reader = graph[r];
    const ir::Operator& its = program[reader.op];
    std::vector<ir::BlockPlacement> devices = reader.placements;
    std::erase_if(devices, std::not_fn(is_on_devices));
    std::vector<ir::Projection> required;
    for (const ir::Access& read : its.reads)
      if (read.tensor == t) required.push_back(read.projection);
    if (its.region() && its.region()->kind != ir::RegionKind::group) {
      const Shape& all = op.operands[0].shape;
      required = {{{its.dims.size(), std::vector<AffineExpr>(all.size(), number(its.dims.size(), 0))}, all}};
    }
    if (ReadersDims(op, its, required).exist([&](auto& d) { return reaches(moves.placements, devices, d); })) continue;
    expect(Obligation::reads_covered, ReadersDims(op, its, required).exist([](auto&) { return true; }),
           "the transfer does not cover operand {} of its reader", t);
    expect(Obligation::transfer, false, "the devices of the transfer and its reader differ");
  }
}

}  // namespace tap::check
