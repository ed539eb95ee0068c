// Closed forms of legality: what boxes alone can prove, without isl. Each answers "legal" or "not known".
#pragma once

#include <optional>
#include <vector>

#include "ir/operator.h"

namespace tap {

// One writer of a value, for the proofs. Reduction dims are removed (the whole reduction writes once, also if it is
// empty), and so are constraints on them.
struct WriteDim {
  std::uint32_t dim = 0;  // its number in the operator
  ir::DimRole role = ir::DimRole::parallel;
  std::uint32_t level = 0;
  bool invariant = false;  // points that differ only here write one cell, once
  bool operator==(const WriteDim&) const = default;
};
struct WriteMap {
  std::vector<WriteDim> dims;
  ir::Domain domain;          // over those dims
  ir::Projection projection;  // over those dims
  bool operator==(const WriteMap&) const = default;
};
WriteMap write_map(const ir::Operator& op, std::uint32_t write);
// A read in the same form, over all dims; a data-dependent coordinate reads all cells.
WriteMap read_map(const ir::Operator& op, std::uint32_t read);

// A box around the points of `box` that satisfy the constraints; each constraint narrows the range of each of its dims.
// Exact if every constraint has one variable. Empty optional: there is no such point.
std::optional<ir::Box> tighten(ir::Box box, const std::vector<ir::Constraint>& constraints);

// Whether the coordinate on this axis is data-dependent: it is then checked at run time.
bool checked_at_run_time(const ir::Access& access, std::size_t axis);

// Whether every region of the access (except data-dependent axes) is in bounds for all points of the box. Pre: `points`
// is not empty.
bool reads_inside(const ir::Access& access, const Shape& shape, const ir::Box& points);

// Whether the writers cover the shape exactly once, as boxes that tile it. `false` means not known.
bool tiles_exactly(const Shape& shape, const std::vector<WriteMap>& writers);

}  // namespace tap
