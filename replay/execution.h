// The contents of memories while the tasks of an explicit program run in order: for each memory, boxes of cells of
// one value at a time. An operation on a box is right if the memories of its operands hold all cells that it reads
// and the box covers its whole reduction; then the memories of its results hold what it writes.
//
//   y[i] = x[i - 1 else 0] on [4..8]: x must be held on [3..7], then y is held on [4..8]
#pragma once

#include "check/places.h"
#include "ir/box_set.h"
#include "replay/along.h"

namespace tap::check {

using ir::BoxSet;

// By how many points further on each next member of a row of memories is written: by level of the row.
using Pace = std::vector<std::vector<std::int64_t>>;

// The points of a write, of those dims that say where it is: of the member that stands first along each level.
struct Wrote {
  const ir::Access* by = nullptr;
  Box points = {};
  Pace pace = {};
};

// Points that wrote some members of a row of memories, in the same form.
class Points {
 public:
  // As seen from the members that were written before; nothing if they would differ in that.
  std::optional<Box> relative_to(const Box& members, const Wrote& more) const;
  bool meets(const Box& members, const Wrote& more) const { return seen_.meets(*relative_to(members, more)); }
  bool covers(const Box& members, Box all) const;  // of each of them
  void add(const Box& members, const Wrote& more);

 private:
  BoxSet seen_;
  std::optional<Pace> pace_;
};

struct Contents {
  std::optional<Class> value = {};
  BoxSet cells = {};
  std::map<const ir::Access*, Points> points = {};  // by a write that leaves gaps: the points that wrote
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

// That a box, and each other of its row, is a block of each dim that is split, or with `parts` a part of one, and has all that is
// reduced there. For a dim that only orders a stream, `streamed` says whether the box has one point or all.
void check_blocks(const ir::Operator& op, const Box& first, const ir::Row& row, bool streamed, bool parts,
                  Obligation obligation);
inline void expect_few(std::int64_t boxes) {
  expect(Obligation::well_formed, boxes <= 1 << 22, "{} members of a row would have to be checked one by one", boxes);
}
// `take` is given the row if it refuses nothing of it, else each of those that the outermost level is of, and so on.
template <class T, class Take>
void in_rows_or_one_by_one(const T& first, Take take) {
  try {
    return take(first);
  } catch (const Refusal&) {
    if (first.row.empty()) throw;
  }
  expect_few(first.row[0].count);
  for (const T& one : unroll_outermost(first)) in_rows_or_one_by_one(one, take);
}
// The points on which the operator runs for all boxes of a row: one box, if that is all there is to them (rows.cpp).
std::vector<Box> points_of(const ir::Operator& op, const Box& first, const ir::Row& row);
std::vector<Box> all_of(const Box& first, const ir::Row& row);  // of cells, each box of them once
bool is_idle(const ir::Operator& op, const Box& points);        // no point writes anything
// Regions that are no groups need all of their operands, and write all of their results.
bool is_whole(const ir::Operator& op);
bool is_indexed_by(const ir::Access& access, std::size_t dim);  // whether the dim says which cell it is
// Of a reduction, what bounds the reduced dims says nothing of the cells.
bool cuts_cells(const ir::Operator& op, const ir::Constraint& c);
// A box of which each reduced dim has one point: it says where a result is written.
Box one_of_each_reduced(const ir::Operator& op, Box points);
// How many cells the points write, which no other points do; 0 if some within `reach`, where their like are, may be none of the
// operator's.
std::int64_t count_of(const ir::Operator& op, const ir::Access& write, const Box& points, const Box& reach);
// The dims that say where it writes, or whether it does.
std::vector<std::size_t> relevant_dims(const ir::Operator& op, const ir::Access& write);
// A box with all points whose writes meet the cells (preimage.cpp); of a reduced dim it has one point.
Box preimage_of_write(const ir::Operator& op, const ir::Access& write, const Box& cells);
// Where writes leave gaps, the memory's box, within which they all lie, is there once as many cells are written as it has,
// since none is written twice; or once all points that write into the box were at work on this memory.
struct WrittenCells {
  Wrote wrote = {};
  Box cells = {};
  std::int64_t count = 0;
  bool dense = true;  // no gaps between the cells
};
void add_written(const ir::Program& program, const Run& run, const WrittenCells& more, const ir::Buffer& buffer,
                 const Box& tensor, const Box& members, Contents& memory);

}  // namespace tap::check
