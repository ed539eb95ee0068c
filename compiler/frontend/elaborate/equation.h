// Turns one equation into one block operation (a map, or one reduction of a map), after the operations for its inner
// reductions.
#pragma once

#include "compiler/frontend/cells/cells.h"
#include "compiler/frontend/elaborate/body.h"

namespace tap {

class EquationBuilder {
 public:
  EquationBuilder(Elaboration& elaboration, BodyBuilder& body, const ast::Equation& equation, Span span);
  // Appends to the body's pending writers.
  void build();

 private:
  void warn_of_partly_read_axes();
  void map_values();
  void reduce_root(const ast::Reduce& reduce);
  // A reduction by a monoid of several components: one operand, type and write per component.
  struct TupleReduction {
    const ir::Monoid& monoid;
    std::vector<ElementType> component_types;  // as in the program; the monoid may compute in wider ones
    std::vector<VarId> reduction;
    std::vector<ir::CellId> operands;
    std::vector<ElementType> types;
    std::vector<std::set<VarId>> operand_vars;
    std::vector<FrameWrite> writes;
  };
  void reduce_tuple(const ast::Reduce& reduce);
  void tuple_operand(const ast::Reduce& reduce, const Env& scope, std::size_t i, TupleReduction& parts);
  void drop_indices(const ast::Reduce& reduce, TupleReduction& parts);
  void reduce_without(const std::set<VarId>& empty, const TupleReduction& parts);
  std::vector<FrameWrite> writes(const std::vector<ElementType>& types);
  std::optional<ElementType> declared_type(std::size_t i) const;
  ElementType require_type(std::size_t i, ElementType actual, ast::ExprId value);
  void emit(std::vector<ir::CellId> roots, ir::Body body, const std::vector<VarId>& parallel,
            const std::vector<VarId>& reduction, const std::vector<FrameWrite>& writes,
            const std::vector<std::size_t>& targets, Frame& frame);
  BodyBuilder::Target& target(std::size_t i);

  Elaboration& elaboration_;
  BodyBuilder& body_;
  const ast::Equation& equation_;
  Span span_;
  IndexSpace space_;
  Env& env_;
  CellElaborator cells_;
  Frame frame_;
};

}  // namespace tap
