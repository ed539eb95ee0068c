// Demand: what part of a group is computed for a box of its dims. It goes backward through the inner graph: an
// operation that writes a result runs on the box that its anchors give; its reads must be covered by the writes of
// their producers; a producer runs on the preimage of the demanded box under its writes. All by projecting boxes, in
// closed form.
//
//   group over i, 0..8:   t[i] = sum[k] x[i, k]     y[i] = t[i-1 else 0] + t[i+1 else 0]     dim i is anchored to y's i
//   on i in 2..4:         t on i 1..5 and all of k   y on i 2..4
//
// Two forms: `demand` of one box, exact, each region clipped to its tensor; and `moving_demand`, the regions of one
// point as windows that move with it, from which projections, buffer sizes and loops are built. The bounds of the
// latter over a box, clipped, contain the former.
#pragma once

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::ir {

// The parts of a group: of an operator, or of one that is still to be made.
struct GroupView {
  const Program& program;
  const Graph& graph;
  const std::vector<IndexDim>& dims;
  const std::vector<GroupAnchor>& anchors;
};
GroupView view_of(const Program& program, const Operator& group);

// start(p) .. start(p) + length for a point p of the group's dims.
struct Window {
  AffineExpr start;
  std::int64_t length = 0;
  Range bounds(const Box& box) const;  // the hull over a box of points
  bool moves() const { return !start.is_constant(); }
  bool operator==(const Window&) const = default;
};

// Per operation of the inner graph, the box that it is applied to; per value, the region of it that there is (of a value that
// comes from outside: that is read). Empty if nothing is demanded.
struct Demand {
  std::vector<Box> operations;
  std::vector<bool>
      asked;  // by operation: a reduction without other dims has one point, whether anybody asks for it or not
  std::vector<Box> values;
};
Demand demand(const GroupView& group, const Box& box);

struct MovingDemand {
  std::vector<std::vector<Window>> operations;  // by operation, by its dim
  std::vector<bool> asked;                      // by operation
  std::vector<std::vector<Window>> values;      // by value, by axis; the region may lie partly outside of the tensor
};
// A range that is no affine function of the point is a whole dim or axis.
MovingDemand moving_demand(const GroupView& group);

// The group's accesses: a region for every operand that is read, and for every write of a result inside.
std::vector<Access> group_reads(const GroupView& group, const MovingDemand& windows);
std::vector<Access> group_writes(const GroupView& group, const MovingDemand& windows);

// The bytes of a region of that value: at most of the whole tensor.
double region_bytes(const TensorType& type, const std::vector<Window>& region);

}  // namespace tap::ir
