// Cell expressions: the scalar computation at one index point. A DAG in an arena, hash-consed: structurally equal
// nodes have one id, so `==` on ids is equality and a `let` is just a shared node. `select`, `logical_and` and
// `logical_or` are lazy: operands that are not selected are not read and cannot fail.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "support/element_type.h"
#include "support/ids.h"

namespace tap::ir {

using CellId = Id<struct CellTag>;
using MonoidId = Id<struct MonoidTag>;

// A constant of any element type: integers and bool in `i`, floats in `f` (already rounded to the type).
struct Scalar {
  ElementType type = ElementType::i64;
  std::int64_t i = 0;
  double f = 0;

  static Scalar integer(ElementType type, std::int64_t value) { return {type, value, 0}; }
  static Scalar floating(ElementType type, double value);
  static Scalar boolean(bool value) { return {ElementType::boolean, value, 0}; }
  static Scalar zero(ElementType type);
  static Scalar one(ElementType type);
  static Scalar least(ElementType type);       // T.min: -inf for floats, false for bool
  static Scalar greatest(ElementType type);    // T.max
  bool operator==(const Scalar& other) const;  // bitwise; any nan equals any nan, and -0.0 != 0.0
};
std::string to_string(const Scalar& s);  // the shortest decimal that reads back exactly

enum class CellOp : std::uint8_t {
#define TAP_CELL_OP(name, spelling, arity, kind, arguments, result) name,
#include "ir/cell_ops.def"
};

enum class CellKind : std::uint8_t {
  leaf,
  arithmetic,
  comparison,
  logical,
  function,
  integer_function,
  cast,
  lazy,
  reduction
};
// The element types of an operation's arguments, which share one type. `choice`: bool, then two of the result's type.
enum class CellArguments : std::uint8_t { none, numbers, floats, integers, bools, any, choice };
enum class CellResult : std::uint8_t { own, same, boolean };  // own: of the node; same: of the arguments

struct CellOpInfo {
  std::string_view name;
  std::string_view spelling;  // as printed: an operator or a function's name
  int arity;
  CellKind kind;
  CellArguments arguments;
  CellResult result;
};
const CellOpInfo& info(CellOp op);
inline constexpr std::size_t cell_op_count = 0
#define TAP_CELL_OP(name, spelling, arity, kind, arguments, result) +1
#include "ir/cell_ops.def"
    ;

// Whether the (first) argument may have this type. accepts(CellArguments::numbers, i32), but not bool
bool accepts(CellArguments arguments, ElementType type);
std::string_view argument_description(CellArguments arguments);  // a number, a float, …
bool is_strict(CellOp op);  // computes its result from all of its arguments, and nothing else

struct CellNode {
  CellOp op = CellOp::constant;
  ElementType type = ElementType::f32;  // of the result; a cast's source type is its argument's
  std::uint32_t attribute = 0;          // index: the dim; read: the access; argument: its number; reduce: the monoid
  Scalar value;                         // constant only
  std::vector<CellId> args;
  bool operator==(const CellNode&) const = default;
};

class CellExprs {
 public:
  // Returns the id of an equal node if there is one. Does not fold constants: simplify does.
  CellId add(CellNode node);
  CellId constant(Scalar value);
  CellId index(std::uint32_t dim) { return add({CellOp::index, ElementType::i64, dim, {}, {}}); }
  CellId read(std::uint32_t access, ElementType type) { return add({CellOp::read, type, access, {}, {}}); }
  CellId argument(std::uint32_t number, ElementType type) { return add({CellOp::argument, type, number, {}, {}}); }
  CellId apply(CellOp op, ElementType type, std::vector<CellId> args) {
    return add({op, type, 0, {}, std::move(args)});
  }
  CellId cast(CellId value, ElementType type);  // value itself if it has the type already

  const CellNode& operator[](CellId id) const { return nodes_[id.index()]; }
  std::size_t size() const { return nodes_.size(); }
  bool operator==(const CellExprs& other) const { return nodes_ == other.nodes_; }

 private:
  std::vector<CellNode> nodes_;
  std::unordered_multimap<std::size_t, CellId> by_hash_;
};
std::size_t hash_of(const CellNode& node);

// The roots and all that they depend on, each once, arguments before their users (the arena's order).
std::vector<CellId> reachable_from(const CellExprs& exprs, const std::vector<CellId>& roots);

}  // namespace tap::ir
