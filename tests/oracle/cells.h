// Expressions over cells: out of the syntax tree a function that gives the value for values of the variables.
#pragma once

#include <set>

#include "tests/oracle/names.h"

namespace tap::oracle {

// A variable that an equation or a reduction binds, and its range, which may depend on those before it.
struct Variable {
  std::size_t slot;
  Eval low, high;
};

class CellCompiler {
 public:
  CellCompiler(const Library& library, std::size_t& slots)
      : library_(library), module_(library.module), slots_(slots) {}

  // What has no type of its own, as a literal, is of the `expected` one.
  Typed compile(ast::ExprId id, const Names& names, std::optional<ElementType> expected) const;
  std::optional<ElementType> natural(ast::ExprId id, const Names& names) const;
  // All components of a monoid's state.
  using StateEval = std::function<void(Frame&, std::vector<Value>& out)>;
  StateEval compile_state(ast::ExprId id, const Names& names, const std::vector<ElementType>& types) const;
  StateEval compile_reduction(const ast::Reduce& reduce, const Names& names,
                              const std::vector<ElementType>& expected) const;
  bool by_monoid(const ast::Reduce& reduce) const;
  std::vector<ElementType> state_types(const ast::Reduce& reduce, const Names& names,
                                       const std::vector<ElementType>& expected) const;

  std::int64_t number(ast::ExprId id,
                      const Names& names) const;  // a size, or a bound that depends on nothing that runs

  // ranges.cpp. Binds the names, in order, in `names`; ranges that are not written come from `reads`.
  std::vector<Variable> bind(const std::vector<ast::RangeVar>& vars, const std::vector<ast::ExprId>& reads,
                             Names& names) const;
  // The extents of the axes where the variable, or the pack, stands alone in a read below one of `reads`.
  std::optional<std::vector<std::int64_t>> extents(const std::string& name, const std::vector<ast::ExprId>& reads,
                                                   const Names& names) const;
  // For each item in the brackets the first axis and how many it takes.
  struct Axes {
    std::size_t first, count;
  };
  std::optional<std::vector<Axes>> aligned(const std::vector<ast::ExprId>& items, const Cells& tensor,
                                           const Names& names) const;
  std::size_t new_slot() const { return slots_++; }
  const Library& library() const { return library_; }
  const ast::Module& module() const { return module_; }
  const ast::PackRef* pack(ast::ExprId id) const { return std::get_if<ast::PackRef>(&module_[id].node); }

 private:
  Typed name(const std::string& name, const Names& names, std::optional<ElementType> expected) const;
  Typed member(const ast::Member& m, const Names& names, std::optional<ElementType> expected) const;
  Typed read(const ast::Index& index, const Names& names) const;
  Typed call(const ast::Call& call, const Names& names, std::optional<ElementType> expected) const;
  Typed conversion(const ast::Call& call, ElementType to, bool computing, const Names& names) const;
  Typed function(const ast::Call& call, const Names& names, std::optional<ElementType> expected) const;
  Typed operator_on_cells(const ast::Call& call, const Names& names, std::optional<ElementType> expected) const;
  Typed binary(const ast::Binary& b, const Names& names, std::optional<ElementType> expected) const;
  Typed builtin_reduction(const ast::Reduce& reduce, const Names& names, std::optional<ElementType> expected) const;
  std::vector<Eval> coordinates(const std::vector<ast::ExprId>& items, const Cells& tensor, const Names& names) const;
  std::optional<ElementType> first_natural(const std::vector<ast::ExprId>& ids, const Names& names) const;
  std::optional<ElementType> natural_of_call(const ast::Call& call, const Names& names) const;
  void reads_below(ast::ExprId id, const std::function<void(const ast::Index&)>& visit) const;

  const Library& library_;
  const ast::Module& module_;
  std::size_t& slots_;
};

// All points of the variables' ranges, the last one fastest.
void for_each_point(const std::vector<Variable>& variables, Frame& frame, const std::function<void()>& visit);

std::optional<ElementType> type_named(const std::string& name, const Names& names);
void complete(Cells& cells);  // after the last that writes it
void run_equation(const Library& library, const ast::Equation& equation, Names& names);
Value rounded_at_cell(ElementType type, Value v);

// calls.cpp: the sizes, types and parameters of one application of an operator.
struct Argument {
  ElementType type;
  Shape shape;
  bool known_type = true;  // not of a literal
};
Names bound(const Library& at, const ast::OpDecl& op, const ast::Call& call, const std::vector<Argument>& arguments,
            const Library& caller, const Names& names, std::optional<ElementType> expected);
std::shared_ptr<Cells> declared(const Library& at, const ast::TensorParam& tensor, const Names& names);

}  // namespace tap::oracle
