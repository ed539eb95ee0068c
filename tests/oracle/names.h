// What a name means at a place of the text: a tensor, a constant, a variable that runs, a pack.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "compiler/frontend/syntax/ast.h"
#include "support/tensor.h"
#include "tests/oracle/numbers.h"

namespace tap::oracle {

// A tensor, as it was declared and as it is filled. Of a local the shape is known once all that writes it was evaluated.
struct Cells {
  struct Item {  // of the brackets of its type: a dim, or the dims of a pack
    std::size_t rank = 1;
    bool pack = false;
  };
  ElementType type = ElementType::f64;
  Shape shape;
  std::vector<Item> items;  // of a local: none
  std::vector<Value> cells;

  bool complete = false, declared = false;
  std::vector<std::int64_t> coordinates;  // of what is written, a coordinate after the other
  std::vector<Value> written;

  std::size_t rank() const { return shape.size(); }
};
using Tensors = std::vector<std::shared_ptr<Cells>>;

// The variables of an equation, by slot.
struct Frame {
  std::vector<Value> slots;
  bool out_of_range = false;  // a cell is computed from a point that is not there: what it reads there does not matter
};
using Eval = std::function<Value(Frame&)>;
struct Typed {
  ElementType type;
  Eval eval;
};

struct Names;
struct Entry {
  enum Kind { variable, constant, tensor, type, sizes, variables, state, value, deferred } kind;
  ElementType element = ElementType::i64;  // of a variable, a constant, a value; what a generic is
  std::size_t slot = 0;                    // of a variable; the first of a state
  Value number = {};                       // of a constant
  std::vector<std::int64_t> numbers = {};  // the sizes of a pack of dims; the extents of a pack of variables
  std::vector<std::size_t> slots = {};     // of a pack of variables
  std::shared_ptr<Cells> cells = {};
  const ast::MonoidDecl* monoid = nullptr;  // of a state
  std::vector<ElementType> parts = {};      // of a state: what its components are
  Eval eval = {};                           // a cell that an operator is applied to
  ast::ExprId expr = {};  // of a `let`: evaluated where it is used, as the type that is expected there
  const Names* where = nullptr;
};

struct Names {
  const Names* outer = nullptr;
  std::map<std::string, Entry> own = {};

  const Entry* find(const std::string& name) const {
    for (const Names* n = this; n; n = n->outer)
      if (auto found = n->own.find(name); found != n->own.end()) return &found->second;
    return nullptr;
  }
  const Entry* find(const std::string& name, Entry::Kind kind) const {
    const Entry* entry = find(name);
    return entry && entry->kind == kind ? entry : nullptr;
  }
};

inline Entry constant(std::int64_t number) { return {.kind = Entry::constant, .number = integer(number)}; }

// The declarations of a file and of the library behind it.
struct Library {
  const ast::Module& module;
  const Library* used = nullptr;

  template <class Declaration>
  std::pair<const Declaration*, const Library*> find(const std::string& name) const {
    for (const ast::Declaration& d : module.declarations)
      if (auto* found = std::get_if<Declaration>(&d.node); found && found->name.text == name) return {found, this};
    if (used) return used->find<Declaration>(name);
    return {nullptr, nullptr};
  }
};

}  // namespace tap::oracle
