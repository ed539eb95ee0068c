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

// Memory of the kernel's own, row-major, for a part of a tensor: the cell at `origin` is its first.
struct Local {
  Shape extents;
  std::vector<ir::AffineExpr> origin;  // per axis; of variables that do not change while the part is in use
  bool operator==(const Local&) const = default;
};
struct TensorArgument {
  std::string name;     // for people
  ir::TensorType type;  // of the whole tensor, in which coordinates lie
  std::optional<Local> local = {};
  bool operator==(const TensorArgument&) const = default;
};

// One coordinate of an access: affine, or the value of a cell (data-dependent).
struct Coordinate {
  ir::AffineExpr affine;
  std::optional<ir::CellId> data;
  bool checked = false;  // may lie outside the tensor
  bool operator==(const Coordinate&) const = default;
};

struct Load {
  std::uint32_t tensor = 0;
  std::vector<Coordinate> at;
  std::optional<ir::CellId> fill;  // stands for cells outside; without it a checked coordinate outside is an error
  bool anywhere = true;            // inside the tensor at every point of the operator's box, so it may be read early
  bool operator==(const Load&) const = default;
};

// A register, or an array of them. With lanes, each is a vector. Which one of an array is meant is a number once loops are
// unrolled: in a slot, the variable of an unrolled loop stands for how often the loop has gone round.
struct Accumulator {
  ElementType type = ElementType::f32;
  std::uint32_t count = 1;
  std::uint32_t lanes = 1;
  bool operator==(const Accumulator&) const = default;
};
struct Slot {
  std::uint32_t accumulator = 0;
  ir::AffineExpr at;  // of how often unrolled loops have gone round, from 0
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
  unrolled,  // `count` times from the lower bound on, which need not be a number; no upper bound
  lanes,  // all at once, `count` of them, from the lower bound on; those from the upper bound on, if there is one, do nothing
};
// for variable in max(lower…)..min(upper…) by `step`, from the end if `descending` (then the step is 1)
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
struct Define {  // an index variable: the greatest of lower bounds, or the least of upper ones
  std::uint32_t variable = 0;
  std::vector<Bound> bounds;
  bool greatest = true;
  bool operator==(const Define&) const = default;
};
struct Let {  // an index variable from data: where a scatter goes
  std::uint32_t variable = 0;
  ir::CellId value;
  bool operator==(const Let&) const = default;
};
struct Assign {  // all values are computed before the first accumulator changes
  std::vector<std::uint32_t> slots;
  std::vector<ir::CellId> values;
  bool operator==(const Assign&) const = default;
};
struct Store {  // likewise: all values before the first store
  struct Target {
    std::uint32_t tensor = 0;
    std::vector<ir::AffineExpr> at;
    ir::CellId value;
    bool operator==(const Target&) const = default;
  };
  std::vector<Target> targets;
  bool operator==(const Store&) const = default;
};
// Asks for the cell's line of memory, of lanes for that of the first. It need not be in the tensor.
struct Fetch {
  std::uint32_t tensor = 0;
  std::vector<ir::AffineExpr> at;
  bool operator==(const Fetch&) const = default;
};
// Combines the lanes of accumulators into accumulators of one lane: the first half with the second, until one is left.
// `values` says how two lanes combine: of the slots `first` and `second`, which stand for the two, one value per component.
struct FoldLanes {
  std::vector<std::uint32_t> from, to;
  std::vector<std::uint32_t> first, second;
  std::vector<ir::CellId> values;
  bool operator==(const FoldLanes&) const = default;
};
// The loops of one operation of a group. A failure inside is reported as its failure.
struct Section {
  std::uint32_t section = 0;
  std::vector<Statement> body;
  bool operator==(const Section&) const;
};
struct Statement {
  std::variant<For, Guard, Define, Let, Assign, Store, Fetch, FoldLanes, Section> node;
  bool operator==(const Statement&) const;
};

// Where in the variables the dims of an operation are and which tensors are its operands, for reporting at which point of
// what it failed.
struct SectionDims {
  std::vector<std::uint32_t> lo, at;
  std::vector<std::uint32_t> operands;
  bool operator==(const SectionDims&) const = default;
};

struct Kernel {
  std::vector<TensorArgument> tensors;  // operands, results, then memory of its own
  std::size_t operands = 0;
  std::size_t results = 0;
  std::size_t dims = 0;           // of the box
  bool exact_arithmetic = false;  // else acc + a*b rounds once
  // Calls may cut the box along this dim, at multiples of `grain` from its beginning: no two parts share work or results.
  std::optional<std::size_t> cut;
  std::int64_t grain = 1;
  std::int64_t worth = 1;  // so many such parts are worth a call of their own
  std::vector<std::string> variables;
  std::vector<Accumulator> accumulators;
  std::vector<Slot> slots;
  ir::CellExprs exprs;
  std::vector<Load> loads;
  std::vector<SectionDims> sections;  // 0 is what stands outside all
  std::vector<Statement> body;

  std::uint32_t lo(std::size_t dim) const { return static_cast<std::uint32_t>(2 * dim); }
  std::uint32_t hi(std::size_t dim) const { return static_cast<std::uint32_t>(2 * dim + 1); }
  std::uint32_t at(std::size_t dim) const { return static_cast<std::uint32_t>(2 * dims + dim); }
  bool operator==(const Kernel&) const;
};

// An operand that the kernel wants in the order in which its innermost loops take it, since it is the same in every run: it
// is given what the map makes of the operand (lower_prepared.cpp).
struct PreparedOperand {
  std::uint32_t operand = 0;
  ir::Operator map;
  std::vector<std::uint32_t> dims = {};  // of the operator, by axis of what it makes: the last one has no dim
  std::uint32_t along = 0;               // whose axis counts panels
  std::int64_t step = 1;                 // points of a panel
  bool operator==(const PreparedOperand&) const = default;
};

// What a kernel's loops assume of the size of a box along a dim, for those who call it on smaller ones (self_check.h).
struct BoxStep {
  std::int64_t rest_of = 1;  // the size leaves the same rest by this as the whole; 0: it is that of the whole
  std::int64_t step = 1;     // so many points are done at a time
  bool operator==(const BoxStep&) const = default;
};

struct LowerOptions {
  bool exact_arithmetic = false;  // every float operation rounds, in the order of the source
  bool any_box = false;           // is called for any part of its box
  ir::Machine machine = {};       // changes no result
  // By operand, whether it is the same in every run; and which of these the kernel wants prepared. Null: none.
  std::vector<bool> constant = {};
  std::vector<PreparedOperand>* prepared = nullptr;
  std::vector<BoxStep>* steps = nullptr;  // by dim; null: not needed
};
// Pre: the operator is a map, a reduction or a group. Names play no part in what is computed.
Kernel lower(const ir::Program& program, const ir::Operator& op, const LowerOptions& options = {});

// The cells that this one depends on at once.
std::vector<ir::CellId> needs(const Kernel& kernel, ir::CellId id);

// Into how many parts calls may cut the box: 1 if it cannot be split.
std::int64_t tile_count(const Kernel& kernel, const ir::Box& box);
// Bytes that a call needs for memory of the kernel's own, and where in them that of a tensor begins.
std::size_t scratch_bytes(const Kernel& kernel);
std::size_t scratch_offset(const Kernel& kernel, std::uint32_t tensor);

std::string print(const Kernel& kernel);  // loops_text.h

}  // namespace tap::backend
