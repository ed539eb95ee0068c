// Cells as MLIR scalar operations in the body of a linalg.generic: arith and math, scf.if for lazy operands.
//
//   max(x, 0)                          %m = arith.maximumf %x, %zero : f32
//   if i > 0 then x[i - 1] else 0      %r = scf.if %positive -> (f32) { … tensor.extract … } else { … }
//
// f16 and bf16 are computed in f32, as everywhere within an equation. A condition that would be a run-time error (an
// id out of range, an integer division by zero) becomes an assertion, executed only where the program would evaluate
// it.
#pragma once

#include "backend/mlir/text.h"

namespace tap::backend::mlir {

// How an access gets its cell: as an argument of the body, or by extracting it from the tensor.
struct CellRead {
  std::string argument = {};
  std::string tensor = {};
  ir::TensorType type = {};
};

// The context of cells: index values by dim, if a cell uses them; the sources of reads; a monoid's arguments, in their
// computation type.
struct CellContext {
  const ir::CellExprs* exprs = nullptr;
  std::vector<std::string> indices = {};
  const std::vector<ir::Access>* accesses = nullptr;
  std::vector<CellRead> reads = {};
  std::vector<std::string> arguments = {};
  std::string operation = {};  // its name, for messages
};

class Cells {
 public:
  Cells(Text& text, CellContext context);

  void compute(const std::vector<ir::CellId>& roots);
  // The value of a computed cell, in its computation type.
  const std::string& operator[](ir::CellId id) const { return known_[id.index()]; }
  // By dim, whether these cells use its index.
  std::vector<bool> needed_indices(const std::vector<ir::CellId>& roots) const;
  // Whether the point satisfies the constraints: an i1, or nothing if there are none.
  std::string inside(const std::vector<ir::Constraint>& constraints);

 private:
  using Needs = std::vector<ir::CellId> (Cells::*)(ir::CellId) const;
  std::vector<ir::CellId> post_order(const std::vector<ir::CellId>& roots, Needs needs, bool with_known) const;
  std::vector<ir::CellId> strict_needs(ir::CellId id) const;
  std::vector<ir::CellId> all_needs(ir::CellId id) const;
  bool may_fail(ir::CellId id) const;
  bool is_total(ir::CellId id);

  std::string write(ir::CellId id);
  std::string read(const ir::CellNode& node);
  std::string extract(const CellRead& from, ElementType type, const std::vector<std::string>& at);
  std::string lazy(const ir::CellNode& node);
  template <class Then, class Else>
  std::string branch(const std::string& condition, std::string_view type, Then then_value, Else else_value);
  std::string in_branch(ir::CellId id);
  std::string coordinate(ir::CellId id);
  std::string affine(const ir::AffineExpr& expr);

  Text& text_;
  CellContext context_;
  std::vector<std::string> known_;
  std::vector<std::size_t> trail_;  // cells in the order they were computed: a branch removes its own at its end
  std::vector<int> total_;          // -1: not yet computed
};

}  // namespace tap::backend::mlir
