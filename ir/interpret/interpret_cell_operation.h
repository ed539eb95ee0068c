// Evaluates an operation over cells (a map or a reduction) over the loops of its domain. Reductions that can run in
// linear work do so (interpret_shortcuts.cpp); the others follow the definition.
#pragma once

#include "ir/interpret/interpret_operation.h"
#include "ir/interpret/interpret_reduce.h"
#include "ir/interpret/linear_reductions.h"

namespace tap::ir::oracle {

using Dims = std::vector<std::uint32_t>;

// One write access, ready for evaluation.
struct Writer {
  Datum* datum;
  std::vector<Reader::Axis> axes;
  std::vector<bool> written;  // only with invariant dims: the first point of those writes
};

class CellOperation {
 public:
  CellOperation(const OperationInput& input, const std::vector<Datum*>& results);
  void run();

 private:
  void run_map(const MapBody& body);
  void run_reduce(const ReduceBody& body);
  void reduce_each_cell();
  void reduce_by_scan(const Scan& scan);
  bool reduce_by_scatter(const Scatter& scatter);
  enum class Term { added, not_taken, uncertain };
  Term scatter_term(const Scatter& scatter, const std::vector<BlockId>& blocks,
                    const std::vector<Constraint>& on_targets);
  std::vector<BlockId> compile_guards(const Scatter& scatter);

  void evaluate_operands();
  void write(std::size_t number, const Cell& cell);
  void write_state(const ComponentState* state);
  ComponentState* state_at_targets(const Scatter& scatter);

  Dims dims_with_role(DimRole role) const;
  std::vector<Constraint> constraints_without(const Dims& dims) const;
  std::vector<Constraint> constraints_on(const Dims& dims, const Dims& except_dims) const;
  std::string where() const;

  const OperationInput& in_;
  const Operator& op_;
  Point point_;
  Dims parallel_, reduced_;
  CellEvaluator cells_;
  std::vector<Writer> writers_;

  // Reductions only.
  std::optional<Combiner> combiner_;
  BlockId operand_block_;
  std::vector<Cell> operands_;
  std::vector<ComponentState> states_;  // of one cell; for a scatter, of every cell of the targets' dims
};

}  // namespace tap::ir::oracle
