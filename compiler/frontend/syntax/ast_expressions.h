// Expressions of the syntax tree: over cells, sizes and conditions, and the whole tensors of calls and iterates; also
// the parts of expressions: names, shardings on an argument, the variables of reductions.
//
//   sum[k in 0..n] x[i, k else 0] * w[k, o]
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "support/ids.h"
#include "support/source.h"

namespace tap::ast {

using ExprId = Id<struct ExprTag>;

struct Name {
  std::string text;
  Span span;
  bool operator==(const Name&) const = default;
};

// An optional on the heap: for members that few nodes have, so that others do not carry their size.
template <class T>
class Rare {
 public:
  Rare() = default;
  Rare(std::nullopt_t) {}
  Rare(T value) : value_(std::make_unique<T>(std::move(value))) {}
  Rare(const Rare& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Rare(Rare&&) noexcept = default;
  Rare& operator=(Rare other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }

  bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }

 private:
  std::unique_ptr<T> value_;
};

enum class UnaryOp : std::uint8_t { negate, logical_not };
enum class BinaryOp : std::uint8_t {
  add,
  sub,
  mul,
  div,
  mod,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  logical_and,
  logical_or
};

// ---- expressions over cells, sizes and conditions -------------------------------------------------------------------

// An integer literal as written. `negated` is folded in for -9223372036854775808 only; the magnitude always fits u64,
// and without `negated` it fits i64.
struct IntLiteral {
  std::uint64_t magnitude = 0;
  bool negated = false;
};
struct FloatLiteral {
  double value = 0;
  std::string text;
};  // `inf` and `nan` too
struct BoolLiteral {
  bool value = false;
};
struct NameRef {
  std::string name;
};  // a variable, dim, parameter, counter, cell alias, value
struct PackRef {
  std::string name;
};  // i..
struct LinearIndex {
  std::string pack;
};  // (i..) the row-major linear index of a pack
struct Member {
  ExprId object;
  Name member;
};  // a.v   T.min   matmul.in
struct QualifiedName {
  std::vector<std::string> parts;
};  // std.linear, as the callee of a call

// x[i, j else 0]      the base is a tensor's name
struct Index {
  Name base;
  std::vector<ExprId> indices;
  std::optional<ExprId> fill;
};

// One <…> argument: stride = 2, or positional. A type name is a NameRef.
struct ParamArg {
  std::optional<Name> name;
  ExprId value;
};

// An axis in a sharding:  model   model:(1)2
struct AxisRef {
  Name name;
  std::optional<std::pair<std::int64_t, std::int64_t>> sub;  // pre-size, size
  Span span;
};
struct DimSharding {
  std::vector<AxisRef> axes;
  bool open = false;
  std::optional<std::int64_t> priority;
  Span span;
};
struct Sharding {  // pod[{data}, {model, ?}p1; replicated {x}; unreduced {model} by sum]
  Name mesh;
  std::vector<DimSharding> dims;
  std::vector<AxisRef> replicated;
  std::vector<AxisRef> unreduced;
  std::optional<Name> unreduced_monoid;
  Span span;
};

struct Arg {
  ExprId value;
  Rare<Sharding> sharding;  // X @ pod[…]: this use only
};

// exp(x)   linear(X, W, b)   conv2d<stride = 2>(x, w)   std.linear(…)   i32(x)   m[k] (…) is a Reduce instead
struct Call {
  std::vector<Name> callee;  // qualified by dots; usually one part
  std::vector<ParamArg> params;
  bool has_params = false;  // foo<>(x) has, foo(x) has not
  std::vector<Arg> args;
};
struct Unary {
  UnaryOp op;
  ExprId operand;
};
struct Binary {
  BinaryOp op;
  ExprId left, right;
  Span op_span;
};
struct If {
  ExprId condition, then_value, else_value;
};

struct LetBinding {
  Name name;
  std::optional<Name> index;  // e[j] = …   (only in a fold)
  ExprId value;
};
struct Let {
  std::vector<LetBinding> bindings;
  ExprId body;
};

// A variable bound by a reduction or a `for`:  k   k in 0..n   k..  (a pack)
struct RangeVar {
  Name name;
  bool pack = false;
  std::optional<ExprId> lo, hi;  // both or none
  Span span;
};
// sum[k] x[k] * y[k]     online[j] (t[j], 1, v[j])
struct Reduce {
  Name monoid;
  std::vector<RangeVar> vars;
  std::vector<ExprId> operands;  // one; or the components of a user monoid's operand
};
struct Tuple {
  std::vector<ExprId> items;
};

struct IterateState {
  Name name;
  ExprId initial;
};
struct Statement;
// iterate 50 (v = u0) { … }      iterate t in 0..n (x = x0, …) { …; (x2, r2) }
struct Iterate {
  Rare<Name> counter;
  ExprId lo, hi;  // `iterate 50` has lo = literal 0
  std::vector<IterateState> states;
  std::vector<Statement> body;  // the statements before the result
  std::vector<ExprId> results;  // one per state
};

struct Expr {
  Span span;
  std::variant<IntLiteral, FloatLiteral, BoolLiteral, NameRef, PackRef, LinearIndex, Member, Index, Call, Unary, Binary,
               If, Let, Reduce, Tuple, Iterate>
      node;
};

}  // namespace tap::ast
