#include "backend/lower/register_tile.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/lower/packing.h"
#include "backend/lower/patterns.h"
#include "ir/block_graph.h"
#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

namespace {

constexpr std::uint32_t most_rows = 16;
constexpr std::uint32_t most_vectors = 8;

// Consecutive streamed blocks of a reduction run as one (box_to_run).
bool runs_whole(const Operator& op, const Blocking& b) { return op.dims[b.block_dim].role == DimRole::reduction; }

bool all_blocks_are_equal(const Operator& op, std::uint32_t dim) {
  constexpr std::int64_t looked_at = 4096;
  const Blocking* only = nullptr;
  for (const Blocking& b : op.blockings) {
    if (b.dim != dim || runs_whole(op, b)) continue;
    if (only) return false;
    only = &b;
  }
  if (!only) return true;
  Range numbers = op.dims[only->block_dim].range;
  if (numbers.size() > looked_at) return false;
  for (std::int64_t n = numbers.lo; n < numbers.hi; ++n)
    if (only->blocks.block(op.dims[dim].range, n).size() != only->blocks.block(op.dims[dim].range, numbers.lo).size())
      return false;
  return true;
}

// The work of one point, by the dims that it depends on.
class PointWork {
 public:
  PointWork(const Program& program, const Operator& op, const Extents& extents, const std::vector<bool>& prepared)
      : op_(op), extents_(extents), prepared_(prepared) {
    std::vector<CellId> roots = op.map() ? op.map()->values : op.reduce()->operands;
    needed_ = reachable_from(op.exprs, roots);
    for (CellId id : needed_) {
      if (id.index() >= follows_.size()) follows_.resize(id.index() + 1);
      for (std::size_t d = 0; d < op.dims.size(); ++d) follows_[id.index()].push_back(depends_on(op, {id}, d));
    }
    if (!op.reduce()) return;
    monoid_ = &program[op.reduce()->monoid];
    for (CellId id : reachable_from(monoid_->exprs, monoid_->combine)) combination_ += weight(monoid_->exprs[id]);
  }

  const Monoid* monoid() const { return monoid_; }
  // Of the widest type of the computation.
  std::uint32_t bytes() const {
    std::size_t widest = 1;
    auto see = [&](ElementType type) { widest = std::max(widest, size_of(compute_type(type))); };
    for (CellId id : needed_) {
      CellOp what = op_.exprs[id].op;
      if (what != CellOp::index && what != CellOp::constant && !is_bool(op_.exprs[id].type)) see(op_.exprs[id].type);
    }
    for (const TensorType& type : op_.results) see(type.element);
    if (monoid_)
      for (const MonoidComponent& c : monoid_->components) see(c.type);
    return static_cast<std::uint32_t>(widest);
  }

  struct Tile {
    std::size_t dim;
    std::optional<std::size_t> rows;
    std::uint32_t lanes, row_count, vectors;
  };
  // Instructions per point, given what the tile shares.
  double instructions(const Tile& tile) const {
    double all = 0;
    for (CellId id : needed_) all += copies(id, tile) * cost(id, tile);
    if (monoid_) all += tile.row_count * tile.vectors * combination();
    return all;
  }
  // Lane loads that rows share stay in registers.
  std::uint32_t registers(const Tile& tile) const {
    std::uint32_t all = 0;
    if (monoid_) all = tile.row_count * tile.vectors * static_cast<std::uint32_t>(monoid_->components.size());
    for (CellId id : needed_)
      if (op_.exprs[id].op == CellOp::read && follows(id, tile.dim) && !(tile.rows && follows(id, *tile.rows)))
        all += tile.vectors;
    return all;
  }
  double combination() const { return combination_; }
  // The cost of storing a vector along the dim.
  double stores(std::size_t dim, std::uint32_t lanes) const {
    double all = 0;
    for (const Access& write : op_.writes) {
      double each = kind(write.projection.start.rows, dim) == Along::strided ? 2.0 * lanes : 1;
      all += each;
    }
    return all;
  }
  double reads() const {
    double all = 0;
    for (CellId id : needed_) all += op_.exprs[id].op == CellOp::read;
    return all;
  }

 private:
  bool follows(CellId id, std::size_t dim) const { return follows_[id.index()][dim]; }
  enum class Along { same, dense, strided };
  static Along kind(const std::vector<AffineExpr>& rows, std::size_t dim) {
    Along result = Along::same;
    for (std::size_t axis = 0; axis < rows.size(); ++axis) {
      if (rows[axis].coefficients[dim] == 0) continue;
      bool dense = axis + 1 == rows.size() && rows[axis].coefficients[dim] == 1 && result == Along::same;
      result = dense ? Along::dense : Along::strided;
    }
    return result;
  }
  static double weight(const CellNode& node) {
    if (info(node.op).kind == CellKind::leaf) return 0;
    if (info(node.op).kind == CellKind::function) return 12;
    if (node.op == CellOp::div || node.op == CellOp::mod) return 6;
    return 1;
  }
  double copies(CellId id, const Tile& tile) const {
    double result = follows(id, tile.dim) ? tile.vectors : 1;
    if (tile.rows && follows(id, *tile.rows)) result *= tile.row_count;
    return result;
  }
  double cost(CellId id, const Tile& tile) const {
    const CellNode& node = op_.exprs[id];
    if (node.op != CellOp::read) return weight(node);
    const Access& access = op_.reads[node.attribute];
    for (const auto& c : access.coordinates)
      if (c && depends_on(op_, {*c}, tile.dim)) return 1.5 * tile.lanes;
    if (is_prepared(id, access, tile)) return 1;
    switch (kind(access.projection.start.rows, tile.dim)) {
      case Along::same: return 1 + (is_window(id, access, tile) ? 0 : guard(access, tile)) + way(access, tile);
      case Along::dense: return (access.fill ? 4 : 1) + from_afar(id, access, tile);
      case Along::strided: return strided(id, access, tile) + from_afar(id, access, tile);
    }
    return 1;
  }
  // Row windows are copied first (packing.h): every cell is present.
  bool is_window(CellId id, const Access& access, const Tile& tile) const {
    return monoid_ && tile.rows && follows(id, *tile.rows) && can_be_window(op_, access, extents_);
  }
  // Prepared lane operands: a vector is one load, from near memory.
  bool is_prepared(CellId id, const Access& access, const Tile& tile) const {
    return access.tensor < prepared_.size() && prepared_[access.tensor] && monoid_ && tile.rows &&
           op_.dims[tile.dim].role == DimRole::parallel && follows(id, tile.dim) && !follows(id, *tile.rows) &&
           can_be_packed(op_, access, extents_);
  }
  // Bounds checks of a cell that rows read: for each row, or once for all.
  static double guard(const Access& access, const Tile& tile) {
    if (!access.fill) return 0;
    const auto& rows = access.projection.start.rows;
    bool follows = tile.rows && std::any_of(rows.begin(), rows.end(),
                                            [&](const AffineExpr& row) { return row.coefficients[*tile.rows] != 0; });
    return follows ? 6 : 6.0 / tile.row_count;
  }
  // A cache line has many cells. Neighbouring cells are used by the rows, or by steps of the reduction; if neither,
  // every cell needs its own line, from farther away.
  double way(const Access& access, const Tile& tile) const {
    constexpr double line = reference_machine.line_cycles, cells = reference_machine.line_bytes / 4;
    if (!monoid_ || access.projection.start.rows.empty()) return 0;
    const auto& last = access.projection.start.rows.back().coefficients;
    if (tile.rows && std::abs(last[*tile.rows]) == 1) return line / cells;
    double run = 1;
    bool steps = false;
    for (std::size_t d = 0; d < op_.dims.size(); ++d) {
      if (op_.dims[d].role != DimRole::reduction) continue;
      for (const AffineExpr& row : access.projection.start.rows) steps = steps || row.coefficients[d] != 0;
      if (std::abs(last[d]) == 1) run = std::max(run, static_cast<double>(extents_.sizes[d]));
    }
    return steps ? line / std::min(run, cells) : 0;
  }
  // Lane operands are read again for other points; by then the data of a long reduction has left the near caches.
  double from_afar(CellId id, const Access& access, const Tile& tile) const {
    constexpr double near_bytes = reference_machine.l1_bytes * 3 / 4, most_steps = 512;
    if (!monoid_) return 0;
    double steps = tile.rows && follows(id, *tile.rows) ? tile.row_count : 1;
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      for (const AffineExpr& row : access.projection.start.rows)
        if (op_.dims[d].role == DimRole::reduction && row.coefficients[d] != 0)
          steps *= static_cast<double>(extents_.sizes[d]);
    const double bytes = std::min(steps, most_steps) * tile.lanes * tile.vectors * this->bytes();
    return bytes > near_bytes ? static_cast<double>(reference_machine.line_cycles) : 0;
  }
  // One load per lane; or, for a copy that is reused enough, one for all lanes, and its share of the copy.
  double strided(CellId id, const Access& access, const Tile& tile) const {
    double direct = 1.5 * tile.lanes;
    if (!monoid_ || !tile.rows || op_.dims[tile.dim].role != DimRole::parallel || follows(id, *tile.rows) ||
        !can_be_packed(op_, access, extents_))
      return direct;
    RegisterTile packed{tile.dim, tile.lanes, tile.vectors, false, tile.rows, tile.row_count};
    double copy = transposed_along(op_, access, tile.dim, *tile.rows, extents_) ? 6 : 2 * direct;
    return std::min(direct, 1 + copy / uses_of_packed(op_, access, packed, extents_));
  }

  const Operator& op_;
  const Extents& extents_;
  const std::vector<bool> prepared_;
  std::vector<CellId> needed_;
  std::vector<std::vector<bool>> follows_;  // by needed cell and dim: whether the cell depends on it
  double combination_ = 0;                  // instructions to combine two values
  const Monoid* monoid_ = nullptr;
};

bool holds(Law law) { return law == Law::proved || law == Law::assumed; }

class Chooser {
 public:
  Chooser(const Program& program, const Operator& op, const Extents& extents, const Machine& machine,
          const std::vector<bool>& prepared = {})
      : op_(op), extents_(extents), work_(program, op, extents, prepared) {
    const std::int64_t vectors = machine.vector_registers * machine.vector_bytes / full_vector_bytes;
    registers_ =
        static_cast<std::uint32_t>(std::max<std::int64_t>(vectors - std::max<std::int64_t>(vectors / 16, 1), 1));
  }

  std::optional<RegisterTile> run(bool reassociate) {
    std::uint32_t natural = static_cast<std::uint32_t>(full_vector_bytes) / work_.bytes();
    for (std::size_t d = 0; d < op_.dims.size(); ++d) {
      if (extents_.sizes[d] < 2) continue;
      std::uint32_t lanes = natural;
      while (lanes > 2 && lanes / 2 >= extents_.sizes[d]) lanes /= 2;
      bool parallel = op_.dims[d].role == DimRole::parallel && !is_constrained(op_, d);
      bool along = op_.dims[d].role == DimRole::reduction && reassociate && may_reorder() &&
                   !is_block_dim(op_, static_cast<std::uint32_t>(d));
      if (parallel || along) try_dim(d, lanes, along);
    }
    if (best_cost_ >= scalar_cost()) return {};
    return best_;
  }

  // Along the same dim, row by row.
  RegisterTile one_row(RegisterTile tile) {
    tile.rows.reset();
    tile.row_count = 1;
    for (tile.vectors = 1; tile.vectors <= most_vectors; ++tile.vectors)
      if (tile.vectors == 1 || static_cast<std::int64_t>(tile.vectors * tile.lanes) <= extents_.sizes[tile.dim])
        consider(tile);
    return *best_;
  }

  // The same order of combination as `tile`: chooses only the rows again.
  std::optional<RegisterTile> with_rows_for(const RegisterTile& tile) {
    try_rows({tile.dim, tile.lanes, tile.vectors, tile.along_reduction, {}, 1});
    return best_ ? best_ : tile;
  }

 private:
  bool may_reorder() const {
    return work_.monoid() && holds(work_.monoid()->laws.commutative) && holds(work_.monoid()->laws.associative);
  }
  double size(std::size_t d) const { return static_cast<double>(extents_.sizes[d]); }
  // Points of all other dims.
  double others(std::size_t dim, std::optional<std::size_t> rows) const {
    double points = 1;
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      if (d != dim && d != rows) points *= size(d);
    return points;
  }
  double results() const {
    double points = 1;
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      if (op_.dims[d].role != DimRole::reduction) points *= size(d);
    return points;
  }
  double scalar_cost() const {
    PointWork::Tile one{0, {}, 1, 1, 1};
    double step = std::max((work_.instructions(one) + 1) / 2, latency());
    return others(op_.dims.size(), {}) * step + results() * work_.stores(0, 1) / 2;
  }
  // Of a chain of combinations, each of which depends on the previous one.
  double latency() const { return work_.monoid() ? 4 * std::max(1.0, work_.combination() / 2) : 0; }
  double time(const PointWork::Tile& tile) const { return std::max(work_.instructions(tile) / 2 + 0.5, latency()); }

  void try_dim(std::size_t dim, std::uint32_t lanes, bool along) {
    std::uint32_t most = op_.map() ? 1 : most_vectors;
    for (std::uint32_t vectors = 1; vectors <= most; ++vectors) {
      if (vectors > 1 && static_cast<std::int64_t>(vectors * lanes) > extents_.sizes[dim]) break;
      try_rows({dim, lanes, vectors, along, {}, 1});
    }
  }

  void try_rows(RegisterTile tile) {
    consider(tile);
    if (op_.map()) return;
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      if (d != tile.dim && op_.dims[d].role == DimRole::parallel && !is_constrained(op_, d) && extents_.sizes[d] > 1)
        for (tile.rows = d, tile.row_count = 2; tile.row_count <= most_rows && tile.row_count <= extents_.sizes[d];
             ++tile.row_count)
          consider(tile);
  }

  // The parts of a dim as in lower_tiles.cpp: (how many, of which size).
  using Parts = std::vector<std::pair<double, std::uint32_t>>;
  Parts row_parts(const RegisterTile& tile) const {
    if (!tile.rows) return {{1, 1}};
    std::int64_t whole = extents_.sizes[*tile.rows] / tile.row_count,
                 rest = extents_.sizes[*tile.rows] % tile.row_count;
    Parts parts{{static_cast<double>(whole), tile.row_count}};
    if (rest > 0) parts.push_back({1, static_cast<std::uint32_t>(rest)});
    return parts;
  }
  Parts lane_parts(const RegisterTile& tile) const {
    std::int64_t step = tile.lanes * tile.vectors, size = extents_.sizes[tile.dim];
    Parts parts{{static_cast<double>(size / step), tile.vectors}};
    if (size % step > 0) parts.push_back({std::ceil(static_cast<double>(size % step) / tile.lanes), 1});
    return parts;
  }

  void consider(const RegisterTile& tile) {
    PointWork::Tile whole{tile.dim, tile.rows, tile.lanes, tile.row_count, tile.vectors};
    constexpr double code = 96;  // independent instructions: enough to hide latencies
    bool several = tile.row_count * tile.vectors > 1;
    if (several && (work_.registers(whole) > registers_ || work_.instructions(whole) > code)) return;
    double cost = 0;
    for (auto [row_steps, rows] : row_parts(tile))
      for (auto [lane_steps, vectors] : lane_parts(tile))
        cost += row_steps * lane_steps * time({tile.dim, tile.rows, tile.lanes, rows, vectors});
    cost *= others(tile.dim, tile.rows);
    if (tile.along_reduction) cost += results() * (2 * std::log2(tile.lanes) + tile.vectors) * work_.combination();
    else cost += results() / tile.lanes * work_.stores(tile.dim, tile.lanes) / 2;
    if (cost > best_cost_) return;  // the last of equal ones: later dims of an index space are nearer in memory
    best_cost_ = cost;
    best_ = tile;
  }

  const Operator& op_;
  const Extents& extents_;
  PointWork work_;
  std::uint32_t registers_;  // counted in such vectors, with some left for temporaries
  std::optional<RegisterTile> best_;
  double best_cost_ = std::numeric_limits<double>::infinity();
};

// The combination of a result must not depend on how parallel dims are split: for that decision they have the program's
// extents. Blocks of a reduction are as in the plan.
Extents whole_extents(const Operator& op, Extents extents) {
  for (std::uint32_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == DimRole::parallel) extents.sizes[d] = is_block_dim(op, d) ? 1 : op.dims[d].range.size();
  return extents;
}

}  // namespace

bool is_constrained(const Operator& op, std::size_t dim) {
  return std::any_of(op.constraints.begin(), op.constraints.end(),
                     [&](const Constraint& c) { return c.expr.coefficients[dim] != 0; });
}

Extents extents_of(const Operator& op) {
  Box first = op.box();
  for (const Blocking& b : op.blockings)
    if (!runs_whole(op, b))
      first.dims[b.block_dim].hi = std::min(first.dims[b.block_dim].hi, first.dims[b.block_dim].lo + 1);
  first = box_to_run(op, narrowed(op, first));
  Extents extents;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d) {
    extents.sizes.push_back(first.dims[d].size());
    extents.exact.push_back(all_blocks_are_equal(op, d));
  }
  return extents;
}

std::optional<RegisterTile> choose_tile(const Program& program, const Operator& op, const Extents& extents,
                                        bool reassociate, const Machine& machine, const std::vector<bool>& prepared) {
  if (op.dims.empty()) return {};
  if (std::any_of(extents.sizes.begin(), extents.sizes.end(), [](std::int64_t size) { return size == 0; })) return {};
  if (op.reduce() && reassociate) {
    auto tile = Chooser(program, op, whole_extents(op, extents), reference_machine).run(true);
    if (tile && tile->along_reduction) {
      RegisterTile row = Chooser(program, op, extents, reference_machine).one_row(*tile);  // there may be few rows
      return Chooser(program, op, extents, machine).with_rows_for(row);
    }
  }
  return Chooser(program, op, extents, machine, prepared).run(false);
}

bool uses(const Access& access, std::size_t dim) {
  return std::any_of(access.projection.start.rows.begin(), access.projection.start.rows.end(),
                     [&](const AffineExpr& row) { return row.coefficients[dim] != 0; });
}

}  // namespace tap::backend
