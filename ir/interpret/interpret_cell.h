// Evaluates cell expressions at one index point after another. An expression is compiled into blocks: the steps that
// its root always needs, in order; each argument that is needed only sometimes (a branch of `if`, the right side of
// `and`, the fill of a read) is a separate block, run on demand. A node is computed at most once per point, and only
// if it is needed.
//
//   CellEvaluator cells(op.exprs, with_bounds);
//   auto block = cells.compile({root});
//   cells.begin_point();  cells.run(block);  cells[root].value.f
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/interpret/interpret_number.h"
#include "ir/operator.h"
#include "support/tensor.h"

namespace tap::ir::oracle {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// A value and, if bounds are requested, how far another order of evaluation may be from it (0: exact).
struct Cell {
  Number value{.i = 0};
  double error = 0;
};

// A tensor with the errors of its cells; no `bound` if they are all exact, or not requested.
struct Datum {
  Tensor value;
  Tensor bound;
  bool has_bound() const { return bound.size() > 0; }
};

// One read access, ready for evaluation.
struct Reader {
  struct Axis {
    std::vector<std::pair<std::uint32_t, std::int64_t>> terms;  // (dim, coefficient)
    std::int64_t offset;
    std::int64_t extent;
    std::int64_t stride;
    std::optional<CellId> coordinate;  // instead, where it is data-dependent
  };
  const Datum* datum = nullptr;
  std::string name;  // of the tensor, for messages
  std::vector<Axis> axes;
  std::optional<CellId> fill;
};

using BlockId = Id<struct BlockTag>;

class CellEvaluator {
 public:
  CellEvaluator(const CellExprs& exprs, bool with_bounds);

  // Call before compile: the readers, by access number, and the point for index values and accesses.
  void bind(std::vector<Reader> readers, const Point* point);

  BlockId compile(const std::vector<CellId>& roots);

  void begin_point() { ++now_; }
  void run(BlockId block);  // throws CellFailure
  const Cell& operator[](CellId id) const { return cells_[id.index()]; }
  void expect_arguments(std::size_t count) { arguments_.resize(count); }
  Cell& argument(std::size_t number) { return arguments_[number]; }

 private:
  struct Step {
    CellOp op;
    ElementType type;
    ElementType operand_type;
    bool floating;  // of the operands
    std::uint32_t attribute;
    std::uint32_t args[3];
    BlockId lazy[2];  // select: then, else; and, or: the right side; read: the fill
  };
  using Block = std::vector<std::uint32_t>;  // nodes in the order of evaluation

  Step make_step(CellId id);
  BlockId block_of(CellId root);
  std::vector<CellId> strict_needs(CellId id) const;
  Block order(const std::vector<CellId>& roots) const;

  Cell compute(const Step& step);
  Cell strict(const Step& step) const;
  Cell lazy(const Step& step);
  Cell either(const Step& step, const Cell& condition);
  Cell follow(const Step& step);
  const Cell& demand(BlockId block, std::uint32_t node);
  const Cell* speculate(BlockId block, std::uint32_t node);

  const CellExprs& exprs_;
  bool with_bounds_;
  std::vector<Reader> readers_;
  const Point* point_ = nullptr;
  std::vector<Step> steps_;  // by node
  std::vector<Block> blocks_;
  std::vector<BlockId> block_by_root_;
  std::vector<CellId> pending_;          // roots whose block has an id but no code yet
  std::vector<Cell> cells_;              // by node
  std::vector<std::uint64_t> computed_;  // the point at which the node was last computed
  std::vector<Cell> arguments_;
  std::uint64_t now_ = 1;
  int speculating_ = 0;  // above 0: in a branch that is not taken, but might be taken in another order of evaluation
};

}  // namespace tap::ir::oracle
