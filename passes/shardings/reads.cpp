#include "passes/shardings/reads.h"

#include <algorithm>
#include <map>

#include "ir/block_graph.h"
#include "ir/graph.h"
#include "ir/interpret/linear_reductions.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "passes/operator_edit.h"
#include "passes/splits/read_groups.h"
#include "passes/splits/split_operator.h"
#include "passes/splits/split_scan.h"
#include "support/checked.h"

namespace tap::passes {

using namespace ir;

namespace {

// An operator that reads the operands of a site, with the axes that divide it.
struct Part {
  Operator op;
  std::vector<BlockPlacement> placements = {};
  std::optional<WriterBlocks> writer = {};
};
struct DimOverAxis {
  std::uint32_t dim;
  AxisRef axis;
};

// In the order of a plan's lines (plan_shardings.cpp).
std::vector<DimOverAxis> divided_dims(const Mesh& mesh, const Site& site, const std::vector<Axes>& factors) {
  std::vector<DimOverAxis> list;
  for (std::size_t f = 0; f < factors.size(); ++f)
    if (const auto dim = site.factors.factors[f].dim)
      for (const AxisRef& axis : factors[f])
        if (size_of(mesh, axis) > 1) list.push_back({*dim, axis});
  return list;
}

std::optional<SplitScan> scan_of_first(const Program& program, const Graph& graph, const Site& site, const Mesh& mesh,
                                       const std::vector<DimOverAxis>& divided) {
  if (site.operations.size() > 1 || divided.empty()) return std::nullopt;
  const Operator& op = program[graph[site.operations.front()].op];
  return split_scan(program, op, divided.front().dim, Blocks{size_of(mesh, divided.front().axis)});
}

// The blocks of the value in which the operation writes; none if the axes of a write do not follow its dims one by one.
std::optional<WriterBlocks> blocks_of_writer(const Graph& graph, const SiteShardings& site, const Operation& writer,
                                             const Operator& op) {
  if (op.writes.size() != 1) return std::nullopt;
  const auto result = std::ranges::find(site.site.results, writer.results[op.writes[0].tensor]);
  if (result == site.site.results.end()) return std::nullopt;
  const auto r = static_cast<std::size_t>(result - site.site.results.begin());
  return WriterBlocks{op.writes[0], site.results[r], graph[*result].type.shape};
}

std::vector<Part> parts_of(const Program& program, const Graph& graph, const SiteShardings& site,
                           OperationId operation) {
  const Operator& op = program[graph[operation].op];
  const Mesh& mesh = program[site.mesh];
  if (site.site.operations.size() > 1) return {{op, {}, blocks_of_writer(graph, site, graph[operation], op)}};
  const std::vector<DimOverAxis> divided = divided_dims(mesh, site.site, site.factors);
  auto placed = [&](std::uint32_t dim, const AxisRef& axis) {
    return BlockPlacement{dim, Placement::mesh_axis, site.mesh, axis};
  };
  if (auto scan = scan_of_first(program, graph, site.site, mesh, divided)) {
    const AxisRef& axis = divided.front().axis;
    const std::vector<BlockPlacement> local{placed(scan->local_block, axis)}, totals{placed(scan->totals_block, axis)};
    return {{std::move(scan->local), local}, {std::move(scan->totals), totals}};
  }
  Part part{op};
  for (const auto& [dim, axis] : divided) {
    const auto block_dim = static_cast<std::uint32_t>(part.op.dims.size());
    const std::int64_t blocks = size_of(mesh, axis);
    part.op.blockings.push_back({dim, block_dim, {blocks}});
    add_dim(part.op, {"", {0, blocks}});
    part.placements.push_back(placed(block_dim, axis));
  }
  return {std::move(part)};
}

// In nested blocks, as a plan divides what it computes.
Box box_of_position(const Mesh& mesh, const Sharding& held, const Shape& shape, const std::vector<std::int64_t>& at) {
  Box box = Box::of_shape(shape);
  for (std::size_t d = 0; d < shape.size(); ++d)
    for (const AxisRef& axis : held.dims[d].axes)
      box.dims[d] = Blocks{size_of(mesh, axis)}.block(box.dims[d], coordinate(mesh, at, axis));
  return box;
}

// The points whose writes are in the block of the value.
Box box_of_writer(const Mesh& mesh, const WriterBlocks& writer, Box box, const std::vector<std::int64_t>& at) {
  const Box own = box_of_position(mesh, writer.sharding, writer.shape, at);
  for (std::size_t axis = 0; axis < own.rank(); ++axis) {
    const AffineExpr& row = writer.write.projection.start.rows[axis];
    std::optional<std::size_t> along;
    for (std::size_t d = 0; d < row.coefficients.size(); ++d)
      if (row.coefficients[d] != 0) along = d;
    const auto terms = std::ranges::count_if(row.coefficients, [](std::int64_t c) { return c != 0; });
    if (terms == 0 && !own.dims[axis].contains(row.offset)) box.dims.assign(box.rank(), {0, 0});
    if (terms != 1 || row.coefficients[*along] < 1) continue;
    const std::int64_t step = row.coefficients[*along];
    auto first_at = [&](std::int64_t cell) {  // the first point that writes this cell or a later one
      return -checked::floor_div(row.offset - cell, step);
    };
    box.dims[*along] = intersect(box.dims[*along], Range{first_at(own.dims[axis].lo), first_at(own.dims[axis].hi)});
  }
  return box;
}

Box box_read_at(const Mesh& mesh, const SiteRead& read, const std::vector<std::int64_t>& at) {
  const Operator& op = read.transfer.op;
  Box box = op.box();
  if (read.writer) return box_of_writer(mesh, *read.writer, std::move(box), at);
  for (const BlockPlacement& p : read.transfer.placements) {
    const std::int64_t block = coordinate(mesh, at, *p.axis);
    box.dims[p.dim] = intersect(box.dims[p.dim], Range{block, block + 1});
  }
  return narrowed(op, std::move(box));
}

enum class Coordinates : std::uint8_t { all, few, ends };
std::vector<std::int64_t> coordinates_to_try(std::int64_t size, Coordinates which) {
  if (which == Coordinates::ends) return size > 1 ? std::vector{std::int64_t{0}, size - 1} : std::vector{size - 1};
  std::vector<std::int64_t> list;
  if (which == Coordinates::all)
    for (std::int64_t c = 0; c < size; ++c) list.push_back(c);
  else
    for (std::int64_t c :
         {std::int64_t{0}, std::int64_t{1}, size / 4, size / 2 - 1, size / 2, size / 4 * 3, size - 2, size - 1})
      if (c >= 0 && c < size) list.push_back(c);
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

// By axis, whether it divides what is read or held.
std::vector<bool> axes_used(const Mesh& mesh, const std::vector<SiteRead>& reads, const Sharding& held) {
  std::vector<bool> used(mesh.axes.size());
  auto use = [&](const Sharding& sharding) {
    for (const DimSharding& dim : sharding.dims)
      for (const AxisRef& axis : dim.axes) used[axis.id.index()] = true;
  };
  use(held);
  for (const SiteRead& read : reads) {
    if (read.writer) use(read.writer->sharding);
    for (const BlockPlacement& p : read.transfer.placements) used[p.axis->id.index()] = true;
  }
  return used;
}

constexpr std::int64_t few_positions = 64;

// Positions that differ in these axes; if there are many, those with a few coordinates along each, or along the first axes only.
std::vector<std::vector<std::int64_t>> positions_along(const Mesh& mesh, const std::vector<bool>& used,
                                                       std::int64_t few) {
  constexpr std::int64_t many = 4096;
  std::int64_t count = 1, fewer = 1;  // with all coordinates, and with a few
  for (std::size_t a = 0; a < used.size(); ++a) {
    if (used[a] && count <= few) count = checked::mul(count, mesh.axes[a].size);
    if (used[a] && fewer <= many) fewer *= std::ssize(coordinates_to_try(mesh.axes[a].size, Coordinates::few));
  }
  const Coordinates along = count <= few ? Coordinates::all : fewer <= many ? Coordinates::few : Coordinates::ends;
  std::vector<std::vector<std::int64_t>> positions{std::vector<std::int64_t>(mesh.axes.size(), 0)};
  for (std::size_t a = 0; a < used.size(); ++a) {
    if (!used[a] || std::ssize(positions) >= many) continue;
    std::vector<std::vector<std::int64_t>> longer;
    for (const std::vector<std::int64_t>& at : positions)
      for (std::int64_t c : coordinates_to_try(mesh.axes[a].size, along)) {
        longer.push_back(at);
        longer.back()[a] = c;
      }
    positions = std::move(longer);
  }
  return positions;
}

std::int64_t cells_received_at(const Mesh& mesh, const std::vector<SiteRead>& reads, const Sharding& held,
                               const Shape& shape, const std::vector<std::int64_t>& at) {
  const Box own = box_of_position(mesh, held, shape, at);
  std::int64_t cells = 0;
  for (const SiteRead& read : reads)
    for (const Box& piece : read_pieces(read.transfer.op, 0, box_read_at(mesh, read, at)))
      cells = checked::add(cells, piece.size() - intersect(piece, own).size());
  return cells;
}

}  // namespace

bool are_alike(const SiteRead& a, const SiteRead& b) {
  return !a.writer && !b.writer && a.transfer.placements == b.transfer.placements &&
         equal_structure(a.transfer.op, b.transfer.op);
}

std::vector<SiteRead> reads_of_site(const Program& program, const Graph& graph, const SiteShardings& site,
                                    std::size_t use) {
  const auto [operation, operand] = site.site.uses[use];
  const TensorType& type = graph[graph[operation].operands[operand]].type;
  std::vector<SiteRead> reads;
  auto add = [&](const Part& part, const Operator& op, std::uint32_t k) {
    SiteRead read{{transfer_of(op, k, type), part.placements}, part.writer};
    if (!read.writer) read.transfer = smallest_space(std::move(read.transfer.op), std::move(read.transfer.placements));
    if (std::ranges::none_of(reads, [&](const SiteRead& other) { return are_alike(other, read); }))
      reads.push_back(std::move(read));
  };
  for (const Part& part : parts_of(program, graph, site, operation)) {
    const auto groups = nearby_reads(program, part.op, part.placements, operand);
    const Operator op = with_operands_for(part.op, operand, groups);
    add(part, op, operand);
    for (std::size_t k = part.op.operands.size(); k < op.operands.size(); ++k)
      add(part, op, static_cast<std::uint32_t>(k));
  }
  return reads;
}

std::int64_t cells_received(const Mesh& mesh, const std::vector<SiteRead>& reads, const Sharding& held,
                            const Shape& shape) {
  std::int64_t most = 0;
  for (const std::vector<std::int64_t>& at : positions_along(mesh, axes_used(mesh, reads, held), few_positions))
    most = std::max(most, cells_received_at(mesh, reads, held, shape, at));
  return most;
}

std::int64_t cells_received(const Mesh& mesh, const Sharding& from, const Sharding& to, const Shape& shape) {
  std::vector<bool> used = axes_used(mesh, {}, from);
  const std::vector<bool> also = axes_used(mesh, {}, to);
  for (std::size_t a = 0; a < used.size(); ++a) used[a] = used[a] || also[a];
  std::int64_t most = 0;
  for (const std::vector<std::int64_t>& at : positions_along(mesh, used, few_positions)) {
    const Box needed = box_of_position(mesh, to, shape, at), own = box_of_position(mesh, from, shape, at);
    most = std::max(most, needed.size() - intersect(needed, own).size());
  }
  return most;
}

std::int64_t cells_read(const Mesh& mesh, const std::vector<SiteRead>& reads) {
  const Sharding nothing{};
  std::int64_t most = 0;
  for (const std::vector<std::int64_t>& at : positions_along(mesh, axes_used(mesh, reads, nothing), few_positions)) {
    std::int64_t cells = 0;
    for (const SiteRead& read : reads)
      for (const Box& piece : read_pieces(read.transfer.op, 0, box_read_at(mesh, read, at)))
        cells = checked::add(cells, piece.size());
    most = std::max(most, cells);
  }
  return most;
}

std::vector<std::int64_t> cells_received(const Mesh& mesh, const std::vector<std::int64_t>& positions,
                                         const std::vector<SiteRead>& reads, const Sharding& held, const Shape& shape) {
  const std::vector<bool> used = axes_used(mesh, reads, held);
  std::map<std::vector<std::int64_t>, std::int64_t> known;  // by position, without what makes no difference
  std::vector<std::int64_t> cells;
  for (std::int64_t index : positions) {
    std::vector<std::int64_t> at = position_of(mesh, index);
    for (std::size_t a = 0; a < used.size(); ++a)
      if (!used[a]) at[a] = 0;
    const auto [place, fresh] = known.try_emplace(std::move(at));
    if (fresh) place->second = cells_received_at(mesh, reads, held, shape, place->first);
    cells.push_back(place->second);
  }
  return cells;
}

std::vector<std::int64_t> positions_of(const Mesh& mesh) {
  constexpr std::int64_t few = 256;
  std::vector<std::int64_t> indices;
  for (const std::vector<std::int64_t>& at : positions_along(mesh, std::vector<bool>(mesh.axes.size(), true), few)) {
    std::int64_t index = 0;
    for (std::size_t a = 0; a < at.size(); ++a) index = index * mesh.axes[a].size + at[a];
    indices.push_back(index);
  }
  return indices;
}

std::optional<DividedScan> divided_scan(const Program& program, const Graph& graph, const Site& site, MeshId mesh,
                                        const std::vector<Axes>& factors) {
  if (!mesh.valid() || is_maximal(program[mesh]) || site.operations.size() > 1) return std::nullopt;
  const Operator& op = program[graph[site.operations.front()].op];
  if (!op.reduce()) return std::nullopt;
  const std::vector<DimOverAxis> divided = divided_dims(program[mesh], site, factors);
  const auto scan = scan_of_first(program, graph, site, program[mesh], divided);
  if (!scan) return std::nullopt;
  const AxisRef& over = divided.front().axis;
  DividedScan found{divided.front().dim, find_scan(op)->reduced, over, 0};
  const std::int64_t blocks = size_of(program[mesh], over);
  for (const TensorType& totals : scan->totals.results)
    found.bytes_of_totals +=
        element_count(totals.shape) / blocks * (blocks - 1) * static_cast<std::int64_t>(size_of(totals.element));
  return found;
}

}  // namespace tap::passes
