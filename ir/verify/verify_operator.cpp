#include <algorithm>

#include "ir/graph.h"
#include "ir/text/text_tables.h"
#include "ir/verify/verify_parts.h"

namespace tap::ir::verifying {
namespace {

class OperatorVerifier {
 public:
  OperatorVerifier(Violations& out, const Program& program, const Operator& op)
      : out_(out), program_(program), op_(op) {}

  void run() {
    types();
    dims();
    bool ranks = true;
    for (std::size_t k = 0; k < op_.reads.size(); ++k) ranks &= access(op_.reads[k], op_.operands, "read", k);
    for (std::size_t k = 0; k < op_.writes.size(); ++k) ranks &= access(op_.writes[k], op_.results, "write", k);
    std::size_t before = out_.count();
    verify_cells(out_, program_, op_.exprs, {&op_, nullptr, 0, false});
    if (!ranks || out_.count() != before) return;  // the rest follows references that are wrong
    for (std::size_t k = 0; k < op_.reads.size(); ++k) read(k);
    for (std::size_t k = 0; k < op_.writes.size(); ++k) write(k);
    every_result_is_written();
    walked_blocks_are_not_seen();
    reads_are_well_founded();
    std::visit([this](const auto& body) { this->body(body); }, op_.body);
  }

 private:
  void types() {
    for (const auto* list : {&op_.operands, &op_.results})
      for (const TensorType& type : *list)
        for (std::int64_t n : type.shape) out_.expect(n >= 0, "the type {} has a negative size", to_string(type));
  }

  void dims() {
    for (const IndexDim& dim : op_.dims) {
      out_.expect(dim.range.lo <= dim.range.hi, "the range {} of {} is reversed", to_string(dim.range), dim.name);
      out_.expect(dim.role == DimRole::counter || dim.level == 0, "{} has a level, but is not a counter", dim.name);
    }
    for (const Constraint& c : op_.constraints)
      out_.expect(c.expr.coefficients.size() == op_.dims.size(), "a constraint has {} coefficients for {} dims",
                  c.expr.coefficients.size(), op_.dims.size());
    for (std::size_t k = 0; k < op_.blockings.size(); ++k) blocking(k);
  }

  std::optional<DimRole> role_of(std::uint32_t dim) const {
    return dim < op_.dims.size() ? std::optional(op_.dims[dim].role) : std::nullopt;
  }

  void blocking(std::size_t number) {
    Violations::Scope at(out_, "blocking {}", number);
    const Blocking& b = op_.blockings[number];
    if (!out_.expect(b.dim < op_.dims.size() && b.block_dim < op_.dims.size() && b.dim != b.block_dim,
                     "dim {} by {} of {} dims", b.dim, b.block_dim, op_.dims.size()))
      return;
    const IndexDim &dim = op_.dims[b.dim], &block = op_.dims[b.block_dim];
    out_.expect(block.range == Range{0, b.blocks.count}, "{} blocks, but {} runs over {}", b.blocks.count, block.name,
                to_string(block.range));
    out_.expect(!dim.keep && dim.role != DimRole::counter, "{} must not be split", dim.name);
    out_.expect(block.role == DimRole::parallel || (block.role == DimRole::reduction && dim.role == DimRole::reduction),
                "the block dim {} of {} is {}", block.name, dim.name, words::text_of(words::roles, block.role));
    bool again = false;
    for (std::size_t k = 0; k < number; ++k) {
      again |= op_.blockings[k].dim == b.dim;
      out_.expect(op_.blockings[k].dim != b.dim || op_.blockings[k].block_dim != b.block_dim, "{} is split twice by {}",
                  dim.name, block.name);
      // Otherwise the cells of an inner block would be in several places: one in each block of the stream.
      bool streamed = op_.blockings[k].dim == b.dim && role_of(op_.blockings[k].block_dim) == DimRole::reduction;
      out_.expect(!streamed || block.role == DimRole::reduction, "{} is streamed, and then split into partials by {}",
                  dim.name, block.name);
    }
    // A block dim may be split itself, but only before it splits others; otherwise its blocks would be determined too
    // late.
    for (std::size_t k = number; k < op_.blockings.size(); ++k)
      out_.expect(op_.blockings[k].dim != b.block_dim, "{} is split after it splits another dim", block.name);
    if (again) out_.expect(b.blocks.boundaries.empty(), "blocks of blocks must not have explicit boundaries");
    else
      out_.expect(tiles(b.blocks, dim.range), "the blocks {} do not tile {}", to_string(b.blocks),
                  to_string(dim.range));
  }

  // The common rules of reads and writes; false if ranks disagree.
  bool access(const Access& access, const std::vector<TensorType>& tensors, std::string_view what, std::size_t number) {
    Violations::Scope at(out_, "{} {}", what, number);
    if (!out_.expect(access.tensor < tensors.size(), "tensor {} of {}", access.tensor, tensors.size())) return false;
    std::size_t rank = tensors[access.tensor].shape.size();
    const Projection& p = access.projection;
    bool ok = out_.expect(p.shape.size() == rank && p.start.rows.size() == rank,
                          "the projection has {} rows and a region of rank {} for a tensor of rank {}",
                          p.start.rows.size(), p.shape.size(), rank);
    ok &= out_.expect(p.start.inputs == op_.dims.size(), "the projection has {} inputs for {} dims", p.start.inputs,
                      op_.dims.size());
    for (const AffineExpr& row : p.start.rows)
      ok &= out_.expect(row.coefficients.size() == op_.dims.size(), "a row has {} coefficients for {} dims",
                        row.coefficients.size(), op_.dims.size());
    for (std::int64_t extent : p.shape) ok &= out_.expect(extent >= 0, "the region has a negative extent, {}", extent);
    ok &= out_.expect(access.coordinates.empty() || access.coordinates.size() == rank, "{} coordinates for rank {}",
                      access.coordinates.size(), rank);
    for (const auto& c : access.coordinates)
      ok &= !c || out_.expect(valid(*c, op_.exprs), "a coordinate is not a cell");
    ok &= !access.fill || out_.expect(valid(*access.fill, op_.exprs), "the fill is not a cell");
    return ok;
  }

  void read(std::size_t number) {
    Violations::Scope at(out_, "read {}", number);
    const Access& access = op_.reads[number];
    const TensorType& type = op_.operands[access.tensor];
    out_.expect(access.invariant_dims.empty(), "a read has invariant dims");
    if (access.fill) {
      const CellNode& fill = op_.exprs[*access.fill];
      out_.expect(fill.type == type.element, "the fill is {}, but the tensor is {}", name_of(fill.type),
                  name_of(type.element));
      out_.expect(!op_.kernel() || fill.op == CellOp::constant, "the fill of an outside kernel is not a constant");
    }
    for (std::size_t axis = 0; axis < type.shape.size(); ++axis) {
      bool by_data = !access.coordinates.empty() && access.coordinates[axis];
      if (by_data) coordinate(access, axis, type.shape[axis]);
      else one_cell(access, axis);
    }
  }

  void coordinate(const Access& access, std::size_t axis, std::int64_t extent) {
    ElementType type = op_.exprs[*access.coordinates[axis]].type;
    out_.expect(is_integer(type), "the coordinate of axis {} is {}, expected an integer", axis, name_of(type));
    out_.expect(!op_.kernel(), "an outside kernel has a data-dependent coordinate");
    out_.expect(access.projection.start.rows[axis] == AffineExpr::constant(op_.dims.size(), 0) &&
                    access.projection.shape[axis] == extent,
                "the projection of the data-dependent axis {} must be the whole axis", axis);
  }

  // Cells are read and written one by one; whole regions are for kernels and groups.
  void one_cell(const Access& access, std::size_t axis) {
    if (op_.map() || op_.reduce())
      out_.expect(access.projection.shape[axis] == 1, "the region has extent {} on axis {}, expected 1",
                  access.projection.shape[axis], axis);
  }

  bool uses(const Access& access, std::size_t dim) const {
    const auto& rows = access.projection.start.rows;
    return std::any_of(rows.begin(), rows.end(), [dim](const AffineExpr& row) { return row.coefficients[dim] != 0; });
  }

  void write(std::size_t number) {
    Violations::Scope at(out_, "write {}", number);
    const Access& access = op_.writes[number];
    out_.expect(access.coordinates.empty(), "a write has a data-dependent coordinate");
    out_.expect(!access.fill, "a write has a fill");
    for (std::size_t axis = 0; axis < access.projection.rank(); ++axis) one_cell(access, axis);
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      if (op_.dims[d].role == DimRole::reduction)
        out_.expect(!uses(access, d), "the reduction dim {} appears in a written coordinate", op_.dims[d].name);
    std::vector<bool> seen(op_.dims.size(), false);
    for (std::uint32_t d : access.invariant_dims) {
      if (!out_.expect(d < op_.dims.size(), "invariant dim {} is out of range for {} dims", d, op_.dims.size()))
        continue;
      out_.expect(op_.dims[d].role == DimRole::parallel, "the invariant dim {} is not parallel", op_.dims[d].name);
      out_.expect(!uses(access, d), "the invariant dim {} is used by the projection", op_.dims[d].name);
      out_.expect(!seen[d], "the dim {} is named invariant twice", op_.dims[d].name);
      seen[d] = true;
    }
  }

  void every_result_is_written() {
    if (op_.transfer()) return;  // cells that are not demanded are not moved
    if (auto* region = op_.region(); region && region->kind != RegionKind::group) return;
    std::vector<bool> written(op_.results.size(), false);
    for (const Access& access : op_.writes) written[access.tensor] = true;
    for (std::size_t r = 0; r < written.size(); ++r) out_.expect(written[r], "result {} is never written", r);
  }

  // A block dim that is a reduction dim only orders the stream: nothing may depend on it.
  void walked_blocks_are_not_seen() {
    for (std::uint32_t d = 0; d < op_.dims.size(); ++d) {
      if (op_.dims[d].role != DimRole::reduction || !is_block_dim(op_, d)) continue;
      bool seen = false;
      for (const Access& read : op_.reads) seen |= uses(read, d);
      for (const Constraint& c : op_.constraints) seen |= c.expr.coefficients[d] != 0;
      for (std::size_t k = 0; k < op_.exprs.size(); ++k)
        seen |= op_.exprs[CellId(k)].op == CellOp::index && op_.exprs[CellId(k)].attribute == d;
      out_.expect(!seen, "only a blocking may use {}, the block number of a stream", op_.dims[d].name);
    }
  }

  // The cells that a read's coordinate or fill depends on must not depend on that read.
  void reads_are_well_founded() {
    enum State : std::uint8_t { fresh, open, done };
    std::vector<State> state(op_.reads.size(), fresh);
    std::vector<std::vector<std::uint32_t>> needs;
    for (const Access& access : op_.reads) {
      std::vector<CellId> roots;
      for (const auto& c : access.coordinates)
        if (c) roots.push_back(*c);
      if (access.fill) roots.push_back(*access.fill);
      auto& list = needs.emplace_back();
      for (CellId id : reachable_from(op_.exprs, roots))
        if (op_.exprs[id].op == CellOp::read) list.push_back(op_.exprs[id].attribute);
    }
    std::vector<std::uint32_t> path;
    for (std::uint32_t first = 0; first < needs.size(); ++first) {
      if (state[first] == fresh) path.push_back(first);
      while (!path.empty()) {
        std::uint32_t at = path.back();
        if (state[at] == fresh) state[at] = open;
        if (needs[at].empty()) {
          state[at] = done;
          path.pop_back();
          continue;
        }
        std::uint32_t next = needs[at].back();
        needs[at].pop_back();
        if (!out_.expect(state[next] != open, "read {} depends on itself", next)) return;
        if (state[next] == fresh) path.push_back(next);
      }
    }
  }

  bool has_reduction() const {
    return std::any_of(op_.dims.begin(), op_.dims.end(),
                       [](const IndexDim& d) { return d.role == DimRole::reduction; });
  }

  void body(const MapBody& map) {
    out_.expect(!has_reduction(), "a map has a reduction dim");
    if (!out_.expect(map.values.size() == op_.writes.size(), "{} values for {} writes", map.values.size(),
                     op_.writes.size()))
      return;
    for (std::size_t k = 0; k < map.values.size(); ++k) {
      if (!out_.expect(valid(map.values[k], op_.exprs), "value {} is not a cell", k)) continue;
      ElementType found = op_.exprs[map.values[k]].type, expected = op_.results[op_.writes[k].tensor].element;
      out_.expect(fits(found, expected), "value {} is {}, but its result is {}", k, name_of(found), name_of(expected));
    }
  }

  void body(const ReduceBody& reduce) {
    if (!monoid_of_writes(reduce.monoid)) return;
    const Monoid& monoid = program_[reduce.monoid];
    if (!out_.expect(reduce.operands.size() == monoid.arity(), "{} operands for {} components", reduce.operands.size(),
                     monoid.arity()))
      return;
    for (std::size_t k = 0; k < reduce.operands.size(); ++k) {
      if (!out_.expect(valid(reduce.operands[k], op_.exprs), "operand {} is not a cell", k)) continue;
      ElementType found = op_.exprs[reduce.operands[k]].type, expected = monoid.components[k].type;
      out_.expect(found == expected, "operand {} is {}, but its component is {}", k, name_of(found), name_of(expected));
    }
  }

  // Write k holds component k.
  bool monoid_of_writes(MonoidId id) {
    if (!out_.expect(valid(id, program_.monoids), "the monoid is not in the table")) return false;
    const Monoid& monoid = program_[id];
    if (!out_.expect(monoid.arity() == op_.writes.size(), "{} writes for {} components", op_.writes.size(),
                     monoid.arity()))
      return false;
    for (std::size_t k = 0; k < monoid.arity(); ++k) {
      ElementType found = monoid.components[k].type, expected = op_.results[op_.writes[k].tensor].element;
      out_.expect(fits(found, expected), "component {} is {}, but its result is {}", k, name_of(found),
                  name_of(expected));
    }
    return true;
  }

  void body(const KernelBody& kernel) {
    out_.expect(!kernel.symbol.empty(), "the kernel has no symbol");
    out_.expect(!kernel.flops || *kernel.flops >= 0, "the cost is negative");
    out_.expect(has_reduction() == kernel.reduced_by.has_value(),
                "a kernel needs both a reduction dim and a monoid, or neither");
    if (kernel.reduced_by) monoid_of_writes(*kernel.reduced_by);
  }

  void body(const TransferBody&) {
    if (!out_.expect(op_.operands.size() == 1 && op_.results == op_.operands, "a transfer changes cells")) return;
    if (!out_.expect(op_.reads.size() == op_.writes.size(), "a transfer of {} reads and {} writes", op_.reads.size(),
                     op_.writes.size()))
      return;
    for (std::size_t k = 0; k < op_.reads.size(); ++k)
      out_.expect(op_.reads[k].projection == op_.writes[k].projection, "access {} changes its position", k);
    for (const IndexDim& dim : op_.dims)
      out_.expect(dim.role != DimRole::reduction && !dim.keep, "{} is {}, but a transfer combines nothing", dim.name,
                  dim.keep ? "keep" : words::text_of(words::roles, dim.role));
  }

  void body(const RegionBody& region) { verify_region(out_, program_, op_, region); }

  Violations& out_;
  const Program& program_;
  const Operator& op_;
};

}  // namespace

void verify_operator(Violations& out, const Program& program, const Operator& op) {
  OperatorVerifier(out, program, op).run();
}

}  // namespace tap::ir::verifying
