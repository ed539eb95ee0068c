// The implementation of lower(): the loops of one operator inside a kernel. Shared by lower.cpp (cells, accesses,
// plain loops), lower_tiles.cpp (register tiles: unrolled rows by lanes), lower_epilogue.cpp (maps at the end of
// reductions) and lower_patterns.cpp (scans and scatters).
#pragma once

#include <functional>

#include "backend/loops/loops.h"
#include "backend/tiles/packing.h"
#include "backend/tiles/patterns.h"
#include "backend/tiles/register_tile.h"
#include "backend/tiles/repeated_rows.h"
#include "backend/tiles/step_blocks.h"

namespace tap::backend {

// The variables and tensors of an operator in the kernel.
struct OperatorInKernel {
  std::vector<std::uint32_t> lo, hi, at;         // variables, by dim
  std::vector<std::uint32_t> operands, results;  // tensors
};
inline constexpr std::uint32_t no_tensor = 0xffffffff;  // for a result that stays in registers
// Declares the kernel's arguments for an operator, its box and its section 0.
OperatorInKernel declare(Kernel& kernel, const ir::Operator& op);
std::optional<RegisterTile> tile_of_reduction(const ir::Program& program, const ir::Operator& op,
                                              const Extents& extents, bool exact_arithmetic, const ir::Machine& machine,
                                              const std::vector<bool>& prepared);

// A map at the end of a reduction (epilogue.h).
struct Ending {
  const ir::Operator* op = nullptr;
  OperatorInKernel frame;  // its dims are variables of the reduction
  // By operand, the number of its value in registers: first the reduction's results, then those of earlier maps.
  std::vector<std::optional<std::size_t>> registers;
};

class Lowering {
 public:
  Lowering(const ir::Program& program, const ir::Operator& op, Kernel& kernel, OperatorInKernel frame,
           const ir::Machine& machine)
      : program_(program), op_(op), kernel_(kernel), frame_(std::move(frame)), machine_(machine) {}
  // `extents`: by dim, the extent of the box. With `accumulates_into_result`, a reduction (not a scan or scatter)
  // starts from the values in its results, which have the monoid's types and one cell per point.
  std::vector<Statement> run(const Extents& extents, bool exact_arithmetic, bool accumulates_into_result = false);

  // Records assumptions about the extents of the kernel's box in `steps`.
  void note_steps(std::vector<BoxStep>* steps) { steps_ = steps; }

  // The variable of the dim along which calls split the kernel.
  void split_calls_along(std::uint32_t variable) { calls_ = variable; }

  // The operator runs in these loops over tiles of a group, the innermost first; `kept`: by operand, whether they leave it as it is.
  struct TileLoop {
    std::uint32_t variable = 0;
    ir::AffineExpr first;     // its value in the first tile
    std::vector<bool> moves;  // by variable: what depends on it
  };
  void inside(std::vector<TileLoop> tiles, std::vector<bool> kept) {
    around_ = std::move(tiles), kept_ = std::move(kept);
  }

  // Applies these maps to each completed point of a reduction that is not a scan or scatter.
  void end_with(std::vector<Ending> endings);
  // Whether a map's cells can be computed wherever its operands are available.
  static bool cannot_fail(const ir::Program& program, const ir::Operator& map);

  struct NextTile {  // of an operand or result of a map in a group (lower_next_tiles.cpp)
    std::uint32_t tensor = 0;
    bool result = false, near = false;
    std::vector<std::int64_t> distance;  // from a cell to the next tile's, by axis
  };
  void fetch(std::vector<NextTile> next) { next_tiles_ = std::move(next); }

  // These operands may be prepared; after `run`, it is known which are.
  void may_prepare(std::vector<bool> constant) { constant_ = std::move(constant); }
  std::vector<PreparedOperand> take_prepared() { return std::move(prepared_); }

 private:
  void declare_loads();
  Load load_of(const ir::Access& access);
  bool is_given(const ir::Access& access) const { return access.tensor < given_.size() && given_[access.tensor]; }

  ir::AffineExpr over_variables(const ir::AffineExpr& over_dims) const;
  ir::AffineExpr variable(std::uint32_t v) const { return ir::AffineExpr::variable(kernel_.variables.size(), v); }
  ir::AffineExpr number(std::int64_t n) const { return ir::AffineExpr::constant(kernel_.variables.size(), n); }
  ir::AffineExpr plus(ir::AffineExpr a, ir::AffineExpr b, std::int64_t factor = 1) const;  // a + factor * b
  ir::AffineExpr shifted(ir::AffineExpr e, std::uint32_t v, std::int64_t by) const;
  ir::AffineExpr with_value(ir::AffineExpr e, std::uint32_t v, const ir::AffineExpr& value) const;
  std::uint32_t new_variable(std::string name);

  ir::CellId cell(ir::CellId id);
  ir::CellId monoid_cell(const ir::Monoid& monoid, ir::CellId id, const std::vector<ir::CellId>& arguments);
  std::vector<ir::CellId> identity(const ir::Monoid& monoid);
  std::vector<ir::CellId> beginning(const ir::Monoid& monoid);  // the initial values of a reduction
  std::vector<ir::CellId> combination(const ir::Monoid& monoid, const std::vector<ir::CellId>& a,
                                      const std::vector<ir::CellId>& b);
  std::vector<ir::CellId> result_values();  // of a map
  bool are_speculatable(const std::vector<ir::CellId>& roots) const;

  std::vector<std::size_t> dims_with(bool reduction) const;
  std::vector<std::size_t> near_last(std::vector<std::size_t> dims) const;
  ir::AffineExpr end_of(std::size_t dim) const;
  For loop(std::size_t dim, const std::vector<bool>& outside) const;
  std::vector<Statement> nest(const std::vector<std::size_t>& order, std::vector<bool> outside,
                              std::vector<Statement> inner) const;
  std::vector<Statement> full_nest(const std::vector<std::size_t>& order, std::vector<Statement> inner) const;
  std::vector<Statement> guarded(std::vector<Statement> body) const;
  Store store(const std::vector<ir::CellId>& values) const;
  Store completed(const std::vector<ir::CellId>& values);   // for a complete point of a reduction, with its epilogue
  Store kept(const std::vector<ir::CellId>& values) const;  // for an incomplete one
  bool can_keep() const;

  // One register for each component of the monoid, or an array of them.
  struct State {
    std::vector<std::uint32_t> slots;
    std::vector<ir::CellId> values;
  };
  State new_state(const ir::Monoid& monoid, std::uint32_t count, std::uint32_t lanes);
  State at(const ir::Monoid& monoid, const State& state, const ir::AffineExpr& number);  // one element of the array
  Statement accumulate(const ir::Monoid& monoid, const State& state, bool descending = false);

  std::vector<Statement> map_body();
  std::vector<Statement> reduction_body();
  std::vector<Statement> scan_body(const ir::Scan& scan);
  std::vector<ir::CellId> later_cells();  // of a reduction, what each of its points contributes
  bool is_before_targets(const ir::Scatter& scatter, std::size_t dim) const;
  std::vector<Statement> scatter_body(const ir::Scatter& scatter);
  std::vector<Statement> if_any_result(std::vector<Statement> body) const;
  std::vector<ir::CellId> result_cells(const ir::Monoid& monoid, bool inside);  // inside: at every point of the box
  std::vector<Statement> at_target(const ir::Scatter::Target& target, std::vector<Statement> body);
  std::vector<Statement> scatter_point(const ir::Scatter& scatter, const ir::Monoid& monoid);

  // Register tiles.
  struct Part {                     // of a dim's range, in steps
    std::vector<Statement> before;  // definitions
    For loop;                       // over the first of each step
    std::uint32_t count = 1;        // rows or vectors in a step
    bool whole = true;              // all lanes are in range
    std::int64_t cells = 0;         // otherwise how many are, if that is known
  };
  std::vector<Statement> scan_of(const ir::Scan& scan, const std::optional<RegisterTile>& tile, const Part* part);
  // Before the first step, or instead of it, with the results of the step before; in each step; after it.
  struct ScanLoops {
    std::vector<Statement> begin, resume, step, finish;
  };
  ScanLoops scan_loops(const ir::Scan& scan, const std::optional<RegisterTile>& tile, const Part* part,
                       bool resumes = false);
  bool can_resume(const ir::Scan& scan, const RegisterTile& tile) const;
  std::vector<Statement> row_by_row(const ir::Scan& scan, const RegisterTile& tile, std::vector<Part>& all);
  std::optional<std::vector<Statement>> single_step(const For& admitted, const Bound& moving,
                                                    std::uint32_t along) const;
  std::vector<Part> parts(const Extents& extents, std::size_t dim, std::uint32_t count, std::uint32_t each);
  std::vector<Statement> tiles(const RegisterTile& tile, const Extents& extents);
  std::vector<Statement> rows_in_order(const std::vector<std::size_t>& before, const std::vector<std::size_t>& after,
                                       const RegisterTile& tile, const Extents& extents);
  std::vector<Statement> rows_first(const RegisterTile& tile, Extents extents, std::int64_t block);
  std::optional<std::int64_t> cells_before_lines(const RegisterTile& tile) const;
  struct Inside {                            // of a dim: where all reads are inside their tensors
    std::vector<Bound> from, to, elsewhere;  // elsewhere: below 0 where none is, whatever the dim's point
  };
  struct MapRows {  // of a map, computed together
    std::size_t dim = 0;
    std::uint32_t first = 0;  // the variable of the first one
    std::uint32_t count = 1;
  };
  Inside inside_along(std::size_t dim, const std::vector<std::uint32_t>& reads, const MapRows* rows) const;
  bool has_local_rows(const RepeatedRows& repeated) const;
  void join_rows_of(std::uint32_t tensor);
  std::vector<Statement> repeat(std::uint32_t read, const RegisterTile& tile, const RepeatedRows& repeated);
  std::vector<Statement> in_repeated_rows(const RegisterTile& tile, const RepeatedRows& repeated);
  std::optional<std::uint32_t> rows_together(const RegisterTile& tile, const Extents& extents, std::size_t dim) const;
  std::vector<Statement> checked_vectors(const RegisterTile& tile, const Extents& extents);
  std::vector<Statement> map_rows(const RegisterTile& tile, const Extents& extents, std::size_t dim,
                                  std::uint32_t count);
  std::vector<Statement> row_by_row(const RegisterTile& tile, const MapRows* rows, const Part& lanes);
  std::vector<Statement> all_rows(RegisterTile tile, const MapRows* rows, const Part& lanes);
  std::vector<Statement> map_tiles(const RegisterTile& tile, const Extents& extents, const MapRows* rows);
  static std::vector<Statement> over_parts(std::vector<Part> parts,
                                           const std::function<std::vector<Statement>(const Part&)>& body);
  std::vector<Statement> one_tile(const RegisterTile& tile, const Part* rows, const Part* lanes);
  std::vector<std::uint32_t> checked_reads() const;
  std::pair<ir::AffineExpr, ir::AffineExpr> points_in_tile(std::size_t dim, const RegisterTile& tile, const Part& rows,
                                                           const Part& lanes) const;
  std::vector<Bound> distances_from_edges(const std::vector<std::uint32_t>& reads, const RegisterTile& tile,
                                          const Part& rows, const Part& lanes) const;
  std::vector<Statement> unchecked(const std::vector<std::uint32_t>& reads,
                                   const std::function<std::vector<Statement>()>& statements);
  std::vector<Statement> tile_inside_or_not(const RegisterTile& tile, const Part* rows, const Part* lanes);
  std::vector<Statement> across(const RegisterTile& tile, const Part* rows, const Part* lanes,
                                std::vector<Statement> inner) const;
  std::vector<Statement> store_across(const RegisterTile& tile, const Part* rows, const Part& lanes,
                                      Store stored) const;
  std::vector<Statement> over_rows(const RegisterTile& tile, const Part* rows, std::vector<Statement> inner) const;
  std::vector<Statement> reduce_across(const RegisterTile& tile, const Part* rows, const Part& lanes);
  std::vector<Statement> reduce_ragged(const RegisterTile& tile, const Part& rows, const Part& lanes, std::size_t along,
                                       const Statement& step);
  std::vector<Statement> prefetch_scan(const ir::Scan& scan, bool descending, const RegisterTile& tile,
                                       const Part& lanes) const;
  std::vector<Statement> prefetch_ahead(const RegisterTile& tile, const Part* rows, const Part& lanes,
                                        std::size_t along) const;
  bool is_short(std::size_t dim, const RegisterTile& tile) const;
  For unrolled(std::size_t dim, std::vector<Statement> body) const;
  std::vector<Statement> reduce_along(const RegisterTile& tile, const Part* rows);
  bool ends_with_rows_in_lanes(const RegisterTile& tile, const Part& rows) const;
  std::vector<Statement> end_rows_in_lanes(const RegisterTile& tile, const Part& rows, std::vector<Statement> finish,
                                           const std::vector<ir::CellId>& values);
  std::vector<Statement> lane_copy(std::uint32_t read, const RegisterTile& tile, const Extents& extents);
  std::vector<Statement> lane_copies(const RegisterTile& tile, const Extents& extents);
  void set_grain(const RegisterTile& tile);
  void assume(std::size_t dim, std::int64_t rest_of, std::int64_t step) const;

  // Packed operands.
  struct Block {  // one of a dim's blocks
    For loop;
    std::vector<Statement> before;  // definitions, inside the loop
    std::uint32_t from = 0, end = 0;
  };
  struct Panels {  // of a block: the unit that registers hold
    std::vector<Statement> before;
    std::uint32_t number = 0, first = 0;  // current panel, and its start
    std::uint32_t whole = 0, all = 0;     // counts of whole and of all panels
    Define begins;
  };
  struct PackedDim {
    std::size_t dim;
    const Block* block;
    const Panels* panels;
    std::int64_t block_size, step;
  };
  struct Pack {  // a copy of one operand's block
    std::uint32_t read = 0, tensor = 0;
    std::uint32_t source = 0;        // the load of the operand itself
    std::vector<std::size_t> inner;  // the dims with their own axes, besides the panels'
    std::vector<ir::AffineExpr> at;  // the position of a point's cell in the copy
  };
  std::uint32_t define(std::vector<Statement>& into, std::string name, std::vector<Bound> bounds, bool greatest);
  Block block_of(std::size_t dim, std::int64_t size);
  Panels panels_of(std::size_t dim, const Block& block, std::int64_t step);
  For over(const Panels& panels, ir::AffineExpr from, ir::AffineExpr to, std::vector<Statement> body) const;
  Pack pack_of(std::uint32_t read, const PackedDim& along, const std::optional<Block>& chunk, const Packing& packing,
               const Extents& extents);
  For reduction_loop(std::size_t dim, const std::vector<bool>& outside, const std::optional<Block>& chunk,
                     const Packing& packing) const;
  std::vector<Statement> fill(const Pack& pack, const PackedDim& along, const std::optional<Block>& chunk,
                              const Packing& packing, const RegisterTile& tile, const Extents& extents);
  std::vector<Statement> fill_by_rows(std::vector<For> nest, const For& within, const Panels& panels, std::int64_t rest,
                                      std::uint32_t lanes, const std::vector<Statement>& cell);
  struct Across {
    For loop;
    bool in_vectors = false;  // whole ones, in every run; not in every self-check
  };
  std::vector<Statement> fill_across(const For& within, std::uint32_t together, std::optional<std::int64_t> remaining,
                                     const Across& across, std::uint32_t lanes, const std::vector<Statement>& cell,
                                     const std::optional<Prefetch>& ahead);
  std::vector<std::size_t> outside_packing(const RegisterTile& tile, const Packing& packing) const;
  std::optional<std::size_t> dim_of_next_fill(const RegisterTile& tile, const Packing& packing,
                                              const Extents& extents) const;
  std::optional<Prefetch> fetch_of_next_fill(const Pack& pack, std::size_t across, std::size_t next,
                                             const Extents& extents) const;
  void read_from(const Pack& pack);
  struct Run {  // of a dim: its bounds, and its maximum length
    ir::AffineExpr first, end;
    std::int64_t most = 1;
  };
  std::optional<Run> run_inside(std::size_t dim, const PackedDim& rows, const std::optional<Block>& chunk,
                                const Packing& packing) const;
  std::vector<Statement> fill_window(std::uint32_t read, const PackedDim& rows, const std::optional<Block>& chunk,
                                     const Packing& packing);
  void in_lanes(std::vector<For>& nest, std::uint32_t count);
  void in_known_lanes(std::vector<For>& nest, std::uint32_t count, const std::vector<std::size_t>& dims,
                      std::int64_t length);
  std::vector<Statement> begin_tile(const RegisterTile& tile, const Part* rows, const Part& lanes, const State& state,
                                    const Block* chunk, std::size_t chunked);
  std::vector<Statement> end_tile(const RegisterTile& tile, const Part* rows, const Part& lanes, const State& state,
                                  const Block* chunk, std::size_t chunked);
  std::vector<Statement> step_block(const RegisterTile& tile, const Part* rows, const Part& lanes, const Block& steps,
                                    std::size_t along);
  std::vector<Statement> in_step_blocks(const RegisterTile& tile, const StepBlocks& blocks);
  std::vector<Statement> prefetch_next(const RegisterTile& tile, const Part& rows, const Part& lanes,
                                       bool accumulates_into_result) const;
  std::vector<Statement> prefetch_across(const RegisterTile& tile, const Part& rows, const Part& lanes,
                                         const Store::Target& target) const;
  struct NextWindow {                         // where a window reads cells that the one before it has not copied
    std::uint32_t tensor = 0;                 // the operand
    std::vector<ir::AffineExpr> first, last;  // of one row of its box, for the rows of a register tile
    std::optional<std::size_t> step;          // the innermost reduction dim that it moves along
  };
  struct NextPanel {  // of a lane operand
    std::uint32_t tensor = 0, first_lane = 0;
    std::vector<ir::AffineExpr> at;
    ir::AffineExpr row_panel;          // the number of those that may fetch
    std::int64_t last = 1, lines = 1;  // the last such number, and how many lines each fetches in a step
  };
  std::vector<NextPanel> next_panels(const RegisterTile& tile, const Packing& packing, const std::vector<Pack>& copied,
                                     const Panels& columns, const Panels& rows) const;
  bool panel_crowds(std::uint32_t read, const RegisterTile& tile, const Packing& packing) const;
  std::vector<Statement> prefetch_panels(const RegisterTile& tile, std::vector<Statement>& before);
  std::vector<Statement> prefetch_tiles(const RegisterTile& tile, const Part* rows, const Part& lanes) const;
  std::optional<std::size_t> dim_of_next_window(const RegisterTile& tile, const Packing& packing,
                                                const Extents& extents) const;
  std::vector<NextWindow> next_windows(std::uint32_t read, const RegisterTile& tile, std::size_t next) const;
  std::vector<Statement> prefetch_windows(const RegisterTile& tile, const Part& rows,
                                          std::optional<std::size_t> step) const;
  std::vector<Statement> packed_tile(const RegisterTile& tile, const Part& rows, const Part& lanes,
                                     const std::optional<Block>& chunk, const Packing& packing,
                                     const std::vector<Pack>& copied);
  std::vector<Pack> panels_of_first_rows(const PackedDim& along, const std::optional<Block>& chunk,
                                         const Packing& packing, const Extents& extents);
  std::vector<Statement> copy_on_the_way(const std::vector<Pack>& copied, const RegisterTile& tile, const Part& rows,
                                         const Part& lanes, std::size_t along);
  std::vector<Statement> first_and_other_rows(
      const RegisterTile& tile, const Panels& panels, const Extents& extents,
      const std::function<std::vector<Statement>(std::uint32_t, bool)>& one) const;
  std::vector<Statement> panel_parts(const Panels& panels, const std::function<std::vector<Statement>(bool)>& body,
                                     bool has_rest) const;
  using RowTile = std::function<std::vector<Statement>(std::uint32_t count, std::uint32_t first_row_variable)>;
  std::vector<Statement> row_parts(const RegisterTile& tile, const Panels& panels, const Block& block,
                                   const Extents& extents, const RowTile& one);
  std::vector<Statement> any_rows(std::uint32_t most, std::uint32_t first, std::uint32_t end, const RowTile& one);
  std::vector<Statement> fill_all(const std::vector<std::uint32_t>& reads, const PackedDim& along,
                                  const std::optional<Block>& chunk, const Packing& packing, const RegisterTile& tile,
                                  const Extents& extents);
  bool lanes_are_one_block(const RegisterTile& tile, const Packing& packing, const Extents& extents) const;
  bool is_packed_once(const RegisterTile& tile, const Packing& packing, const Extents& extents) const;
  std::vector<Statement> in_first_tile(const RegisterTile& tile, const Packing& packing, const Extents& extents,
                                       std::vector<Statement> work) const;
  std::uint32_t done_flag();
  std::vector<Statement> unless_done(std::uint32_t flag, std::vector<Statement> work);
  bool can_prepare(const ir::Access& access) const;
  std::vector<bool> preparable() const;
  std::optional<std::vector<std::size_t>> prepared_dims(std::uint32_t read, const PackedDim& along) const;
  Statement prepare(std::uint32_t read, const PackedDim& along, const std::vector<std::size_t>& dims);
  double pieces_apart(std::size_t dim, const std::vector<std::size_t>& outside) const;
  std::vector<Statement> block_nest(const RegisterTile& tile, const Packing& packing, For columns,
                                    std::vector<Statement> fill_lanes, For rows, std::optional<Block>& chunk);
  bool followed_by_lanes(const Packing& packing, std::size_t dim) const;
  bool is_outside_packing(const Packing& packing, std::size_t dim) const;
  std::vector<Statement> packed(const RegisterTile& tile, const Packing& packing, const Extents& extents);
  ir::AffineExpr tile_number(const RegisterTile& tile) const;

  const ir::Program& program_;
  const ir::Operator& op_;
  Kernel& kernel_;
  OperatorInKernel frame_;
  const ir::Machine machine_;
  Extents extents_;
  std::vector<std::uint32_t> loads_;   // by read: the kernel's load
  std::uint32_t vector_variable_ = 0;  // which of the vectors of a register tile
  State tile_state_;
  std::vector<NextWindow> next_windows_;
  std::vector<NextPanel> next_panels_;
  std::vector<NextTile> next_tiles_;
  std::vector<std::optional<ir::CellId>> cells_;
  bool accumulates_into_result_ = false;
  std::optional<std::uint32_t> calls_;
  std::vector<TileLoop> around_;
  std::vector<bool> kept_;  // by operand
  std::vector<Ending> endings_;
  // The ending's result that keeps a reduction's partial value, if its own result does not.
  std::optional<std::pair<std::size_t, std::size_t>> keeper_;
  std::vector<std::optional<ir::CellId>> given_;  // by operand: its value in registers
  std::vector<bool> constant_;                    // by operand; empty: none
  std::vector<PreparedOperand> prepared_;
  std::vector<BoxStep>* steps_ = nullptr;
};

// Adds an assumption about the dims.
void assume(std::vector<BoxStep>* steps, const std::vector<std::uint32_t>& dims, std::int64_t rest_of,
            std::int64_t step);

// One assignment to all of these slots.
Assign assign(std::vector<std::uint32_t> slots, std::vector<ir::CellId> values);

// The loops, outermost first, around `inner`.
std::vector<Statement> around(std::vector<For> loops, std::vector<Statement> inner);

inline Bound bound(ir::AffineExpr e, std::int64_t divisor = 1) { return {std::move(e), divisor}; }
inline void append(std::vector<Statement>& to, std::vector<Statement> from) {
  for (Statement& s : from) to.push_back(std::move(s));
}

}  // namespace tap::backend
