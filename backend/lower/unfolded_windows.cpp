#include "backend/lower/unfolded_windows.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "backend/tiles/patterns.h"
#include "ir/graph.h"
#include "support/checked.h"

namespace tap::backend {

using namespace ir;

namespace {

std::vector<std::size_t> dims_of(const AffineExpr& row) {
  std::vector<std::size_t> found;
  for (std::size_t d = 0; d < row.coefficients.size(); ++d)
    if (row.coefficients[d] != 0) found.push_back(d);
  return found;
}

class Unfolder {
 public:
  Unfolder(const Program& program, const Operator& op, const Extents& extents, const std::vector<bool>& constant,
           const Machine& machine)
      : program_(program), op_(op), extents_(extents), constant_(constant), machine_(machine) {}

  std::optional<UnfoldedWindows> run(bool exact_arithmetic) {
    if (!op_.reduce() || op_.writes.size() != 1 || !op_.constraints.empty() || !op_.blockings.empty()) return {};
    const auto& result = op_.writes[0].projection.start.rows;
    if (result.empty() || !result.back().as_variable()) return {};
    lanes_ = *result.back().as_variable();
    if (!is_whole(lanes_) || op_.dims[lanes_].role != DimRole::parallel) return {};
    const Access* window = nullptr;  // the only one that the lanes read
    for (const Access& read : op_.reads) {
      if (!uses(read, lanes_)) continue;
      if (window) return {};
      window = &read;
    }
    if (!window || !can_unfold(*window)) return {};
    // Lanes along the reduction combine in another order.
    const auto tile = choose_tile(program_, op_, extents_, !exact_arithmetic, machine_, constant_);
    if (!tile || tile->along_reduction) return {};
    return pays(*window) ? std::optional(std::move(found_)) : std::nullopt;
  }

 private:
  bool is_whole(std::size_t d) const {
    return extents_.exact[d] && extents_.sizes[d] == op_.dims[d].range.size() && op_.dims[d].range.lo == 0 &&
           extents_.sizes[d] > 1;
  }
  bool is_alone(const Access& window) const {
    auto same = [&](const Access& read) { return read.tensor == window.tensor; };
    return std::ranges::count_if(op_.reads, same) == 1 &&
           !(window.tensor < constant_.size() && constant_[window.tensor]);
  }

  // Along the last axis, the lanes and dims of the reduction, which no other axis follows.
  bool can_unfold(const Access& window) {
    const auto& rows = window.projection.start.rows;
    auto is_data = [](const auto& c) { return c.has_value(); };
    if (!is_alone(window) || std::ranges::any_of(window.coordinates, is_data)) return false;
    if (window.fill && op_.exprs[*window.fill].op != CellOp::constant) return false;
    if (!window.fill && may_be_outside(op_, window)) return false;
    for (std::size_t d : dims_of(rows.back())) {
      if (d == lanes_) continue;
      if (op_.dims[d].role != DimRole::reduction || !is_whole(d)) return false;
      steps_.push_back(d);
    }
    if (steps_.empty()) return false;
    for (std::size_t axis = 0; axis + 1 < rows.size(); ++axis)
      for (std::size_t d : dims_of(rows[axis])) {
        if (d == lanes_ || std::ranges::count(steps_, d) > 0) return false;
        if (op_.dims[d].role == DimRole::counter) return false;
      }
    return copies_few(window);
  }

  // A dim of its own axis is outside the copy, unless rows of images move along it.
  bool copies_few(const Access& window) {
    constexpr std::int64_t fewest_uses = 8;
    const auto& rows = window.projection.start.rows;
    for (std::size_t axis = 0; axis + 2 < rows.size(); ++axis) {
      const auto dims = dims_of(rows[axis]);
      if (dims.size() == 1 && op_.dims[dims[0]].role == DimRole::parallel && rows[axis].as_variable())
        found_.outside.push_back(dims[0]);
    }
    std::int64_t uses_of_it = 1;
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      if (op_.dims[d].role == DimRole::parallel && !uses(window, d)) uses_of_it *= extents_.sizes[d];
    return uses_of_it >= fewest_uses;
  }
  bool is_outside(std::size_t d) const { return std::ranges::count(found_.outside, d) > 0; }

  // z and its reader, before rows are merged.
  void build(const Access& window) {
    const TensorType& type = op_.operands[window.tensor];
    const auto& rows = window.projection.start.rows;
    Access reader = window;
    reader.projection.start.rows.clear();
    reader.fill.reset();
    std::vector<AffineExpr> from(rows.size());  // over the copy's dims, by axis of the operand
    found_.operand = window.tensor;
    auto axis_of = [&](const std::string& name, const AffineExpr& row, std::int64_t extent) {
      const std::int64_t first = row.bounds(op_.box()).lo;
      found_.copy.dims.push_back({name, {0, extent}});
      found_.copied.push_back({row, first});
      AffineExpr at = row;
      at.offset -= first;
      reader.projection.start.rows.push_back(std::move(at));
      found_.extents.push_back(extent);
      return first;
    };
    const std::size_t dims = rows.size() + steps_.size();
    auto copied_row = [&](std::size_t axis) {
      const auto own = rows[axis].as_variable();
      const Range range = rows[axis].bounds(op_.box());
      const std::size_t d = found_.copy.dims.size();
      const std::int64_t first = axis_of(own ? op_.dims[*own].name : "h", rows[axis], range.size());
      from[axis] = AffineExpr::variable(dims, d);
      from[axis].offset = first;
      if (own && is_outside(*own)) found_.extents.back() = 1;
    };
    for (std::size_t axis = 0; axis + 2 < rows.size(); ++axis) copied_row(axis);
    AffineExpr last = AffineExpr::constant(dims, rows.back().offset);
    auto step = [&](std::size_t d) {
      last.coefficients[found_.copy.dims.size()] = rows.back().coefficients[d];
      axis_of(op_.dims[d].name, AffineExpr::variable(op_.dims.size(), d), extents_.sizes[d]);
    };
    for (std::size_t d : steps_) step(d);
    if (rows.size() > 1) copied_row(rows.size() - 2);
    step(lanes_);
    from.back() = std::move(last);
    reader.projection.shape.assign(reader.projection.start.rows.size(), 1);

    Operator& copy = found_.copy;
    copy.name = op_.name;
    Access read = window, write;
    read.tensor = 0;
    read.projection.start = {dims, std::move(from)};
    write.projection.start = AffineMap::identity(dims);
    write.projection.shape.assign(dims, 1);
    if (window.fill) read.fill = copy.exprs.constant(op_.exprs[*window.fill].value);
    copy.body = MapBody{{copy.exprs.read(0, type.element)}};
    copy.operands = {type};
    Shape shape;
    for (const IndexDim& dim : copy.dims) shape.push_back(dim.range.size());
    copy.results = {{type.element, std::move(shape)}};
    copy.reads = {std::move(read)};
    copy.writes = {std::move(write)};

    over_copy_ = op_;
    over_copy_.operands[window.tensor] = copy.results[0];
    *std::ranges::find(over_copy_.reads, window) = std::move(reader);
    found_.within = extents_;
    for (std::size_t d : found_.outside) {
      found_.within.sizes[d] = 1;
      found_.within.exact[d] = true;
      if (d < found_.within.follows.size()) found_.within.follows[d].clear();
    }
  }

  // Rows of z without margins follow each other.
  void merge() {
    Extents& within = found_.within;
    if (auto merged = merge_dims(program_, over_copy_, within, constant_, true)) {
      found_.op = std::move(*merged);
    } else {
      found_.op.program.monoids = program_.monoids;
      found_.op.op = over_copy_;
      for (std::uint32_t d = 0; d < op_.dims.size(); ++d) found_.op.dims.push_back({d});
      found_.op.inner_dims = {found_.op.dims};
    }
    Extents merged;
    merged.bounded = within.bounded;
    for (const auto& of : found_.op.dims) {
      std::int64_t size = 1;
      bool exact = true;
      for (std::uint32_t d : of) size *= within.sizes[d], exact = exact && within.exact[d];
      merged.sizes.push_back(size);
      merged.exact.push_back(exact);
      const bool fixed = of.size() == 1 && is_outside(of[0]);
      merged.follows.push_back(fixed ? std::vector<std::uint32_t>()
                                     : std::vector{static_cast<std::uint32_t>(merged.follows.size())});
    }
    within = std::move(merged);
    const Shape& shape = found_.op.op.operands[found_.operand].shape;
    TensorType& written = found_.copy.results[0];
    if (shape == written.shape) return;
    const std::size_t last = shape.size() - 1, dims = found_.copy.dims.size();
    auto& at = found_.copy.writes[0].projection.start.rows;
    at[last].coefficients[last - 1] = written.shape[last];
    at[last - 1] = AffineExpr::constant(dims, 0);
    found_.extents[last] *= std::exchange(found_.extents[last - 1], 1);
    written.shape = shape;
  }

  bool pays(const Access& window) {
    constexpr double clearly = 0.9, of_vector = 6, of_cells = 16;  // cycles, also if a vector is read cell by cell
    build(window);
    if (bytes() > static_cast<double>(machine_.l2_bytes) / 2) return false;
    const auto usual = merge_dims(program_, op_, extents_, constant_);
    const double before = usual ? cost_of(*usual) : cost_of_tile(program_, op_, extents_, machine_, constant_);
    merge();
    double outside = 1, rows = 1;
    for (std::size_t d : found_.outside) outside *= static_cast<double>(extents_.sizes[d]);
    for (std::size_t d = 0; d < found_.copy.dims.size(); ++d)
      if (found_.copied[d].row.as_variable() != lanes_ && !is_outside_dim(d))
        rows *= static_cast<double>(found_.copy.dims[d].range.size());
    const double lanes = static_cast<double>(full_vector_bytes) / size_of(op_.operands[found_.operand].element);
    const bool contiguous = window.projection.start.rows.back().coefficients[lanes_] == 1;
    const double copying = rows * std::ceil(static_cast<double>(extents_.sizes[lanes_]) / lanes) *
                           (of_vector + (contiguous ? 0 : of_cells));
    const double after = cost_of_tile(found_.op.program, found_.op.op, found_.within, machine_, constant_) + copying;
    return outside * after < clearly * before;
  }
  bool is_outside_dim(std::size_t copied) const {
    const auto own = found_.copied[copied].row.as_variable();
    return own && is_outside(*own);
  }
  double cost_of(const MergedOperator& merged) const {
    Extents extents;
    for (const auto& of : merged.dims) {
      std::int64_t size = 1;
      bool exact = true;
      for (std::uint32_t d : of) size *= extents_.sizes[d], exact = exact && extents_.exact[d];
      extents.sizes.push_back(size);
      extents.exact.push_back(exact);
    }
    return cost_of_tile(merged.program, merged.op, extents, machine_, constant_);
  }
  double bytes() const {
    double all = size_of(op_.operands[found_.operand].element);
    for (std::int64_t extent : found_.extents) all *= static_cast<double>(extent);
    return all;
  }

  const Program& program_;
  const Operator& op_;
  const Extents& extents_;
  const std::vector<bool>& constant_;
  const Machine& machine_;
  std::size_t lanes_ = 0;
  std::vector<std::size_t> steps_;  // of the window along the lanes
  Operator over_copy_;
  UnfoldedWindows found_;
};

}  // namespace

std::optional<UnfoldedWindows> unfold_windows(const Program& program, const Operator& op, const Extents& extents,
                                              const std::vector<bool>& constant, bool exact_arithmetic,
                                              const Machine& machine) {
  if (std::ranges::count(extents.sizes, 0) > 0) return {};
  return Unfolder(program, op, extents, constant, machine).run(exact_arithmetic);
}

}  // namespace tap::backend
