// Register tiles over packed operands (packing.h).
#include <algorithm>
#include <functional>

#include "backend/lower/lowering.h"
#include "backend/tiles/cache_sets.h"
#include "ir/graph.h"
#include "support/check.h"

namespace tap::backend {

using namespace ir;

std::uint32_t Lowering::define(std::vector<Statement>& into, std::string name, std::vector<Bound> bounds,
                               bool greatest) {
  std::uint32_t v = new_variable(std::move(name));
  into.push_back({Define{v, std::move(bounds), greatest}});
  return v;
}

// Blocks of a dim: a loop over their first points, and a variable for their ends.
Lowering::Block Lowering::block_of(std::size_t dim, std::int64_t size) {
  Block block;
  block.loop.variable = new_variable(op_.dims[dim].name + "c");
  block.loop.lower = {bound(variable(frame_.lo[dim]))};
  block.loop.upper = {bound(variable(frame_.hi[dim]))};
  block.loop.step = size;
  block.from = block.loop.variable;
  block.end = define(block.before, op_.dims[dim].name + "e",
                     {bound(plus(variable(block.from), number(size))), bound(variable(frame_.hi[dim]))}, false);
  return block;
}

// Consecutive panels: the number and the start of each.
Lowering::Panels Lowering::panels_of(std::size_t dim, const Block& block, std::int64_t step) {
  Panels panels;
  AffineExpr length = plus(variable(block.end), variable(block.from), -1);
  std::uint32_t whole = define(panels.before, "q." + op_.dims[dim].name, {bound(length, step)}, false);
  panels.all = define(panels.before, "p." + op_.dims[dim].name, {bound(length, step)}, true);
  panels.whole = whole;
  panels.number = new_variable(op_.dims[dim].name + "p");
  panels.first = new_variable(op_.dims[dim].name + "0");
  panels.begins = Define{panels.first, {bound(plus(variable(block.from), variable(panels.number), step))}, true};
  return panels;
}

For Lowering::over(const Panels& panels, AffineExpr from, AffineExpr to, std::vector<Statement> body) const {
  For loop;
  loop.variable = panels.number;
  loop.lower = {bound(std::move(from))};
  loop.upper = {bound(std::move(to))};
  loop.body.push_back({panels.begins});
  append(loop.body, std::move(body));
  return loop;
}

// Memory for the panels of one read, and how to fill it: panel, then the reduction's dims, then within the panel.
Lowering::Pack Lowering::pack_of(std::uint32_t read, const PackedDim& along, const std::optional<Block>& chunk,
                                 const Packing& packing, const Extents& extents) {
  const Access& access = op_.reads[read];
  Pack pack;
  pack.read = read;
  pack.source = loads_[read];
  TensorArgument memory;
  memory.name = "p" + std::to_string(kernel_.tensors.size());
  memory.local.emplace();
  auto axis = [&](std::int64_t extent, AffineExpr at) {
    memory.type.shape.push_back(extent);
    memory.local->extents.push_back(extent);
    memory.local->origin.push_back(number(0));
    pack.at.push_back(std::move(at));
  };
  axis((along.block_size + along.step - 1) / along.step, variable(along.panels->number));
  std::vector<std::size_t> inner = dims_with(true);
  if (packing.packed_dim && std::ranges::count(packing.lane_reads, read) > 0)  // rows are packed at one point of it
    inner.insert(inner.begin(), *packing.packed_dim);
  for (std::size_t d : inner) {
    if (!uses(access, d)) continue;
    bool is_chunked = chunk && packing.chunked == d;
    axis(is_chunked ? packing.chunk : extents.most(op_, d),
         plus(variable(frame_.at[d]), variable(is_chunked ? chunk->from : frame_.lo[d]), -1));
    pack.inner.push_back(d);
  }
  axis(along.step, plus(variable(frame_.at[along.dim]), variable(along.panels->first), -1));
  memory.type.element = op_.operands[access.tensor].element;
  pack.tensor = static_cast<std::uint32_t>(kernel_.tensors.size());
  kernel_.tensors.push_back(std::move(memory));
  return pack;
}

For Lowering::reduction_loop(std::size_t dim, const std::vector<bool>& outside, const std::optional<Block>& chunk,
                             const Packing& packing) const {
  For result = loop(dim, outside);
  if (!chunk || packing.chunked != dim) return result;
  result.lower = {bound(variable(chunk->from))};
  result.upper = {bound(variable(chunk->end))};
  return result;
}

// Redirects the cells' reads to the copy.
void Lowering::read_from(const Pack& pack) {
  Load load;
  load.tensor = pack.tensor;
  for (const AffineExpr& e : pack.at) load.at.push_back({e, {}, false});
  loads_[pack.read] = static_cast<std::uint32_t>(kernel_.loads.size());
  kernel_.loads.push_back(std::move(load));
}

// Loads the result so far, except in the first block of the reduction. The identities are assigned before it is known which, so that no
// path leaves the registers as the last tile did: the values of that one would be live until then, and be spilled.
std::vector<Statement> Lowering::begin_tile(const RegisterTile& tile, const Part* rows, const Part& lanes,
                                            const State& state, const Block* chunk, std::size_t chunked) {
  const Monoid& monoid = program_[op_.reduce()->monoid];
  auto identities = across(tile, rows, &lanes, {{assign(state.slots, beginning(monoid))}});
  if (!chunk || accumulates_into_result_) return identities;
  AffineExpr done = plus(variable(chunk->from), variable(frame_.lo[chunked]), -1);
  Guard later{{{plus(done, number(-1)), Comparison::at_least_zero}},
              {},
              across(tile, rows, &lanes, {{assign(state.slots, result_cells(monoid, true))}})};
  auto result = std::move(identities);
  result.push_back({std::move(later)});
  return result;
}

std::vector<Statement> Lowering::packed_tile(const RegisterTile& tile, const Part& rows, const Part& lanes,
                                             const std::optional<Block>& chunk, const Packing& packing,
                                             const std::vector<Pack>& copied) {
  const Monoid& monoid = program_[op_.reduce()->monoid];
  State state = at(monoid, tile_state_, tile_number(tile));
  auto result = begin_tile(tile, &rows, lanes, state, chunk ? &*chunk : nullptr, packing.chunked.value_or(0));
  append(result, prefetch_next(tile, rows, lanes, chunk || accumulates_into_result_));
  std::vector<Statement> inner = across(tile, &rows, &lanes, {accumulate(monoid, state)});
  std::vector<bool> outside(op_.dims.size(), false);
  for (std::size_t d : dims_with(false)) outside[d] = true;
  std::vector<For> loops;
  for (std::size_t d : dims_with(true)) {
    loops.push_back(reduction_loop(d, outside, chunk, packing));
    outside[d] = true;
  }
  if (!loops.empty()) {
    auto ahead = copied.empty() ? prefetch_ahead(tile, &rows, lanes, dims_with(true).back())
                                : copy_on_the_way(copied, tile, rows, lanes, dims_with(true).back());
    if (copied.empty()) append(ahead, prefetch_panels(tile, result));
    append(ahead, std::move(inner));
    inner = std::move(ahead);
  }
  while (!loops.empty()) {
    std::vector<Statement> body = prefetch_windows(tile, rows, dims_with(true)[loops.size() - 1]);
    append(body, std::move(inner));
    loops.back().body = std::move(body);
    inner.clear();
    inner.push_back({std::move(loops.back())});
    loops.pop_back();
  }
  append(result, prefetch_windows(tile, rows, {}));
  append(result, std::move(inner));
  append(result, end_tile(tile, &rows, lanes, state, chunk ? &*chunk : nullptr, packing.chunked.value_or(0)));
  return result;
}

// Whole panels, then the remaining one.
std::vector<Statement> Lowering::panel_parts(const Panels& panels,
                                             const std::function<std::vector<Statement>(bool)>& body,
                                             bool has_rest) const {
  std::vector<Statement> result{{over(panels, number(0), variable(panels.whole), body(false))}};
  if (has_rest) result.push_back({over(panels, variable(panels.whole), variable(panels.all), body(true))});
  return result;
}

bool Lowering::followed_by_lanes(const Packing& packing, std::size_t dim) const {
  auto follows = [&](const AffineExpr& row) { return row.coefficients[dim] != 0; };
  return packing.lane_reads.empty() ||
         std::any_of(packing.lane_reads.begin(), packing.lane_reads.end(), [&](std::uint32_t read) {
           const auto& rows = op_.reads[read].projection.start.rows;
           return std::any_of(rows.begin(), rows.end(), follows);
         });
}

// Whether lane operands are packed again for each of its points.
bool Lowering::is_outside_packing(const Packing& packing, std::size_t dim) const {
  return followed_by_lanes(packing, dim) && dim != packing.packed_dim;
}

std::vector<Statement> Lowering::packed(const RegisterTile& tile, const Packing& packing, const Extents& extents) {
  if (tile.vectors > 1) vector_variable_ = new_variable("v");
  tile_state_ = new_state(program_[op_.reduce()->monoid], tile.row_count * tile.vectors, tile.lanes);
  const std::int64_t step = static_cast<std::int64_t>(tile.lanes) * tile.vectors;
  Block columns = block_of(tile.dim, packing.lane_block), rows = block_of(*tile.rows, packing.row_block);
  std::optional<Block> chunk;
  if (packing.chunked) chunk = block_of(*packing.chunked, packing.chunk);
  Panels column_panels = panels_of(tile.dim, columns, step), row_panels = panels_of(*tile.rows, rows, tile.row_count);
  PackedDim along_lanes{tile.dim, &columns, &column_panels, std::min(packing.lane_block, extents.most(op_, tile.dim)),
                        step};
  PackedDim along_rows{*tile.rows, &rows, &row_panels, std::min(packing.row_block, extents.most(op_, *tile.rows)),
                       tile.row_count};
  std::optional<std::uint32_t> done;
  if (is_packed_once(tile, packing, extents)) done = done_flag();
  std::vector<Statement> fill_lanes;
  std::vector<Pack> copied;
  if (packing.by_first_rows) copied = panels_of_first_rows(along_lanes, chunk, packing, extents);
  else fill_lanes = fill_all(packing.lane_reads, along_lanes, chunk, packing, tile, extents);
  if (done) fill_lanes = unless_done(*done, std::move(fill_lanes));
  else fill_lanes = in_first_tile(tile, packing, extents, std::move(fill_lanes));
  std::vector<Statement> fill_rows = fill_all(packing.row_reads, along_rows, chunk, packing, tile, extents);
  next_windows_.clear();
  if (const auto next = dim_of_next_window(tile, packing, extents))
    for (std::uint32_t read : packing.windows)
      for (NextWindow& window : next_windows(read, tile, *next)) next_windows_.push_back(std::move(window));
  for (std::uint32_t read : packing.windows) append(fill_rows, fill_window(read, along_rows, chunk, packing));
  next_panels_ = next_panels(tile, packing, copied, column_panels, row_panels);
  std::fill(cells_.begin(), cells_.end(), std::nullopt);

  // What remains of the lanes' dim after whole panels, if it is known.
  const std::int64_t size = extents.sizes[tile.dim], rest = size % step;
  const auto rest_vectors = static_cast<std::uint32_t>((rest + tile.lanes - 1) / tile.lanes);
  auto row_tiles = [&](bool last_column) {
    Part lanes;
    lanes.loop.variable = column_panels.first;
    lanes.loop.upper = {bound(variable(columns.end))};
    lanes.count = last_column && extents.exact[tile.dim] ? rest_vectors : tile.vectors;
    lanes.whole = !last_column || (extents.exact[tile.dim] && rest % tile.lanes == 0);
    auto one = [&](std::uint32_t count, std::uint32_t first, bool copies) {
      Part part;
      part.loop.variable = first;
      part.loop.upper = {bound(variable(rows.end))};
      part.count = count;
      return packed_tile(tile, part, lanes, chunk, packing, copies ? copied : std::vector<Pack>());
    };
    if (packing.by_first_rows)
      return first_and_other_rows(tile, row_panels, extents, [&](std::uint32_t count, bool copies) {
        return one(count, row_panels.first, copies);
      });
    return row_parts(tile, row_panels, rows, extents,
                     [&](std::uint32_t count, std::uint32_t first) { return one(count, first, false); });
  };
  assume(tile.dim, extents.exact[tile.dim] ? step : 1, step);
  assume(*tile.rows, extents.exact[*tile.rows] ? tile.row_count : 1, tile.row_count);
  if (chunk) assume(*packing.chunked, 1, packing.chunk);
  std::vector<Statement> inner = panel_parts(column_panels, row_tiles, !extents.exact[tile.dim] || rest != 0);
  rows.loop.body = std::move(rows.before);
  append(rows.loop.body, std::move(row_panels.before));
  append(rows.loop.body, std::move(fill_rows));
  append(rows.loop.body, std::move(inner));
  columns.loop.body = std::move(columns.before);
  append(columns.loop.body, std::move(column_panels.before));
  return block_nest(tile, packing, std::move(columns.loop), std::move(fill_lanes), std::move(rows.loop), chunk);
}

// Declares the copies of these operands and redirects the cells' reads to them. The returned statements make them,
// except prepared ones.
std::vector<Statement> Lowering::fill_all(const std::vector<std::uint32_t>& reads, const PackedDim& along,
                                          const std::optional<Block>& chunk, const Packing& packing,
                                          const RegisterTile& tile, const Extents& extents) {
  std::vector<Statement> result;
  std::vector<Pack> packs;
  for (std::uint32_t read : reads) {
    if (auto dims = prepared_dims(read, along)) {
      result.push_back(prepare(read, along, *dims));
      continue;
    }
    packs.push_back(pack_of(read, along, chunk, packing, extents));
    append(result, fill(packs.back(), along, chunk, packing, tile, extents));
  }
  for (const Pack& pack : packs) read_from(pack);
  return result;
}

// Of what one point of the dims `outside` reads and writes in far memory: the pieces that do not go on at the next point of `dim`.
//
//   C[e, d, c, b, a] = sum[f] A[a, f, b, c, e] * B[d, f]     over 48 × 48 pieces of A, which go on along c, and 48 × 24 of C, along b
double Lowering::pieces_apart(std::size_t dim, const std::vector<std::size_t>& outside) const {
  double all = 0;
  auto see = [&](const Access& access, const TensorType& type) {
    auto bytes = static_cast<double>(size_of(type.element)), run = bytes;
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      if (uses(access, d)) bytes *= static_cast<double>(extents_.sizes[d]);
    if (bytes <= static_cast<double>(machine_.l2_bytes)) return;
    std::vector<std::size_t> left;
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      if (uses(access, d) && std::ranges::count(outside, d) == 0) left.push_back(d);
    auto distance = [&](std::size_t d) { return static_cast<double>(distance_along(type, access, d)); };
    auto goes_on = [&](std::size_t d) { return distance(d) <= run; };
    for (auto next = left.begin(); (next = std::ranges::find_if(left, goes_on)) != left.end(); left.erase(next))
      run = std::max(run, distance(*next) * static_cast<double>(extents_.sizes[*next]));
    double pieces = 1;
    for (std::size_t d : left) pieces *= static_cast<double>(extents_.sizes[d]);
    if (uses(access, dim) && !goes_on(dim)) all += pieces;
  };
  for (const Access& read : op_.reads) see(read, op_.operands[read.tensor]);
  for (const Access& write : op_.writes) see(write, op_.results[write.tensor]);
  return all;
}

// The loops around the packing of lane operands. The innermost one goes on where most pieces of memory end.
std::vector<std::size_t> Lowering::outside_packing(const RegisterTile& tile, const Packing& packing) const {
  std::vector<std::size_t> outside = near_last(dims_with(false));
  std::erase_if(outside,
                [&](std::size_t d) { return d == tile.dim || d == *tile.rows || !is_outside_packing(packing, d); });
  if (packing.windows.empty())
    std::ranges::stable_sort(outside, std::greater<>(),
                             [&, all = outside](std::size_t d) { return pieces_apart(d, all); });
  return outside;
}

// Columns, then blocks of the reduction, then rows. Dims that the lane operands do not depend on go inside their
// packing.
std::vector<Statement> Lowering::block_nest(const RegisterTile& tile, const Packing& packing, For columns,
                                            std::vector<Statement> fill_lanes, For rows, std::optional<Block>& chunk) {
  const std::vector<std::size_t> outside = outside_packing(tile, packing);
  std::vector<std::size_t> inside = near_last(dims_with(false));
  std::erase_if(inside,
                [&](std::size_t d) { return d == tile.dim || d == *tile.rows || std::ranges::count(outside, d) > 0; });
  std::vector<bool> known(op_.dims.size(), false);
  for (std::size_t d : outside) known[d] = true;
  std::vector<Statement> body = std::move(fill_lanes);
  append(body, nest(inside, known, {{std::move(rows)}}));
  if (chunk) {
    chunk->loop.body = std::move(chunk->before);
    append(chunk->loop.body, std::move(body));
    columns.body.push_back({std::move(chunk->loop)});
  } else {
    append(columns.body, std::move(body));
  }
  return full_nest(outside, {{std::move(columns)}});
}

// The last panel of rows has the remaining rows: a known number if the extent is known.
std::vector<Statement> Lowering::row_parts(const RegisterTile& tile, const Panels& panels, const Block& block,
                                           const Extents& extents, const RowTile& one) {
  const std::int64_t rest = extents.sizes[*tile.rows] % tile.row_count;
  const bool exact = extents.exact[*tile.rows];
  auto body = [&](bool last) {
    if (!last) return one(tile.row_count, panels.first);
    if (exact) return one(static_cast<std::uint32_t>(rest), panels.first);
    auto any = any_rows(tile.row_count - 1, panels.first, block.end, one);
    if (rest == 0) return any;
    // As many as of the whole extent are the most likely.
    std::vector<Statement> result;
    const AffineExpr more = plus(plus(variable(block.end), variable(panels.first), -1), number(-rest));
    const std::uint32_t off = define(result, "off", {bound(more), bound(scale(more, -1))}, true);
    result.push_back(
        {Guard{{{variable(off), Comparison::equal_zero}}, {}, one(static_cast<std::uint32_t>(rest), panels.first)}});
    result.push_back({Guard{{{plus(variable(off), number(-1)), Comparison::at_least_zero}}, {}, std::move(any)}});
    return result;
  };
  return panel_parts(panels, body, !exact || rest != 0);
}

// At most `most` rows: a tile of a multiple of four, and one of the others. A tile for each number would be four times the code.
std::vector<Statement> Lowering::any_rows(std::uint32_t most, std::uint32_t first, std::uint32_t end,
                                          const RowTile& one) {
  constexpr std::uint32_t together = 4;
  std::vector<Statement> result;
  auto if_equal = [&](AffineExpr count, std::uint32_t wanted, std::vector<Statement> body) {
    count.offset -= wanted;
    result.push_back({Guard{{{std::move(count), Comparison::equal_zero}}, {}, std::move(body)}});
  };
  std::uint32_t from = first;
  if (most >= together) {
    const AffineExpr rows = plus(variable(end), variable(first), -1);
    const std::uint32_t fours = define(result, "fours", {bound(rows, together)}, false);
    for (std::uint32_t count = 1; count <= most / together; ++count)
      if_equal(variable(fours), count, one(together * count, first));
    from = define(result, "from", {bound(plus(variable(first), variable(fours), together))}, false);
  }
  for (std::uint32_t count = 1; count < std::min(together, most + 1); ++count)
    if_equal(plus(variable(end), variable(from), -1), count, one(count, from));
  return result;
}

}  // namespace tap::backend
