// A group (an operator whose body is a graph that shares its dims) as one kernel: the loops of its operations in
// sequence, inside loops over tiles of its parallel dims and, within a tile, over steps of its reduction dims.
//
//   e[i, k] = exp(x[i, k])   s[i] = sum[k] e[i, k]   y[i, k] = e[i, k] / s[i]     over i      becomes
//
//   local e: f32[64, 1000] holds [4, 1000] at (it, 0)
//   local s: f32[64] holds [4] at (it)
//   for it in lo_i..hi_i step 4
//     section 1 { for i in it..it+4, k in 0..1000 … e[i, k] = … }
//     section 2 { … s[i] = … }      section 3 { … y[i, k] = … }
//
// The box of each operation and the local part of each value come from ir::moving_demand, from the first to the last
// point of a tile and step, less what no reader needs of it (needed_ranges.h); these bounds are affine in the loop
// variables. Operations that do not move with a step
// run before the loop over the steps. A reduction whose points come in steps keeps its partial result
// (stream_parts.h), in the result itself if that has the accumulator's type.
//
// Epilogues (epilogue.h) are applied to the reduction's registers. A group that consists of one reduction and its
// epilogues has one tile: the blocks and registers of the reduction determine its loops.
//
// group_tiles.h chooses the tiles and steps, independently of the box and the number of threads.
#pragma once

#include "backend/lower/epilogue.h"
#include "backend/lower/lowering.h"
#include "backend/tiles/needed_ranges.h"
#include "backend/tiles/stream_parts.h"
#include "ir/graphs/demand.h"

namespace tap::backend {

// The range of a box along a dim: from lo to hi, in variables of the kernel.
struct DimSpan {
  ir::AffineExpr lo, hi;
  std::int64_t most = 0;                    // maximum number of points
  bool exact = false;                       // always that many
  std::size_t level = 0;                    // of the loop over steps that it depends on; 0: none
  std::vector<std::uint32_t> follows = {};  // dims of the kernel's box that the extent depends on
};

class GroupLowering {
 public:
  // `box`: by dim. Tensors as in OperatorInKernel. Each operation is a section, numbered after existing ones.
  GroupLowering(const ir::Program& program, const ir::Operator& group, Kernel& kernel, std::vector<DimSpan> box,
                std::vector<std::uint32_t> operands, std::vector<std::uint32_t> results, const ir::Machine& machine);
  // These operands may be prepared; after `run`, it is known which are.
  void may_prepare(std::vector<bool> constant) { constant_ = std::move(constant); }
  std::vector<PreparedOperand> take_prepared() { return std::move(prepared_); }
  // Records assumptions about the extents of the kernel's box in `steps`.
  void note_steps(std::vector<BoxStep>* steps) { steps_ = steps; }
  // Marks it as not nested in another group, with the variables of its dims. If it is one reduction with an epilogue, calls
  // split it like that reduction.
  void is_outermost(const std::vector<std::uint32_t>& at);
  bool is_one_nest() const { return as_one_nest_; }
  std::vector<Statement> run();
  const std::vector<std::int64_t>& points() const { return points_; }  // per tile, by dim

 private:
  struct Tile {  // a loop over the tiles of a dim
    For loop;
    std::vector<Statement> before;
    std::size_t dim = 0;
  };
  struct Level {  // a loop over steps
    For loop;     // not for level 0
    std::vector<Statement> before, after;
  };
  static constexpr std::uint32_t none = no_tensor;

  ir::AffineExpr number(std::int64_t n) const { return ir::AffineExpr::constant(kernel_.variables.size(), n); }
  ir::AffineExpr variable(std::uint32_t v) const { return ir::AffineExpr::variable(kernel_.variables.size(), v); }
  ir::AffineExpr plus(ir::AffineExpr a, ir::AffineExpr b, std::int64_t factor = 1) const;
  std::uint32_t new_variable(std::string name);
  std::uint32_t define(std::vector<Statement>& into, const std::string& name, std::vector<Bound> bounds, bool greatest);
  std::uint32_t as_variable(std::size_t level, const std::string& name, const ir::AffineExpr& e);

  For part_loop(const std::string& name, const DimSpan& span, std::int64_t step);
  DimSpan part_of(const DimSpan& span, const ir::AffineExpr& first, std::int64_t points, const std::string& name,
                  std::vector<Statement>& into);
  void open_tiles();
  void open_steps();
  void open_block(const ir::Blocking& blocking);
  std::uint32_t boundary(const ir::Blocking& blocking, std::size_t shift, std::vector<Statement>& into);
  DimSpan span_of(const ir::Window& window, ir::Range whole, const std::string& name);
  DimSpan needed_part(DimSpan span, const NeededRange& needed, const std::string& name);

  std::uint32_t new_local(ir::ValueId value, ElementType type);
  void place_values();
  void place_in_local_memory(std::vector<ir::ValueId> values);
  std::vector<std::uint32_t> tensors_of(const std::vector<ir::ValueId>& values) const;
  std::size_t level_of(std::size_t operation, const std::vector<DimSpan>& box,
                       std::vector<std::size_t>& level_of_value) const;
  void add_operation(std::size_t number, std::vector<std::size_t>& level_of_value);
  std::optional<std::size_t> single_nest() const;
  std::optional<std::size_t> own_dim(std::size_t operation, std::size_t dim) const;
  std::size_t level_with_endings(std::size_t number, const std::vector<DimSpan>& box,
                                 std::vector<std::size_t>& level_of_value) const;
  std::vector<Ending> endings_of(std::size_t number, const OperatorInKernel& frame) const;
  bool is_far(ir::ValueId v) const;
  std::int64_t far_bytes() const;
  std::vector<Lowering::NextTile> next_tiles(std::size_t operation) const;
  std::vector<bool> constant_operands(std::size_t number) const;
  std::vector<Lowering::TileLoop> tile_loops() const;
  std::vector<bool> inputs_of_group(std::size_t number) const;
  void add_stream(std::size_t number, std::size_t level, OperatorInKernel frame, const std::vector<DimSpan>& box);
  Extents extents_of_box(const std::vector<DimSpan>& box) const;
  std::vector<Statement> lowered(const ir::Operator& op, const OperatorInKernel& frame, const std::vector<DimSpan>& box,
                                 bool accumulates_into_result = false);
  std::vector<Statement> lowered_with_endings(std::size_t number, const OperatorInKernel& frame,
                                              const std::vector<DimSpan>& box);
  std::vector<Statement> lowered_part(const ir::Operator& part, OperatorInKernel frame, std::vector<DimSpan> box);

  const ir::Program& program_;
  const ir::Operator& group_;
  Kernel& kernel_;
  const ir::Machine machine_;
  ir::GroupView view_;
  const ir::Graph& graph_;
  ir::MovingDemand windows_;
  std::vector<std::vector<NeededRange>> needed_;     // by operation, by its dim
  std::vector<bool> streamed_;                       // by operation
  std::vector<std::vector<EpilogueMap>> epilogues_;  // likewise
  std::vector<bool> ends_another_;                   // likewise: part of an epilogue
  std::vector<bool> is_direct_copy_;                 // likewise: does not run (direct_copies.h)
  std::vector<std::int64_t> points_;
  std::vector<DimSpan> spans_;                 // by dim of the group: first of the box, then of one tile and step
  std::vector<Tile> tiles_;                    // outermost first
  std::vector<Level> levels_;                  // likewise; the first one is not a loop
  std::vector<std::uint32_t> tensors_;         // by value
  std::vector<std::vector<DimSpan>> regions_;  // by value, by axis
  std::uint32_t zero_ = 0, one_ = 0;           // variables
  bool as_one_nest_ = false;
  std::vector<std::uint32_t> at_;  // of the outermost group: its dims
  std::vector<bool> constant_;     // by operand of the group
  std::vector<PreparedOperand> prepared_;
  std::vector<BoxStep>* steps_ = nullptr;
};

// Like extents_of, for a box that is whole where blocks are streamed.
Extents extents_of_group(const ir::Operator& group);
// Lowers the group on the kernel's box; the kernel already has its arguments and section 0.
void lower_group(const ir::Program& program, const ir::Operator& group, Kernel& kernel, const OperatorInKernel& frame,
                 const Extents& extents, const LowerOptions& options);

}  // namespace tap::backend
