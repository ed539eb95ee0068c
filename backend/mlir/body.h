// The body of a linalg.generic that computes an operator's cells: the sources of its reads, and a condition if the
// domain is not a box.
#pragma once

#include "backend/mlir/cells.h"
#include "backend/mlir/generic.h"

namespace tap::backend::mlir {

struct OperationText {
  const ir::Program& program;
  const ir::Operator& op;
  std::string name;                        // of the operation, for messages
  std::vector<std::string> operands = {};  // values
  std::vector<std::string> results = {};   // their values so far, from other writers; empty: none
  std::vector<std::string> counters = {};  // of the enclosing iterates, outermost first
};

class Body {
 public:
  Body(Text& text, const OperationText& in, const Loops& loops, std::vector<ir::CellId> roots);

  // Reads by an affine map become operands of the generic; the body does the others itself.
  void add_operands(Generic& generic);
  // By loop, whether cells or these constraints use its index.
  std::vector<bool> needed_loops(const std::vector<ir::Constraint>& within, bool with_cells) const;
  Cells cells_at(const GenericBody& body) const;
  // Values of these types; the previous values if the point is outside the domain.
  std::vector<std::string> where(Cells& cells, const std::vector<ir::Constraint>& within,
                                 const std::vector<std::string>& before, const std::vector<ElementType>& types,
                                 const std::function<std::vector<std::string>()>& inside) const;

 private:
  std::optional<GenericTensor> as_operand(const ir::Access& access) const;
  bool pad(const ir::Access& access, std::vector<Row>& rows, ir::TensorType& type, std::string& value) const;
  CellContext cell_context() const;

  Text& text_;
  const OperationText& in_;
  const ir::Operator& op_;
  const Loops& loops_;
  std::vector<ir::CellId> roots_;
  std::vector<CellRead> reads_;                       // by access
  std::vector<std::optional<std::size_t>> place_in_;  // likewise: its number among the operands of the generic
};

}  // namespace tap::backend::mlir
