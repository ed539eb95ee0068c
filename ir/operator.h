// Operators: an index space, one projection per access, a body. This is all that a pass may know about an operation.
// Sizes are concrete: the front end specialises an `op` for the shapes, types and parameters of a call.
//
//   y[i, o] = sum[k] x[i, k] * w[k, o]
//     dims   i: parallel 0..n,  o: parallel 0..m,  k: reduction 0..l
//     reads  x at [i, k],  w at [k, o]
//     writes y at [i, o]
//     body   reduce by sum of read(0) * read(1)
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/blocks.h"
#include "ir/cell.h"
#include "ir/graph_ids.h"
#include "ir/monoid.h"
#include "ir/projection.h"

namespace tap::ir {

struct TensorType {
  ElementType element = ElementType::f32;
  Shape shape;
  bool operator==(const TensorType&) const = default;
};
std::string to_string(const TensorType& type);  // f32[2, 3]

enum class DimRole : std::uint8_t {
  parallel,
  reduction,
  counter,  // the counter of an enclosing iterate: its points are the trips, each application has exactly one
};

struct IndexDim {
  std::string name;
  Range range;
  DimRole role = DimRole::parallel;
  bool keep = false;        // must not be split (outside kernels)
  std::uint32_t level = 0;  // counter only: 0 is the innermost enclosing iterate
  bool operator==(const IndexDim&) const = default;
};

// A blocked dim: for a given value r of `block_dim` it runs over block r only. A later blocking of the same dim divides
// the block that the earlier ones left (by ceil). Several dims may follow one block dim.
//
//   p[r, i] = sum[k in block r] x[i, k]    dims r, i, k and the blocking {k, r, 4}
//
// A block dim is parallel, and its points are separate applications. For a reduction dim it may itself be a reduction
// dim: then k is only processed block after block, and no cell or access uses the block dim.
struct Blocking {
  std::uint32_t dim = 0;
  std::uint32_t block_dim = 0;
  Blocks blocks;
  bool operator==(const Blocking&) const = default;
};

// One access to one tensor. A tensor that is read in two places has two.
struct Access {
  std::uint32_t tensor = 0;  // number of the operand (reads) or result (writes)
  Projection projection;
  // Reads only. By axis, the coordinate's value if it is data-dependent: the projection then covers that whole axis
  // (start 0, shape the extent). Empty if no axis is.
  std::vector<std::optional<CellId>> coordinates;
  // Reads only: the value (for an outside kernel, a constant) of cells outside the tensor. Without it, every read is
  // proved to be inside; a data-dependent coordinate out of range is then a run-time error.
  std::optional<CellId> fill;
  // Writes only: parallel dims on which this result provably does not depend and that the projection does not use.
  // Points that differ only in them write the same value to the same cell.
  std::vector<std::uint32_t> invariant_dims;
  bool operator==(const Access&) const = default;
};

struct MapBody {
  std::vector<CellId> values;  // one per write
  bool operator==(const MapBody&) const = default;
};
struct ReduceBody {
  MonoidId monoid;
  std::vector<CellId> operands;  // one per component; write k holds component k
  bool operator==(const ReduceBody&) const = default;
};
struct KernelBody {  // an outside kernel
  std::string symbol;
  std::optional<std::int64_t> flops;   // per index point
  std::optional<MonoidId> reduced_by;  // if there are reduction dims
  bool operator==(const KernelBody&) const = default;
};
enum class RegionKind : std::uint8_t { call, iterate, group, choice };

// A dim of a group's operator, and the corresponding dim of one of its inner operations.
struct GroupAnchor {
  std::uint32_t dim = 0;
  std::uint32_t operation = 0;
  std::uint32_t inner_dim = 0;
  bool operator==(const GroupAnchor&) const = default;
};
// An alternative to a choice's first graph, equal by a rule.
struct Alternative {
  GraphId graph;
  std::string rule;  // the rewrite's line
  bool operator==(const Alternative&) const = default;
};

// An inner graph. Its inputs are the operator's operands in order, its outputs the operator's results.
//
// - A `call` is a use of a named op that was kept for rewrites.
// - Of an `iterate` the first results.size() inputs are the state, the rest is captured unchanged; the counter runs
//   over `trips`.
// - A `choice` computes what `graph` or any of `alternatives` computes; the plan picks.
// - A `group` is a graph whose operations run together over the index space of the dims that they share: for a box of
//   the group's dims, each inner operation is applied to the box that its `anchors` and the demand of its consumers
//   give it. Inner values keep their whole shape and their own coordinates, so a group's value is that of its graph;
//   only at run time does just a box of an inner value exist. The group's reads and writes are regions.
//
// The dims, reads and writes of the other kinds are empty.
struct RegionBody {
  RegionKind kind = RegionKind::call;
  GraphId graph;
  Range trips = {};                            // iterate
  std::vector<GroupAnchor> anchors = {};       // group
  std::vector<Alternative> alternatives = {};  // choice
  bool operator==(const RegionBody&) const = default;
};
// A copy of its operand, cell for cell, of which only the regions of the reads are needed: the cells of a value that
// one consumer reads, moved to where it runs. The dims are the consumer's, each read is one of its accesses, and the
// write of the same number has the same projection.
struct TransferBody {
  bool operator==(const TransferBody&) const = default;
};
using Body = std::variant<MapBody, ReduceBody, KernelBody, RegionBody, TransferBody>;

struct Operator {
  std::string name;  // for people; passes must not depend on it
  std::vector<IndexDim> dims;
  std::vector<Constraint> constraints;  // on dims; the domain is the box of ranges, restricted by these …
  std::vector<Blocking> blockings;      // … and by these
  std::vector<TensorType> operands;
  std::vector<TensorType> results;  // types of the whole values, even if only a part is written
  std::vector<Access> reads;
  std::vector<Access> writes;
  CellExprs exprs;
  Body body;
  // For people, like the name: x, w and y. Either empty or one per operand and per result.
  std::vector<std::string> operand_names;
  std::vector<std::string> result_names;

  Box box() const;
  Domain domain() const { return {box(), constraints}; }  // without the blockings
  std::vector<std::string> dim_names() const;
  const MapBody* map() const { return std::get_if<MapBody>(&body); }
  const ReduceBody* reduce() const { return std::get_if<ReduceBody>(&body); }
  const KernelBody* kernel() const { return std::get_if<KernelBody>(&body); }
  const RegionBody* region() const { return std::get_if<RegionBody>(&body); }
  const TransferBody* transfer() const { return std::get_if<TransferBody>(&body); }
  bool operator==(const Operator&) const = default;
};

// `box`, reduced by the blockings whose block dim has only one value in it. Other blockings do not change it.
Box narrowed(const Operator& op, Box box);
// Whether the dim is the number of a block.
bool is_block_dim(const Operator& op, std::uint32_t dim);

// A hash of everything except names (of the operator, its dims, operands and results); of the cells, only of those that
// are needed, in any order. equal_structure ignores the same.
std::size_t structural_hash(const Operator& op);
bool equal_structure(const Operator& a, const Operator& b);

// The cell as an affine function of the index dims, if it is one.
std::optional<AffineExpr> as_affine(const Operator& op, CellId cell);
// The constraints under which a boolean cell is true (with `negated`: false), if they are a conjunction of affine
// constraints.
std::optional<std::vector<Constraint>> as_constraints(const Operator& op, CellId condition, bool negated);

}  // namespace tap::ir
