// A block operation under construction: reads and cells over index variables; dims are still VarIds. finish()
// determines the index space and returns the ir::Operator.
#pragma once

#include <compare>
#include <optional>
#include <set>

#include "compiler/frontend/cells/index_space.h"
#include "ir/operator.h"

namespace tap {

struct FrameRead {
  ir::ValueId value;
  ir::TensorType type;
  std::vector<VarAffine> start;                        // per axis; 0 if data-dependent
  std::vector<std::optional<ir::CellId>> coordinates;  // empty if no axis is data-dependent
  std::optional<ir::CellId> fill;
  Span span;
};

struct FrameWrite {
  std::vector<VarAffine> start;
  Shape result_shape;  // may be completed later for locals
  ElementType element = ElementType::f32;
  std::vector<VarId> invariant;
};

// A typed cell. f16 and bf16 are computed in f32: `type` is the language's type, the cell's own type is
// compute_type(type). A literal has no cell until its context gives it a type.
struct Cell {
  enum class Kind : std::uint8_t { typed, int_literal, float_literal } kind = Kind::typed;
  ir::CellId id;
  ElementType type = ElementType::i64;
  bool is_literal() const { return kind != Kind::typed; }
};

class Frame {
 public:
  explicit Frame(IndexSpace& space) : space_(space) {}

  ir::CellExprs cells;
  // Memo of elaborated expressions, since a `let` or an argument may be used many times, and its uses again. Without
  // guards: the elaboration did not depend on them, so it is valid under all. `for_type`: only its type was needed, so
  // it may never be evaluated.
  struct UnderGuards {
    std::uint32_t guards;
    bool for_type;
    auto operator<=>(const UnderGuards&) const = default;
  };
  using Guards = std::optional<UnderGuards>;
  // Expressions, by scope and expected type.
  std::map<std::tuple<std::size_t, const Env*, std::optional<ElementType>, Guards>, Cell> memo;
  // Operators applied to cells: declaration, binding, arguments.
  std::map<std::tuple<const void*, std::string, std::vector<ir::CellId>, Guards>, Cell> applied;

  ir::CellId index(VarId var);
  ir::CellId affine(const VarAffine& a);  // as an i64 cell
  ir::CellId read(FrameRead read);        // equal reads are one access
  void use(const VarAffine& a);
  const std::set<VarId>& used() const { return used_; }
  const std::vector<FrameRead>& reads() const { return reads_; }

  // Whether evaluating it may fail, or read out of bounds, at some point of the variables' ranges.
  bool can_fail() const;

  struct Finished {
    ir::Operator op;
    std::vector<ir::ValueId> operands;
    std::vector<Span> read_spans;
  };
  // dims: `parallel`, then the counters that are used, then `reduction`. `roots` are renumbered for the operator's
  // arena.
  Finished finish(std::string name, const std::vector<VarId>& parallel, const std::vector<VarId>& reduction,
                  const std::vector<FrameWrite>& writes, std::vector<ir::CellId>& roots, std::uint32_t counter_depth,
                  bool whole_box = false) const;  // whole_box: no constraints on the parallel dims

 private:
  IndexSpace& space_;
  std::vector<FrameRead> reads_;
  std::set<VarId> used_;
};

}  // namespace tap
