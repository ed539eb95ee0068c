// What memories hold while the tasks of an explicit program run, one after another: of one value at a time, boxes of cells.
// An operation on a box is right if its operands' memories hold what it reads and the box has all that it reduces; then its
// results' memories hold what it writes.
//
//   y[i] = x[i - 1 else 0] on [4..8]: x must be held on [3..7], then y is held on [4..8]
#pragma once

#include "check/affine.h"
#include "check/places.h"
#include "check/verdict.h"

namespace tap::check {

Ranges cells_of(const Shape& shape);
Ranges within(Ranges a, const Ranges& b);
bool inside(const Ranges& a, const Ranges& b);  // all of `a`

// Boxes; those that lie side by side are put together as they come, so that the list stays short.
class Boxes {
 public:
  void add(Ranges box);
  bool cover(const Ranges& box) const;
  bool meet(const Ranges& box) const;

 private:
  std::vector<Ranges> boxes_;
};

struct Contents {
  std::optional<Class> value = {};
  Boxes cells = {};
  std::map<const ir::Access*, Boxes> points = {};  // by a write that leaves gaps: the points that wrote
  bool gaps = false;                               // some write left some
  std::int64_t count = 0;                          // of cells that were written for certain, each once
  std::optional<ir::Scalar> filled = {};           // all other cells
  std::optional<std::size_t> prepared_by = {};     // the kernel that made it of all of the value

  bool hold(Class other, const Ranges& box) const { return no_points(box) || (value == other && cells.cover(box)); }
};

// An operation of a graph, and the classes of its values.
struct Run {
  Side side;
  const ir::Graph* graph = nullptr;
  const Writers* writers = nullptr;
};

// The points on which the operator runs for a box, which must be a block of each dim that is cut and have all that is reduced
// there. One dim whose points only order a walk has one point: `walked` says whether the box has that one, or all.
Ranges points_of(const ir::Operator& op, const Ranges& box, bool walked, Obligation obligation);
bool is_idle(const ir::Operator& op, const Ranges& points);  // no point writes anything
// What an access touches, also outside of the tensor.
Ranges bounds_of(const ir::Access& access, const Ranges& points);
// Refuses if the memory lacks cells that the operator reads of the operand. What needs everything has no reads.
void check_reads(const Run& run, std::size_t operand, const Ranges& points, const Contents& memory,
                 Obligation obligation);
bool is_told_by(const ir::Access& access, std::size_t dim);  // whether the dim says which cell it is
// The bounds of what a write writes; whether it leaves no gap there, which is so if its points are as many as the cells, since
// no cell is written twice; and of the points those dims that say where it is.
Ranges written_by(const ir::Operator& op, const ir::Access& write, const Ranges& points);
bool leaves_no_gap(const ir::Operator& op, const ir::Access& write, const Ranges& points);
Ranges spread_of(const ir::Operator& op, const ir::Access& write, const Ranges& points);
// Where writes leave gaps, the memory's box, within which they all lie, is there once as many cells are written as it has,
// since none is written twice; or all of the value once all of its writers' points were at work on this memory.
void add_written(const ir::Program& program, const Run& run, const ir::Access& write, const Ranges& points,
                 const Ranges& box, Contents& memory);

}  // namespace tap::check
