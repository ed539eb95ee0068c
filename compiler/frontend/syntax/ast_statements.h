// Statements of the syntax tree: equations over cells, bindings of whole tensors, and annotations for their
// execution.
//
//   y[2*i + r] = x[i] for r in 0..2     H = relu(X) @ pod[{data}]     split H on axis 1 into 4
#pragma once

#include "compiler/frontend/syntax/ast_expressions.h"

namespace tap::ast {

// The left side of an equation:  y[2*i + r]
struct LeftSide {
  Name base;
  std::vector<ExprId> indices;
  Span span;
};
// y[i] = …     (mx[i], s[i], o[i, c]) = online[j] (…)
struct Equation {
  std::vector<LeftSide> left;
  bool tuple = false;  // written in parentheses
  ExprId right;
  std::vector<RangeVar> ranges;  // for i in 0..n, …
};
// H = relu(X)     (v, at) = top1(x)     u = iterate …     Y = X      whole tensors
struct Binding {
  std::vector<Name> left;
  bool tuple = false;
  ExprId right;
  Rare<Sharding> sharding;  // H = … @ pod[…]
};
struct GroupStatement {
  std::vector<Name> values;
};
enum class BarrierKind : std::uint8_t { forward, backward, both };
struct BarrierStatement {
  Name value;
  BarrierKind kind;
};
enum class Placement : std::uint8_t { unspecified, threads, sequential, mesh_axis };
// split H on axis 1 into [0..100, 100..4096]     split linear#1 on k into 4 over threads
struct SplitStatement {
  Name target;  // a value, or an operator when `instance` is set
  std::optional<std::int64_t> instance;
  std::optional<std::int64_t> axis;  // `on axis 1`
  Span axis_span;
  std::optional<Name> dim;                        // `on k`
  std::optional<ExprId> count;                    // `into 4`
  std::vector<std::pair<ExprId, ExprId>> blocks;  // `into [a..b, …]`
  Placement placement = Placement::unspecified;   // over threads | sequential | an axis
  std::optional<Name> mesh;                       // for `over pod.data`; a unique axis needs none
  Rare<AxisRef> axis_ref;
};

struct Statement {
  Span span;
  std::variant<Equation, Binding, GroupStatement, BarrierStatement, SplitStatement> node;
};

}  // namespace tap::ast
