// The syntax tree of a .tap file: plain values, exactly what was written, nothing resolved. Expressions live in one
// arena per module and are referred to by ExprId, so a tree of 100,000 statements is a few flat vectors.
//
//   op relu(x: T[d..]) -> (y: T[d..]) where T: number { y[i..] = max(x[i..], 0) }
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

// An optional that lies on the heap: for what few nodes have and all would otherwise carry the size of.
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

// ---- statements -----------------------------------------------------------------------------------------------------

// The left side of an equation:  y[2*i + r]
struct Cell {
  Name base;
  std::vector<ExprId> indices;
  Span span;
};
// y[i] = …     (mx[i], s[i], o[i, c]) = online[j] (…)
struct Equation {
  std::vector<Cell> left;
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
  std::optional<std::int64_t> axis;               // `on axis 1`
  std::optional<Name> dim;                        // `on k`
  std::optional<ExprId> count;                    // `into 4`
  std::vector<std::pair<ExprId, ExprId>> blocks;  // `into [a..b, …]`
  Placement placement = Placement::unspecified;   // over threads | sequential | an axis
  Rare<AxisRef> axis_ref;
};

struct Statement {
  Span span;
  std::variant<Equation, Binding, GroupStatement, BarrierStatement, SplitStatement> node;
};

// ---- declarations ---------------------------------------------------------------------------------------------------

// One item of a type's brackets:  n   batch..   broadcast(p, q)..   (h + 2*pad - kh) / stride + 1
struct DimItem {
  ExprId size;  // a NameRef for a plain dim; a PackRef for a pack; a Call broadcast(p, q) with `pack` set
  bool pack = false;
  Span span;
};
struct TypeExpr {
  Name element;  // f32, or a generic's name
  std::vector<DimItem> dims;
  Span span;
};
struct TensorParam {
  Name name;
  TypeExpr type;
  bool is_const = false;             // programs only
  std::optional<Sharding> sharding;  // programs only
};

struct Param {  // <stride: int = 1>   <e..: int>
  Name name;
  bool pack = false;
  Name kind;  // int, float, bool, type: checked when resolving
  std::optional<ExprId> default_value;
};

// where T: number, rank(q) == -1 - a
struct WhereClause {
  std::optional<Name> type_name;  // with type_class
  std::optional<Name> type_class;
  std::optional<ExprId> condition;
  Span span;
};

struct OpDecl {
  std::string doc;  // the text of its /// lines, without the slashes
  Name name;
  std::vector<Param> params;
  std::vector<TensorParam> inputs;
  std::vector<TensorParam> results;
  std::vector<WhereClause> where;
  std::vector<Statement> body;
};

// index [i: n, reduce r: k by sum, keep j: m]
struct ExternIndex {
  Name name;
  ExprId extent;
  bool keep = false;
  std::optional<Name> reduce_by;
  Span span;
};
// read x at [i - 1, 0] shape [3, m] else 0
struct ExternAccess {
  Name tensor;
  std::vector<ExprId> at;
  std::vector<ExprId> shape;
  std::optional<ExprId> fill;
  Span span;
};
struct ExternDecl {
  std::string doc;
  Name name;
  std::vector<Param> params;
  std::vector<TensorParam> inputs;
  std::vector<TensorParam> results;
  std::vector<WhereClause> where;
  std::vector<ExternIndex> index;
  std::vector<ExternAccess> reads;
  std::vector<ExternAccess> writes;
  std::string kernel;
  Span kernel_span;
  std::optional<ExprId> cost_flops;
};

struct MonoidComponent {
  Name name;
  Name type;
};
struct MonoidFold {
  Name index;
  std::vector<Name> args;
  ExprId body;
};
struct MonoidDecl {
  std::string doc;
  Name name;
  std::vector<Param> params;  // reserved: empty
  std::vector<MonoidComponent> components;
  std::vector<WhereClause> where;  // classes of its generics
  ExprId identity;                 // a Tuple, or one expression
  Name left, right;                // combine (a, b)
  ExprId combine;
  std::optional<MonoidFold> fold;
  Span identity_span, combine_span;
};

// rewrite linear(x, w, b) => add(matmul(x, w), b) when …
struct RewriteDecl {
  std::string doc;
  ExprId pattern, replacement;
  std::optional<ExprId> guard;
};

struct MeshAxis {
  Name name;
  std::int64_t size;
};
struct MeshDecl {
  Name name;
  std::vector<MeshAxis> axes;
  std::optional<std::vector<std::int64_t>> devices;
  Span devices_span;
};

struct DimDecl {
  Name name;
  ExprId value;
};  // dim batch = 1024, hidden = 4096 gives two
struct UseDecl {
  Name module;
};

struct ProgramDecl {
  std::string doc;
  Name name;
  std::vector<TensorParam> inputs;
  std::vector<TensorParam> results;
  std::vector<Statement> body;
};

struct Declaration {
  Span span;
  std::variant<UseDecl, DimDecl, MeshDecl, MonoidDecl, OpDecl, ExternDecl, RewriteDecl, ProgramDecl> node;
};

struct Module {
  FileId file;
  std::optional<std::int64_t> version;    // tap 1
  std::vector<Declaration> declarations;  // in source order
  std::vector<Expr> exprs;

  const Expr& operator[](ExprId id) const { return exprs[id.index()]; }
  ExprId add(Expr e) {
    exprs.push_back(std::move(e));
    return ExprId(exprs.size() - 1);
  }
};

}  // namespace tap::ast
