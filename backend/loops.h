// The loop IR: what stands between an operator and LLVM. A Kernel computes one operator on any box of its index space;
// the box is an argument, so one kernel serves every shard. Bounds and addresses are affine in variables; a scalar is a
// cell expression whose leaves are variables (index), loads (read) and accumulators (argument).
//
//   y[i] = sum[k in 0..i+1] x[k] * w[i, k]      becomes
//
//   kernel (x: f32[8], w: f32[8, 8]) -> (y: f32[8])
//     for i in lo.i..hi.i
//       acc0: f32 = 0.0
//       for k in lo.k..min(hi.k, i + 1)
//         acc0 = acc0 + x[k] * w[i, k]
//       y[i] = acc0
//
// Variables: of an operator with n dims, 2d and 2d+1 are the box's lo and hi of dim d, 2n+d is dim d itself.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/graph.h"

namespace tap::backend {

struct TensorArgument {
  std::string name;  // for people
  ir::TensorType type;
  bool operator==(const TensorArgument&) const = default;
};

// One coordinate of an access: affine, or the value of a cell (data-dependent).
struct Coordinate {
  ir::AffineExpr affine;
  std::optional<ir::CellId> data;
  bool checked = false;  // may lie outside of the tensor
  bool operator==(const Coordinate&) const = default;
};

struct Load {
  std::uint32_t tensor = 0;
  std::vector<Coordinate> at;
  std::optional<ir::CellId> fill;  // stands for cells outside; without it a checked coordinate outside is an error
  bool anywhere = true;            // inside the tensor at every point of the operator's box, so it may be read early
  bool operator==(const Load&) const = default;
};

// expr / divisor, rounded up for a lower bound, down for an upper one.
struct Bound {
  ir::AffineExpr expr;
  std::int64_t divisor = 1;
  bool operator==(const Bound&) const = default;
};

struct Statement;
// for variable in max(lower…)..min(upper…), from the end if `descending`
struct For {
  std::uint32_t variable = 0;
  std::vector<Bound> lower;
  std::vector<Bound> upper;
  bool descending = false;
  std::vector<Statement> body;
  bool operator==(const For&) const;
};
// Runs the body if the affine conditions and then the cell (a bool, if given) hold.
struct Guard {
  std::vector<ir::Constraint> conditions;
  std::optional<ir::CellId> cell;
  std::vector<Statement> body;
  bool operator==(const Guard&) const;
};
struct Let {  // an index variable from data: where a scatter goes
  std::uint32_t variable = 0;
  ir::CellId value;
  bool operator==(const Let&) const = default;
};
struct Assign {  // all values are computed before the first accumulator changes
  std::vector<std::uint32_t> accumulators;
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
struct Statement {
  std::variant<For, Guard, Let, Assign, Store> node;
  bool operator==(const Statement&) const;
};

struct Kernel {
  std::vector<TensorArgument> tensors;  // operands, then results
  std::size_t operands = 0;
  std::size_t dims = 0;  // of the box
  std::vector<std::string> variables;
  std::vector<ElementType> accumulators;
  ir::CellExprs exprs;
  std::vector<Load> loads;
  std::vector<Statement> body;

  std::uint32_t lo(std::size_t dim) const { return static_cast<std::uint32_t>(2 * dim); }
  std::uint32_t hi(std::size_t dim) const { return static_cast<std::uint32_t>(2 * dim + 1); }
  std::uint32_t at(std::size_t dim) const { return static_cast<std::uint32_t>(2 * dims + dim); }
  bool operator==(const Kernel&) const;
};

// Pre: the operator is a map or a reduction. Names play no part in what is computed.
Kernel lower(const ir::Program& program, const ir::Operator& op);

std::string print(const Kernel& kernel);

}  // namespace tap::backend
