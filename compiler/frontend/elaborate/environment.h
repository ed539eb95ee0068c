// The meaning of names during elaboration: an Env is a chain of scopes, each name an Entity.
//
//   op f<k: int>(x: T[n, d..]) …   binds T (a type), n (a dim), d (a pack), k (a parameter), x (a tensor)
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "compiler/frontend/elaborate/definitions.h"
#include "compiler/frontend/syntax/ast.h"
#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap {

using VarId = Id<struct VarTag>;  // an index variable of the current equation

struct Env;
class BodyBuilder;

struct DimEntity {
  std::int64_t size;
  Span span;
};
struct PackEntity {
  Shape sizes;
  Span span;
};  // a pack of dims, or an int pack parameter
struct IntEntity {
  std::int64_t value;
  Span span;
};  // an int parameter
struct FloatValue {
  double value;
  std::optional<std::int64_t> whole;  // exactly
};
struct FloatEntity {
  FloatValue value;
  Span span;
};
struct BoolEntity {
  bool value;
  Span span;
};
struct TypeEntity {
  ElementType type;
  Span span;
};  // a generic, bound
struct CounterEntity {
  std::uint32_t depth;
  ir::Range trips;
  Span span;
};  // depth 0: the outermost iterate of the body
struct VarEntity {
  VarId var;
};
struct VarPackEntity {
  std::uint32_t pack;
};  // a pack of index variables: its number in the equation

// The form of a declared type's brackets, with the packs' ranks filled in.
struct PatternItem {
  bool pack = false;
  bool broadcast = false;
  std::size_t rank = 1;
};
struct TensorEntity {
  ir::ValueId value;
  ir::TensorType type;
  std::vector<PatternItem> pattern;  // empty for locals
  Span span;
  const BodyBuilder* owner = nullptr;
  bool complete = true;   // false while some of its cells have yet to be written
  bool poisoned = false;  // its definition had an error: uses report nothing more
};

// An expression that stands for a cell: bound by `let`, or the argument of an inlined operator. Elaborated at its uses.
struct ThunkEntity {
  ast::ExprId expr;
  const Env* env = nullptr;
  const std::string* fold_index = nullptr;  // e[j] = … in a fold
  std::optional<ElementType> type;          // the type of literals
  Span span;
  // For an argument: the number of operators that were being inlined at its source. Names are resolved there.
  std::optional<std::size_t> inlined_in = {};
};
// a and b of `combine (a, b)`: components are arguments first … first + n - 1 of the monoid.
struct StateEntity {
  std::uint32_t first;
  const std::vector<ir::MonoidComponent>* components;
};
// An operand of a fold, read as t[j].
struct FoldOperandEntity {
  std::uint32_t argument;
  ElementType type;
};

using Entity = std::variant<DimEntity, PackEntity, IntEntity, FloatEntity, BoolEntity, TypeEntity, CounterEntity,
                            VarEntity, VarPackEntity, TensorEntity, ThunkEntity, StateEntity, FoldOperandEntity>;

struct Env {
  const Env* parent = nullptr;
  const ast::Module* module = nullptr;
  const ModuleScope* scope = nullptr;
  std::unordered_map<std::string, Entity> names;

  // A scope inside `outer`, which must outlive it.
  static Env inside(const Env& outer) {
    Env env;
    env.parent = &outer;
    env.module = outer.module;
    env.scope = outer.scope;
    return env;
  }

  const Entity* find(const std::string& name) const {
    for (const Env* env = this; env; env = env->parent)
      if (auto found = env->names.find(name); found != env->names.end()) return &found->second;
    return nullptr;
  }
  // The innermost entity of that sort: an index variable may have a tensor's name.
  template <class T>
  const T* find_as(const std::string& name) const {
    for (const Env* env = this; env; env = env->parent)
      if (auto found = env->names.find(name); found != env->names.end())
        if (auto* entity = std::get_if<T>(&found->second)) return entity;
    return nullptr;
  }
  const ast::Expr& operator[](ast::ExprId id) const { return (*module)[id]; }
};

}  // namespace tap
