// Demand: the part of a group that is computed for a box of its dims. It follows from the inner graph, backward: an
// operation that writes a result runs on the box that its anchors determine; its reads must be covered by the writes of
// their producers; a producer runs on the preimage of the demanded box under its writes. All of this projects boxes, in
// closed form.
//
//   group over i, 0..8:   t[i] = sum[k] x[i, k]     y[i] = t[i-1 else 0] + t[i+1 else 0]     dim i is anchored to y's i
//   on i in 2..4:         t on i 1..5 and all of k   y on i 2..4
//
// Two forms: `demand` of one box, exact, each region clipped to its tensor; and `moving_demand`, the regions of one
// point as windows that move with it; projections, buffer sizes and loops are built from them. The bounds of the latter
// over a box, clipped, contain the former.
#pragma once

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::ir {

// The parts of a group: of an operator, or of one that has yet to be made.
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

// For each operation of the inner graph, the box that it is applied to; for each value, the region that is computed (or
// read, if it comes from outside the group). Empty if nothing is demanded.
struct Demand {
  std::vector<Box> operations;
  std::vector<bool> demanded;  // whether it is demanded; a reduction may have no other dims, and so a point even if not
  std::vector<Box> values;
};
Demand demand(const GroupView& group, const Box& box);

struct MovingDemand {
  std::vector<std::vector<Window>> operations;  // by operation, by its dim
  std::vector<bool> demanded;                   // by operation
  std::vector<std::vector<Window>> values;      // by value, by axis; the region may extend beyond the tensor
};
// A range that is not affine in the point becomes the whole dim or axis.
MovingDemand moving_demand(const GroupView& group);

// The group's accesses: one region for each operand that is read, and for each write of a result inside.
std::vector<Access> group_reads(const GroupView& group, const MovingDemand& windows);
std::vector<Access> group_writes(const GroupView& group, const MovingDemand& windows);

// The bytes of a region of a value of this type: at most those of the whole tensor.
double region_bytes(const TensorType& type, const std::vector<Window>& region);

}  // namespace tap::ir
