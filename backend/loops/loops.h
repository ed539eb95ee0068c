// The loop IR, between operators and LLVM. A Kernel computes one operator on any box of its index space; the box is
// an argument, so one kernel serves every shard. Bounds and addresses are affine in variables; a scalar is a cell
// expression whose leaves are variables (index), loads (read) and accumulators (argument).
//
//   y[i] = sum[k in 0..i+1] x[k] * w[i, k]      becomes
//
//   kernel (x: f32[8], w: f32[8, 8]) -> (y: f32[8]) over (i, k)
//     acc0: f32
//     for i in lo_i..hi_i
//       acc0 = 0.0
//       for k in lo_k..min(hi_k, i + 1)
//         acc0 = acc0 + x[k] * w[i, k]
//       y[i] = acc0
//
// A kernel schedule adds steps, unrolled loops, vector loops, arrays of accumulators, and scratch memory:
//
//     for i0 in lo_i..hi_i step 4
//       unroll i in i0 of 4                   // i0, …, i0 + 3
//         lanes j in lo_j..hi_j of 16         // j, j+1, …; lanes from hi_j on do nothing
//           acc0[i] = …                     // of four
//
// Variables: of an operator with n dims, 2d and 2d+1 are the box's lo and hi of dim d, 2n+d is dim d itself; a kernel of
// several operators (a group) defines more. An affine expression may have fewer coefficients than there are variables.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/machine.h"
#include "ir/operator.h"

namespace tap::backend {

// The kernel's own memory, row-major, for a part of a tensor; its first cell is the cell at `origin`.
struct Local {
  Shape extents;
  std::vector<ir::AffineExpr> origin;  // per axis; in variables that are constant while the part is in use
  // Its memory is that of this local tensor, whose part is not in use at the same time.
  std::optional<std::uint32_t> reuses = {};
  bool operator==(const Local&) const = default;
};
struct TensorArgument {
  std::string name;     // for people
  ir::TensorType type;  // of the whole tensor; coordinates are relative to it
  std::optional<Local> local = {};
  bool non_temporal = false;  // a result: stores of whole cache lines bypass the caches
  // The last axes that its memory has from end to end in every call, so that the distances along them and along the axis
  // before are constants (lowered.cpp).
  std::uint32_t whole = 0;
  bool operator==(const TensorArgument&) const = default;
};

// Whether memory of this shape, if it has any cells, has the axes that are whole.
bool has_known_strides(const TensorArgument& tensor, const Shape& memory);

// One coordinate of an access: affine, or the value of a cell (data-dependent).
struct Coordinate {
  ir::AffineExpr affine;
  std::optional<ir::CellId> data;
  bool checked = false;  // may be outside the tensor
  bool operator==(const Coordinate&) const = default;
};

struct Load {
  std::uint32_t tensor = 0;
  std::vector<Coordinate> at;
  std::optional<ir::CellId> fill;  // the value of cells outside; without it, a checked coordinate outside is an error
  bool anywhere = true;            // in bounds at every point of the operator's box, so it may be read early
  bool operator==(const Load&) const = default;
};

// A register, or an array of them. With lanes, each is a vector. Indices into an array are constant once loops are
// unrolled: in a slot, the variable of an unrolled loop stands for the number of the current pass.
struct Accumulator {
  ElementType type = ElementType::f32;
  std::uint32_t count = 1;
  std::uint32_t lanes = 1;
  bool operator==(const Accumulator&) const = default;
};
struct Slot {
  std::uint32_t accumulator = 0;
  ir::AffineExpr at;  // in terms of pass numbers of unrolled loops, from 0
  bool operator==(const Slot&) const = default;
};

// expr / divisor, rounded up for a lower bound, down for an upper one.
struct Bound {
  ir::AffineExpr expr;
  std::int64_t divisor = 1;
  bool operator==(const Bound&) const = default;
};

struct Statement;
enum class LoopKind : std::uint8_t {
  serial,
  unrolled,  // `count` passes from the lower bound, which need not be constant; no upper bound
  lanes,     // `count` lanes at once from the lower bound; lanes at or past an upper bound are inactive
};
// for variable in max(lower…)..min(upper…) by `step`; from the end if `descending` (the step is then 1)
struct For {
  std::uint32_t variable = 0;
  std::vector<Bound> lower;
  std::vector<Bound> upper;
  bool descending = false;
  std::vector<Statement> body;
  LoopKind kind = LoopKind::serial;
  std::int64_t step = 1;
  std::uint32_t count = 0;
  bool operator==(const For&) const;
};
// Runs the body if the affine conditions and then the cell (a bool, if given) hold.
struct Guard {
  std::vector<ir::Constraint> conditions;
  std::optional<ir::CellId> cell;
  std::vector<Statement> body;
  bool operator==(const Guard&) const;
};
struct Define {  // an index variable: the greatest of lower bounds, or the least of upper bounds
  std::uint32_t variable = 0;
  std::vector<Bound> bounds;
  bool greatest = true;
  bool operator==(const Define&) const = default;
};
struct Let {  // a data-dependent index variable: the target of a scatter
  std::uint32_t variable = 0;
  ir::CellId value;
  bool operator==(const Let&) const = default;
};
struct Assign {  // computes all values before it changes an accumulator
  std::vector<std::uint32_t> slots;
  std::vector<ir::CellId> values;
  bool operator==(const Assign&) const = default;
};
struct Store {  // likewise, before the first store
  struct Target {
    std::uint32_t tensor = 0;
    std::vector<ir::AffineExpr> at;
    ir::CellId value;
    bool operator==(const Target&) const = default;
  };
  std::vector<Target> targets;
  bool operator==(const Store&) const = default;
};
// Prefetches the cell's cache line into the second cache; with lanes, the first lane's. The cell may be outside the tensor.
struct Prefetch {
  std::uint32_t tensor = 0;
  std::vector<ir::AffineExpr> at;
  bool near = false;  // into the first cache
  bool operator==(const Prefetch&) const = default;
};
// Reduces the lanes of accumulators to one: combines the first half with the second until one is left. `values`
// combines two lanes, given by the slots `first` and `second`: one value per component.
struct FoldLanes {
  std::vector<std::uint32_t> from, to;
  std::vector<std::uint32_t> first, second;
  std::vector<ir::CellId> values;
  bool operator==(const FoldLanes&) const = default;
};
// The loops of one operation of a group. A failure inside is reported as that operation's.
struct Section {
  std::uint32_t section = 0;
  std::vector<Statement> body;
  bool operator==(const Section&) const;
};
struct Statement {
  std::variant<For, Guard, Define, Let, Assign, Store, Prefetch, FoldLanes, Section> node;
  bool operator==(const Statement&) const;
};

// The variables of an operation's dims and its operand tensors, to report the point of a failure.
struct SectionDims {
  std::vector<std::uint32_t> lo, at;
  std::vector<std::uint32_t> operands;
  bool operator==(const SectionDims&) const = default;
};

// The cells of a tensor that the points lo..hi of a dim touch: of one axis those from step * lo + low to step * (hi - 1) + high, of
// the others any.
//
//   y[i, j] = x[2*i, j] + x[2*i + 3, j]      along i: of x  axis 0, step 2, 0 to 3;  of y  axis 0, step 1, 0 to 0
struct NearCells {
  std::uint32_t axis = 0;
  std::int64_t step = 1, low = 0, high = 0;
  bool operator==(const NearCells&) const = default;
};

struct Kernel {
  std::vector<TensorArgument> tensors;  // operands, results, then local memory
  std::size_t operands = 0;
  std::size_t results = 0;
  std::size_t dims = 0;           // of the box
  bool exact_arithmetic = false;  // else acc + a*b rounds once
  // Calls may split the box along this dim, at multiples of `grain` from its start: parts share neither work nor
  // results.
  std::optional<std::size_t> tile_dim;
  std::int64_t grain = 1;
  std::int64_t worth = 1;  // the number of parts that is worth a separate call
  std::vector<std::optional<NearCells>> near =
      {};  // by operand and result, along that dim; else any cell, or not known
  std::vector<std::string> variables;
  std::vector<Accumulator> accumulators;
  std::vector<Slot> slots;
  ir::CellExprs exprs;
  std::vector<Load> loads;
  std::vector<SectionDims> sections;  // 0 is outside all sections
  std::vector<Statement> body;

  std::uint32_t lo(std::size_t dim) const { return static_cast<std::uint32_t>(2 * dim); }
  std::uint32_t hi(std::size_t dim) const { return static_cast<std::uint32_t>(2 * dim + 1); }
  std::uint32_t at(std::size_t dim) const { return static_cast<std::uint32_t>(2 * dims + dim); }
  bool operator==(const Kernel&) const;
};

// A constant operand that the kernel reads in the order of its innermost loops: `map` makes it from the operand
// (lower_prepared.cpp).
struct PreparedOperand {
  std::uint32_t operand = 0;
  ir::Operator map;
  std::vector<std::uint32_t> dims = {};  // the operator's dim of each axis of the result, except the last axis
  std::uint32_t along = 0;               // the dim whose axis counts panels
  std::int64_t step = 1;                 // points per panel
  bool operator==(const PreparedOperand&) const = default;
};

// What a kernel's loops assume about a box's extent along a dim, for callers with smaller boxes (self_check.h).
struct BoxStep {
  std::int64_t rest_of = 1;  // the extent is congruent to the whole extent modulo this; 0: it is the whole extent
  std::int64_t step = 1;     // points processed at a time
  // The dim outside this one that it is merged with: a box is contiguous in both. The rest is of both together.
  std::optional<std::uint32_t> within = {};
  bool operator==(const BoxStep&) const = default;
};

struct LowerOptions {
  bool exact_arithmetic = false;  // every float operation rounds, in source order
  bool any_box = false;           // called for any part of its box
  ir::Machine machine = {};       // does not affect results
  // By operand, whether it is constant; and, as a result, which of these the kernel needs prepared. Null: none.
  std::vector<bool> constant = {};
  std::vector<PreparedOperand>* prepared = nullptr;
  std::vector<BoxStep>* steps = nullptr;  // by dim; null: not needed
};
// Pre: the operator is a map, a reduction or a group. The kernel does not depend on names.
Kernel lower(const ir::Program& program, const ir::Operator& op, const LowerOptions& options = {});

// The cells that this one directly depends on.
std::vector<ir::CellId> needs(const Kernel& kernel, ir::CellId id);

// Whether it skips what the thread's first call on the box did: its cell reads local memory that its body changes.
bool is_first_time(const Kernel& kernel, const Guard& guard);

// The number of parts into which calls may split the box: 1 if it cannot be split.
std::int64_t tile_count(const Kernel& kernel, const ir::Box& box);
// The bytes of a call's scratch memory, and the offset of a tensor in it.
std::size_t scratch_bytes(const Kernel& kernel);
std::size_t scratch_offset(const Kernel& kernel, std::uint32_t tensor);
// The tensor whose memory this one uses: itself, unless it is local and reuses another's.
std::uint32_t memory_of(const Kernel& kernel, std::uint32_t tensor);

std::string print(const Kernel& kernel);  // loops_text.h

}  // namespace tap::backend
