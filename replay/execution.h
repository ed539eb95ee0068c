// What memories hold while the tasks of an explicit program run, one after another: of one value at a time, boxes of cells.
// An operation on a box is right if its operands' memories hold what it reads and the box has all that it reduces; then its
// results' memories hold what it writes.
//
//   y[i] = x[i - 1 else 0] on [4..8]: x must be held on [3..7], then y is held on [4..8]
#pragma once

#include "check/affine.h"
#include "check/places.h"
#include "check/verdict.h"
#include "ir/box_set.h"
#include "ir/schedule.h"

namespace tap::check {

using ir::Box, ir::BoxSet;

struct Contents {
  std::optional<Class> value = {};
  BoxSet cells = {};
  std::map<const ir::Access*, BoxSet> points = {};  // by a write that leaves gaps: the points that wrote
  bool gaps = false;                                // some write left some
  std::int64_t count = 0;                           // of cells that were written for certain, each once
  std::optional<ir::Scalar> filled = {};            // all other cells
  std::optional<std::size_t> prepared_by = {};      // the kernel that made it of all of the value

  bool hold(Class other, const Box& box) const { return box.empty() || (value == other && cells.covers(box)); }
};

// An operation of a graph, and the classes of its values.
struct Run {
  Side side;
  const ir::Graph* graph = nullptr;
  const Writers* writers = nullptr;
};

// What a task runs on is one block.
void check_single(const ir::Operator& op, const Box& box, Obligation obligation);
// All that is in a row, as if it were one box; and the boxes as which it has to be looked at, one if that is all there is to
// it (rows.cpp). Each has to be a block.
Box all_of(const Box& first, const ir::Row& row);
std::vector<Box> in_one(const ir::Operator& op, const Box& first, const ir::Row& row, Obligation obligation);
// The points on which the operator runs for a box, which must be blocks of each dim that is cut and have all that is reduced
// there. One dim whose points only order a walk has one point: `walked` says whether the box has that one, or all.
Box points_of(const ir::Operator& op, const Box& box, bool walked, Obligation obligation);
bool is_idle(const ir::Operator& op, const Box& points);  // no point writes anything
// Regions that are no groups need all of their operands, and write all of their results.
bool is_whole(const ir::Operator& op);
// What an access touches, also outside of the tensor.
Box bounds_of(const ir::Access& access, const Box& points);
// Refuses if the memory lacks cells that the operator reads of the operand.
void check_reads(const Run& run, std::size_t operand, const Box& points, const Contents& memory, Obligation obligation);
bool is_told_by(const ir::Access& access, std::size_t dim);  // whether the dim says which cell it is
// The bounds of what a write writes; whether it leaves no gap there, which is so if its points are as many as the cells, since
// no cell is written twice; and of the points those dims that say where it is.
Box written_by(const ir::Operator& op, const ir::Access& write, const Box& points);
bool leaves_no_gap(const ir::Operator& op, const ir::Access& write, const Box& points);
Box spread_of(const ir::Operator& op, const ir::Access& write, const Box& points);
// Where writes leave gaps, the memory's box, within which they all lie, is there once as many cells are written as it has,
// since none is written twice; or all of the value once all of its writers' points were at work on this memory.
void add_written(const ir::Program& program, const Run& run, const ir::Access& write, const Box& points, const Box& box,
                 Contents& memory);

}  // namespace tap::check
