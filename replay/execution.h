// The contents of memories while the tasks of an explicit program run in order: for each memory, boxes of cells of
// one value at a time. An operation on a box is right if the memories of its operands hold all cells that it reads
// and the box covers its whole reduction; then the memories of its results hold what it writes.
//
//   y[i] = x[i - 1 else 0] on [4..8]: x must be held on [3..7], then y is held on [4..8]
#pragma once

#include "check/value_numbering.h"
#include "ir/box_set.h"
#include "replay/along.h"

namespace tap::check {

using ir::BoxSet;

// By level of a row of memories: how many points further on, in each dim, the next member is written.
using Pace = std::vector<std::vector<std::int64_t>>;

// The points of a write, in the dims that determine its position, for the first member along each level.
struct Wrote {
  const ir::Access* by = nullptr;
  Box points = {};
  Pace pace = {};
};

// Points that wrote some members of a row of memories, in the same form.
class Points {
 public:
  // Relative to the members that were written earlier; nothing if their paces differ.
  std::optional<Box> relative_to(const Box& members, const Wrote& more) const;
  bool meets(const Box& members, const Wrote& more) const { return seen_.meets(*relative_to(members, more)); }
  Box seen_from(const Box& members, Box all) const;  // what is asked of each of them, relative to it
  bool covers(const Box& members, const Box& all) const { return seen_.covers(seen_from(members, all)); }
  void add(const Box& members, const Wrote& more);

 private:
  BoxSet seen_;
  std::optional<Pace> pace_;
};

struct Contents {
  std::optional<Class> value = {};
  BoxSet cells = {};
  std::map<const ir::Access*, Points> points = {};  // by write with gaps: the points that wrote
  bool gaps = false;                                // some write left gaps
  std::int64_t count = 0;                           // of cells certainly written, each once
  std::optional<Box> hull = {};                     // of these writes: contains all cells that they wrote
  std::optional<ir::Scalar> filled = {};            // the value of all other cells
  std::optional<std::size_t> prepared_by = {};      // the kernel that packed it from the whole value

  bool contains(Class other, const Box& box) const { return box.empty() || (value == other && cells.covers(box)); }
};

// An operation of a graph, and the classes of its values.
struct Run {
  Side side;
  const ir::Graph* graph = nullptr;
  const Uses* writers = nullptr;
};

// Checks that a box, and each other box of its row, is one block of each split dim (or, with `parts`, a part of one),
// and contains the whole range of its reduction. For sequential block dims, `streamed` says whether the box has one
// point or all.
void check_blocks(const ir::Operator& op, const Box& first, const ir::Row& row, bool streamed, bool parts,
                  Obligation obligation);
inline void expect_few(std::int64_t boxes) {
  expect(Obligation::well_formed, boxes <= 1 << 22, "{} members of a row would have to be checked one by one", boxes);
}
// Calls `take` with the row if it throws no Refusal, else with each member of the outermost level, and so on.
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
// The points on which the operator runs for all boxes of a row: one box if they fill one (rows.cpp).
std::vector<Box> points_of(const ir::Operator& op, const Box& first, const ir::Row& row);
// The points of a row of tasks that write one memory: boxes are merged only if no two of them write the same cells.
std::vector<Box> points_that_write(const ir::Operator& op, const ir::Access& by, const Box& first, const ir::Row& row);
std::vector<Box> all_of(const Box& first, const ir::Row& row);  // of cells, each distinct box once
bool is_idle(const ir::Operator& op, const Box& points);        // no point writes anything
// Regions other than groups need all of their operands, and write all of their results.
bool is_whole(const ir::Operator& op);
bool is_indexed_by(const ir::Access& access, std::size_t dim);  // whether the dim affects the cell's position
// For a reduction, bounds on reduced dims do not restrict the cells.
bool restricts_cells(const ir::Operator& op, const ir::Constraint& c);
// The box with one point per reduced dim: it determines where a result is written.
Box one_of_each_reduced(const ir::Operator& op, Box points);
// How many cells the points write that no other points write; 0 if some points within `reach` (which contains similar
// ones) may be outside the operator's domain.
std::int64_t count_of(const ir::Operator& op, const ir::Access& write, const Box& points, const Box& reach);
// The dims that determine where it writes, or whether it does.
std::vector<std::size_t> relevant_dims(const ir::Operator& op, const ir::Access& write);
// A box of all points whose writes meet the cells (preimage.cpp); it has one point per reduced dim.
Box preimage_of_write(const ir::Operator& op, const ir::Access& write, const Box& cells);
// Writes with gaps: their hull is complete once as many cells are written as it has, since no cell is written twice; or once
// all points that write into it have run on this memory. Copies may bring what is beside it.
struct WrittenCells {
  Wrote wrote = {};
  Box cells = {};
  std::int64_t count = 0;
  bool dense = true;  // no gaps between the cells
};
void add_written(const ir::Program& program, const Run& run, const WrittenCells& more, const ir::Buffer& buffer,
                 const Box& tensor, const Box& members, Contents& memory);

}  // namespace tap::check
