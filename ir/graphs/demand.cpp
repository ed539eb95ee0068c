// One traversal of the inner graph for both forms, generic over an algebra of images and preimages of spans: ranges
// for a given box, windows for any point.
#include "ir/graphs/demand.h"

#include <algorithm>

#include "ir/graph.h"
#include "ir/graphs/demand_spans.h"
#include "support/check.h"
#include "support/checked.h"

namespace tap::ir {
namespace {

using namespace spans;

template <class Algebra>
class Walk {
 public:
  using Span = typename Algebra::Span;
  using Spans = std::vector<Span>;

  Walk(const GroupView& group, Algebra algebra)
      : group_(group),
        algebra_(algebra),
        needed_(group.graph.values.size()),
        written_(group.graph.values.size()),
        operations(group.graph.operations.size()),
        demanded(group.graph.operations.size(), false) {}

  void run() {
    std::vector<bool> is_output(needed_.size(), false);
    for (ValueId v : group_.graph.outputs) is_output[v.index()] = true;
    for (std::size_t k = group_.graph.operations.size(); k-- > 0;) {
      const Operation& operation = group_.graph.operations[k];
      const Operator& op = group_.program[operation.op];
      bool anchored = std::any_of(operation.results.begin(), operation.results.end(),
                                  [&](ValueId v) { return is_output[v.index()]; });
      if (op.region() && op.region()->kind != RegionKind::group) take_whole(k, operation);
      else demand_operation(k, operation, op, anchored);
    }
    for (std::size_t v = 0; v < needed_.size(); ++v) {
      if (written_[v]) merge(needed_[v], *written_[v], ValueId(v));
      values.push_back(needed_[v] ? *needed_[v] : Spans(shape(ValueId(v)).size(), algebra_.whole({0, 0})));
    }
  }

 private:
  // If only the graph is known: whole operations and values.
  void take_whole(std::size_t number, const Operation& operation) {
    demanded[number] = true;
    for (const auto* list : {&operation.operands, &operation.results})
      for (ValueId v : *list) {
        Spans all;
        for (std::int64_t n : shape(v)) all.push_back(algebra_.whole({0, n}));
        merge(needed_[v.index()], all, v);
      }
  }

  void demand_operation(std::size_t number, const Operation& operation, const Operator& op, bool anchored) {
    std::vector<std::optional<Span>> found(op.dims.size());
    bool is_demanded = anchored;
    auto add = [&](std::size_t d, const Span& span) {
      found[d] = found[d] ? algebra_.hull(*found[d], span, op.dims[d].range) : span;
    };
    if (anchored)
      for (std::size_t d = 0; d < op.dims.size(); ++d) add(d, anchor_of(number, d, op.dims[d].range));
    for (const Access& write : op.writes) {
      const auto& need = needed_[operation.results[write.tensor].index()];
      if (!need) continue;
      auto spans = preimage(write.projection, *need, op);
      if (!spans) continue;
      is_demanded = true;
      for (std::size_t d = 0; d < spans->size(); ++d)
        if ((*spans)[d]) add(d, *(*spans)[d]);
    }
    Spans& spans = operations[number];
    for (std::size_t d = 0; d < op.dims.size(); ++d) {
      bool given = op.dims[d].role != DimRole::parallel;  // counters and reductions are demanded whole, or as anchored
      spans.push_back(given || !found[d] ? anchor_of(number, d, op.dims[d].range) : *found[d]);
      spans.back() = algebra_.clip(spans.back(), op.dims[d].range);
      if (!is_demanded) spans.back() = algebra_.whole({0, 0});
    }
    demanded[number] = is_demanded;
    if (is_demanded) project(operation, op, spans);
  }

  // What the operation reads and writes on that box. An empty reduction still writes, and reads nothing.
  void project(const Operation& operation, const Operator& op, Spans spans) {
    if (std::none_of(spans.begin(), spans.end(), [&](const Span& s) { return algebra_.empty(s); }))
      for (const Access& read : op.reads) add_image(needed_, operation.operands[read.tensor], read.projection, spans);
    for (std::size_t d = 0; d < spans.size(); ++d)
      if (op.dims[d].role == DimRole::reduction) spans[d] = algebra_.whole({0, 1});
    for (const Access& write : op.writes) add_image(written_, operation.results[write.tensor], write.projection, spans);
  }

  Span anchor_of(std::size_t operation, std::size_t dim, Range range) const {
    for (const GroupAnchor& a : group_.anchors)
      if (a.operation == operation && a.inner_dim == dim) return algebra_.variable(a.dim);
    return algebra_.whole(range);
  }

  // Per dim that the write uses, the values that may meet the region; nothing if there are none. Dims of one row narrow
  // each other.
  std::optional<std::vector<std::optional<Span>>> preimage(const Projection& write, const Spans& need,
                                                           const Operator& op) const {
    Spans spans;
    for (const IndexDim& dim : op.dims) spans.push_back(algebra_.whole(dim.range));
    std::vector<std::optional<Span>> found(spans.size());
    for (std::size_t axis = 0; axis < write.rank(); ++axis) {
      const AffineExpr& row = write.start.rows[axis];
      for (std::size_t d = 0; d < spans.size(); ++d) {
        if (row.coefficients[d] == 0) continue;
        if (auto span = algebra_.preimage(row, write.shape[axis], need[axis], d, spans))
          spans[d] = algebra_.narrower(spans[d], algebra_.clip(*span, op.dims[d].range));
        found[d] = spans[d];
        if (algebra_.empty(spans[d])) return std::nullopt;
      }
      if (row.is_constant() && algebra_.misses({row.offset, checked::add(row.offset, write.shape[axis])}, need[axis]))
        return std::nullopt;
    }
    return found;
  }

  using Regions = std::vector<std::optional<Spans>>;
  void add_image(Regions& regions, ValueId value, const Projection& access, const Spans& spans) {
    const Shape& extents = shape(value);
    Spans region;
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
      Range whole{0, extents[axis]};
      region.push_back(algebra_.clip(algebra_.image(access.start.rows[axis], access.shape[axis], spans, whole), whole));
    }
    merge(regions[value.index()], region, value);
  }

  void merge(std::optional<Spans>& into, const Spans& region, ValueId value) {
    if (std::any_of(region.begin(), region.end(), [&](const Span& s) { return algebra_.empty(s); })) return;
    const Shape& extents = shape(value);
    if (!into) into = region;
    for (std::size_t axis = 0; axis < region.size(); ++axis)
      (*into)[axis] = algebra_.hull((*into)[axis], region[axis], {0, extents[axis]});
  }

  const Shape& shape(ValueId value) const { return group_.graph[value].type.shape; }

  const GroupView& group_;
  Algebra algebra_;
  Regions needed_;   // by readers
  Regions written_;  // by the boxes of writers

 public:
  std::vector<Spans> operations;
  std::vector<bool> demanded;
  std::vector<Spans> values;
};

Access region(std::uint32_t tensor, std::size_t dims, const std::vector<Window>& windows) {
  Access access;
  access.tensor = tensor;
  access.projection.start.inputs = dims;
  for (const Window& w : windows) {
    access.projection.start.rows.push_back(w.start);
    access.projection.shape.push_back(w.length);
  }
  return access;
}

}  // namespace

GroupView view_of(const Program& program, const Operator& group) {
  TAP_CHECK(group.region() && group.region()->kind == RegionKind::group, "`" + group.name + "` is not a group");
  return {program, program[group.region()->graph], group.dims, group.region()->anchors};
}

Range Window::bounds(const Box& box) const {
  Range starts = start.bounds(box);
  if (starts.empty() || length <= 0) return {starts.lo, starts.lo};
  return {starts.lo, checked::add(starts.hi - 1, length)};
}

Demand demand(const GroupView& group, const Box& box) {
  Walk<Ranges> walk(group, {box});
  walk.run();
  Demand result;
  for (auto& spans : walk.operations) result.operations.push_back(Box{std::move(spans)});
  result.demanded = std::move(walk.demanded);
  for (auto& spans : walk.values) result.values.push_back(Box{std::move(spans)});
  return result;
}

MovingDemand moving_demand(const GroupView& group) {
  Walk<Windows> walk(group, {group.dims.size()});
  walk.run();
  return {std::move(walk.operations), std::move(walk.demanded), std::move(walk.values)};
}

std::vector<Access> group_reads(const GroupView& group, const MovingDemand& windows) {
  std::vector<bool> read(group.graph.values.size(), false);
  for (const Operation& operation : group.graph.operations)
    for (ValueId v : operation.operands) read[v.index()] = true;
  std::vector<Access> reads;
  for (std::size_t k = 0; k < group.graph.inputs.size(); ++k) {
    ValueId v = group.graph.inputs[k];
    if (read[v.index()])
      reads.push_back(region(static_cast<std::uint32_t>(k), group.dims.size(), windows.values[v.index()]));
  }
  return reads;
}

std::vector<Access> group_writes(const GroupView& group, const MovingDemand& windows) {
  std::vector<Access> writes;
  Windows algebra{group.dims.size()};
  for (std::size_t k = 0; k < group.graph.outputs.size(); ++k)
    for (std::size_t o = 0; o < group.graph.operations.size(); ++o) {
      const Operation& operation = group.graph.operations[o];
      for (const Access& write : group.program[operation.op].writes) {
        ValueId v = operation.results[write.tensor];
        if (v != group.graph.outputs[k]) continue;
        std::vector<Window> image;
        const Shape& extents = group.graph[v].type.shape;
        for (std::size_t axis = 0; axis < extents.size(); ++axis)
          image.push_back(algebra.image(write.projection.start.rows[axis], write.projection.shape[axis],
                                        windows.operations[o], {0, extents[axis]}));
        writes.push_back(region(static_cast<std::uint32_t>(k), group.dims.size(), image));
      }
    }
  return writes;
}

double region_bytes(const TensorType& type, const std::vector<Window>& region) {
  double bytes = static_cast<double>(size_of(type.element));
  for (std::size_t axis = 0; axis < region.size(); ++axis)
    bytes *= static_cast<double>(std::clamp<std::int64_t>(region[axis].length, 0, type.shape[axis]));
  return bytes;
}

}  // namespace tap::ir
