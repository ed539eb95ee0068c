// Closed forms of legality: what boxes alone can prove, without isl. Each answers "legal" or "not known".
#pragma once

#include <optional>
#include <vector>

#include "ir/operator.h"

namespace tap {

// One writer of a value as the proofs see it. Reduction dims are gone (one write for the whole reduction, and where it is
// empty the identity is written), and with them the constraints that they take part in.
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
// A read in the same form, of all dims; where a coordinate is data-dependent, of all cells.
WriteMap read_map(const ir::Operator& op, std::uint32_t read);

// A box around the points of `box` that satisfy the constraints, each of which narrows the range of each of its dims; exact
// where every constraint has one variable. Empty optional: there is no such point.
std::optional<ir::Box> tighten(ir::Box box, const std::vector<ir::Constraint>& constraints);

// Is the coordinate on this axis data-dependent? Then it is checked when the program runs.
bool checked_at_run_time(const ir::Access& access, std::size_t axis);

// Is every region of the access (data-dependent axes apart) inside the tensor for all points of the box? Pre: `points` is not empty.
bool reads_inside(const ir::Access& access, const Shape& shape, const ir::Box& points);

// Do the writers cover the shape exactly once, as boxes that tile it? `false` means not known.
bool tiles_exactly(const Shape& shape, const std::vector<WriteMap>& writers);

}  // namespace tap
