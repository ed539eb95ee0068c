// Declarations of the syntax tree: operators, outside kernels, monoids, rewrites, meshes, dims, programs.
//
//   op sum_axis<a: int>(x: T[p.., n, q..]) -> (y: T[p.., q..]) where T: number, rank(p) == a { … }
#pragma once

#include "compiler/frontend/syntax/ast_statements.h"

namespace tap::ast {

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

}  // namespace tap::ast
