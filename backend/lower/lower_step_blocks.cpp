// Register tiles that do a block of steps at a time (step_blocks.h).
#include "backend/lower/lowering.h"
#include "backend/tiles/step_blocks.h"
#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

std::vector<Statement> Lowering::step_block(const RegisterTile& tile, const Part* rows, const Part& lanes,
                                            const Block& steps, std::size_t along) {
  const Monoid& monoid = program_[op_.reduce()->monoid];
  const State state = at(monoid, tile_state_, tile_number(tile));
  std::vector<bool> outside(op_.dims.size(), false);
  for (std::size_t d : dims_with(false)) outside[d] = true;
  std::vector<For> loops;
  for (std::size_t d : dims_with(true)) {
    loops.push_back(loop(d, outside));
    outside[d] = true;
    if (d != along) continue;
    loops.back().lower = {bound(variable(steps.from))};
    loops.back().upper = {bound(variable(steps.end))};
  }
  auto result = begin_tile(tile, rows, lanes, state, &steps, along);
  append(result, around(std::move(loops), across(tile, rows, &lanes, {accumulate(monoid, state)})));
  append(result, end_tile(tile, rows, lanes, state, &steps, along));
  return result;
}

std::vector<Statement> Lowering::in_step_blocks(const RegisterTile& tile, const StepBlocks& blocks) {
  if (tile.vectors > 1) vector_variable_ = new_variable("v");
  tile_state_ = new_state(program_[op_.reduce()->monoid], tile.row_count * tile.vectors, tile.lanes);
  const std::int64_t step = static_cast<std::int64_t>(tile.lanes) * tile.vectors;
  Block columns = block_of(tile.dim, blocks.lane_block), steps = block_of(blocks.dim, blocks.steps);
  Panels panels = panels_of(tile.dim, columns, step);
  const bool exact = extents_.exact[tile.dim];
  const std::int64_t rest = extents_.sizes[tile.dim] % step;
  assume(tile.dim, exact ? step : 1, step);
  assume(blocks.dim, 1, blocks.steps);

  auto tiles_of_panel = [&](bool last) {
    Part lanes;
    lanes.loop.variable = panels.first;
    lanes.loop.upper = {bound(variable(columns.end))};
    lanes.count = last && exact ? static_cast<std::uint32_t>((rest + tile.lanes - 1) / tile.lanes) : tile.vectors;
    lanes.whole = !last || (exact && rest % tile.lanes == 0);
    if (!tile.rows) return step_block(tile, nullptr, lanes, steps, blocks.dim);
    return over_parts(parts(extents_, *tile.rows, tile.row_count, 1),
                      [&](const Part& rows) { return step_block(tile, &rows, lanes, steps, blocks.dim); });
  };
  std::vector<Statement> body = panel_parts(panels, tiles_of_panel, !exact || rest != 0);
  steps.loop.body = std::move(steps.before);
  append(steps.loop.body, std::move(body));
  columns.loop.body = std::move(columns.before);
  append(columns.loop.body, std::move(panels.before));
  columns.loop.body.push_back({std::move(steps.loop)});

  std::vector<std::size_t> outer;
  for (std::size_t d : near_last(dims_with(false)))
    if (d != tile.dim && d != tile.rows) outer.push_back(d);
  return full_nest(outer, {{std::move(columns.loop)}});
}

}  // namespace tap::backend
