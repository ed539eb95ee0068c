#include "backend/lower/merging.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "backend/loops/may_fail.h"
#include "backend/lower/lowering.h"
#include "backend/lower/tile_dim.h"
#include "backend/tiles/patterns.h"
#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

namespace {

// Merging more cells than this hardly shortens loops, but takes dims away along which calls could split the kernel.
constexpr std::int64_t long_enough = 1024;

bool may_fail(const Program& program, const Operator& op) {
  auto fails = [&](const Access& read) { return !read.fill && may_be_outside(op, read); };
  return std::ranges::any_of(op.reads, fails) || cells_may_fail(op.exprs) ||
         (op.reduce() && cells_may_fail(program[op.reduce()->monoid].exprs));
}

using Member = Merging::Member;

class Merger {
 public:
  Merger(const Program& program, const Operator& op, const Extents& extents, const std::vector<bool>& constant,
         bool through_windows)
      : program_(program), op_(op), extents_(extents), constant_(constant), through_windows_(through_windows) {}

  std::optional<Merging> run() {
    if (op_.box().empty() || !read()) return std::nullopt;
    for (std::size_t m = 0; m < members_.size(); ++m) leave_out_points(m);
    keep_dim_of_calls();
    for (Member& member : members_) find_candidates(member);
    do join_axes();
    while (drop_unfit());
    for (std::size_t tensor = 0; tensor < types_.size(); ++tensor) found_.last.push_back(axis_that_comes_last(tensor));
    const bool any = std::ranges::any_of(members_, [](const Member& member) {
      return std::ranges::any_of(member.inner, [](const auto& inner) { return inner.has_value(); });
    });
    const bool moved = std::ranges::any_of(found_.last, [](const auto& axis) { return axis.has_value(); });
    return any || moved ? std::optional(std::move(found_)) : std::nullopt;
  }

 private:
  // An axis longer than 1, and the next one that is.
  struct Neighbours {
    std::size_t outer, inner;
  };
  std::vector<Neighbours> neighbours(std::size_t tensor) const {
    std::vector<std::size_t> axes;
    for (std::size_t axis = 0; axis < types_[tensor].shape.size(); ++axis)
      if (types_[tensor].shape[axis] != 1) axes.push_back(axis);
    std::vector<Neighbours> found;
    for (std::size_t k = 0; k + 1 < axes.size(); ++k) found.push_back({axes[k], axes[k + 1]});
    return found;
  }

  std::optional<std::size_t> axis_that_comes_last(std::size_t tensor) const {
    const Shape& shape = types_[tensor].shape;
    if (is_fixed_.contains(tensor) || shape.empty() || shape.back() != 1) return {};
    for (std::size_t axis = shape.size(); axis-- > 0;)
      if (shape[axis] > 1) return axis;
    return {};
  }

  bool read() {
    if (const RegionBody* region = op_.region()) {
      const Graph& graph = program_[region->graph];
      for (const Value& value : graph.values) types_.push_back(value.type);
      for (const Operation& operation : graph.operations) {
        Member member{&program_[operation.op], {}, {}};
        for (ValueId v : operation.operands) member.operands.push_back(v.index());
        for (ValueId v : operation.results) member.results.push_back(v.index());
        members_.push_back(std::move(member));
      }
      for (std::size_t k = 0; k < graph.inputs.size(); ++k)
        if (k < constant_.size() && constant_[k]) is_fixed_.insert(graph.inputs[k].index());
    } else {
      Member member{&op_, std::vector<std::size_t>(op_.operands.size()), std::vector<std::size_t>(op_.results.size())};
      std::iota(member.operands.begin(), member.operands.end(), std::size_t{0});
      std::iota(member.results.begin(), member.results.end(), op_.operands.size());
      types_ = op_.operands;
      types_.insert(types_.end(), op_.results.begin(), op_.results.end());
      for (std::size_t k = 0; k < constant_.size(); ++k)
        if (constant_[k]) is_fixed_.insert(k);
      members_.push_back(std::move(member));
    }
    joined_.resize(types_.size());
    for (const Member& member : members_) is_kept_.push_back(kept_dims(*member.op));
    return std::ranges::all_of(members_, [&](const Member& member) {
      return (member.op->map() || member.op->reduce()) && !may_fail(program_, *member.op);
    });
  }

  // Dims whose points are counted, compared or processed in blocks.
  static std::vector<bool> kept_dims(const Operator& op) {
    std::vector<bool> kept(op.dims.size(), false);
    for (std::size_t d = 0; d < kept.size(); ++d)
      kept[d] = op.dims[d].keep || op.dims[d].role == DimRole::counter || is_constrained(op, d);
    for (const Blocking& b : op.blockings) kept[b.dim] = kept[b.block_dim] = true;
    for (const Access& write : op.writes)
      for (std::uint32_t d : write.invariant_dims) kept[d] = true;
    for (std::size_t c = 0; c < op.exprs.size(); ++c)
      if (const CellNode& node = op.exprs[CellId(c)]; node.op == CellOp::index) kept[node.attribute] = true;
    return kept;
  }
  bool is_kept(const Member& member, std::uint32_t d) const {
    return is_kept_[static_cast<std::size_t>(&member - members_.data())][d];
  }

  // A group's own dims, and one dim of a reduction, stay even if they have one point.
  void leave_out_points(std::size_t number) {
    Member& member = members_[number];
    const std::vector<IndexDim>& dims = member.op->dims;
    member.is_point.assign(dims.size(), false);
    member.inner.resize(dims.size()), member.outer.resize(dims.size());
    auto reductions = std::ranges::count(dims, DimRole::reduction, &IndexDim::role);
    for (std::uint32_t d = 0; d < dims.size(); ++d) {
      const bool is_reduction = dims[d].role == DimRole::reduction;
      const bool stays = op_.region() ? group_dim(op_, number, d).has_value() : !extents_.exact[d];
      if (is_kept(member, d) || dims[d].range.size() != 1 || stays || (is_reduction && reductions == 1)) continue;
      member.is_point[d] = true;
      reductions -= is_reduction;
    }
  }

  // Calls split along the outermost of the merged dims, so the dim that they would choose stays outermost.
  void keep_dim_of_calls() {
    std::vector<std::size_t> parallel;
    double points = 1;
    for (std::size_t d = 0; d < op_.dims.size(); ++d) {
      points *= static_cast<double>(std::max<std::int64_t>(extents_.sizes[d], 1));
      if (op_.dims[d].role == DimRole::parallel) parallel.push_back(d);
    }
    Kernel scratch;
    const auto chosen = choose_tile_dim(scratch, program_, op_, extents_, parallel, {});
    if (chosen && extents_.sizes[*chosen] >= 2 * scratch.worth && points > 1) outermost_ = chosen;
  }

  // A coordinate that is `dim + constant`.
  static std::optional<std::uint32_t> dim_of(const Member& member, const AffineExpr& row) {
    std::optional<std::uint32_t> found;
    for (std::uint32_t d = 0; d < row.coefficients.size(); ++d) {
      if (row.coefficients[d] == 0 || member.is_point[d]) continue;
      if (found || row.coefficients[d] != 1) return std::nullopt;
      found = d;
    }
    return found;
  }
  // Of the outer axis: also `i + u`, where u is a window's dim of a reduction. It stays a dim of its own.
  std::optional<std::uint32_t> outer_dim_of(const Member& member, const AffineExpr& row) const {
    if (!through_windows_) return dim_of(member, row);
    std::optional<std::uint32_t> found;
    for (std::uint32_t d = 0; d < row.coefficients.size(); ++d) {
      if (row.coefficients[d] == 0 || member.is_point[d]) continue;
      if (member.op->dims[d].role == DimRole::reduction) continue;
      if (found || row.coefficients[d] != 1) return std::nullopt;
      found = d;
    }
    return found ? found : dim_of(member, row);
  }
  static bool is_whole(const Member& member, const AffineExpr& row, std::int64_t extent) {
    const auto d = dim_of(member, row);
    return d && member.op->dims[*d].range == Range{0, extent} && row.bounds(member.op->box()) == Range{0, extent};
  }
  template <class Visit>
  void each_access(const Member& member, Visit visit) const {
    for (const Access& read : member.op->reads) visit(read, member.operands[read.tensor]);
    for (const Access& write : member.op->writes) visit(write, member.results[write.tensor]);
  }
  static bool is_from_data(const Access& access, std::size_t axis) {
    return axis < access.coordinates.size() && access.coordinates[axis];
  }

  bool can_merge(const Member& member, std::uint32_t outer, std::uint32_t inner) const {
    const Operator& op = *member.op;
    if (outer == inner || is_kept(member, outer) || is_kept(member, inner)) return false;
    if (op.dims[outer].role != op.dims[inner].role || op.dims[inner].range.size() >= long_enough) return false;
    if (!op_.region() && !is_whole_dim(inner)) return false;
    if (!op_.region() && outermost_ == inner) return false;
    if (op.dims[outer].role == DimRole::parallel) return true;
    for (std::uint32_t d = outer + 1; d < inner; ++d)  // points are combined in this order
      if (op.dims[d].role == DimRole::reduction && !member.is_point[d]) return false;
    return outer < inner;
  }
  bool is_whole_dim(std::uint32_t d) const {
    return extents_.exact[d] && extents_.sizes[d] == op_.dims[d].range.size();
  }

  void find_candidates(Member& member) {
    std::vector<bool> twice(member.op->dims.size(), false);
    each_access(member, [&](const Access& access, std::size_t tensor) {
      for (auto [r, next] : neighbours(tensor)) {
        const auto& rows = access.projection.start.rows;
        const auto outer = outer_dim_of(member, rows[r]), inner = dim_of(member, rows[next]);
        if (!outer || !inner || !is_whole(member, rows[next], types_[tensor].shape[next])) continue;
        if (!can_merge(member, *outer, *inner) || member.inner[*outer] == inner) continue;
        if (member.inner[*outer] || member.outer[*inner]) {
          twice[*outer] = twice[*inner] = true;
          continue;
        }
        member.inner[*outer] = inner, member.outer[*inner] = outer;
      }
    });
    for (std::uint32_t d = 0; d < twice.size(); ++d)
      if (twice[d]) separate(member, d);
  }
  static void separate(Member& member, std::uint32_t d) {  // from its neighbours
    if (const auto inner = std::exchange(member.inner[d], std::nullopt)) member.outer[*inner].reset();
    if (const auto outer = std::exchange(member.outer[d], std::nullopt)) member.inner[*outer].reset();
  }

  bool is_merged_in(const Member& member, const Access& access, std::size_t tensor, Neighbours axes) const {
    const auto& rows = access.projection.start.rows;
    const auto outer = outer_dim_of(member, rows[axes.outer]), inner = dim_of(member, rows[axes.inner]);
    return outer && inner && member.inner[*outer] == inner &&
           is_whole(member, rows[axes.inner], types_[tensor].shape[axes.inner]);
  }
  // Axes are joined if every access has merged dims there, or none.
  void join_axes() {
    for (auto& joined : joined_) joined.clear();
    for (std::size_t tensor = 0; tensor < types_.size(); ++tensor)
      for (const Neighbours axes : neighbours(tensor)) {
        bool all = !is_fixed_.contains(tensor), any = false;
        for (const Member& member : members_)
          each_access(member, [&](const Access& access, std::size_t its) {
            if (its != tensor) return;
            const bool cell = !is_from_data(access, axes.outer) && !is_from_data(access, axes.inner);
            const bool merged = cell && is_merged_in(member, access, tensor, axes);
            all = all && merged;
            any = any || merged;
          });
        if (all && any) joined_[tensor][axes.inner] = axes.outer;
      }
  }
  // Separates dims that are not next to each other in an access, or too long together. Whether there were any.
  bool drop_unfit() {
    bool dropped = false;
    for (Member& member : members_) {
      std::vector<bool> used(member.op->dims.size(), false);
      each_access(member, [&](const Access& access, std::size_t tensor) {
        const auto& rows = access.projection.start.rows;
        for (std::size_t axis = 0; axis < rows.size(); ++axis)
          for (std::uint32_t d = 0; d < member.op->dims.size(); ++d) {
            if (rows[axis].coefficients[d] == 0 || member.is_point[d]) continue;
            used[d] = true;
            if (d != outer_dim_of(member, rows[axis]) && (member.inner[d] || member.outer[d]))
              separate(member, d), dropped = true;
            const auto& joined = joined_[tensor];
            auto as_outer = [&](const auto& pair) { return pair.second == axis; };
            if (member.inner[d] && std::ranges::none_of(joined, as_outer)) drop_inner(member, d, dropped);
            if (member.outer[d] && !joined.contains(axis)) drop_inner(member, *member.outer[d], dropped);
          }
      });
      for (std::uint32_t d = 0; d < used.size(); ++d)
        if (!used[d] && (member.inner[d] || member.outer[d])) separate(member, d), dropped = true;
      for (std::uint32_t d = 0; d < used.size(); ++d)
        if (member.inner[d] && size_within(member, *member.inner[d]) >= long_enough) drop_inner(member, d, dropped);
    }
    return drop_unfit_in_group() || dropped;
  }
  static void drop_inner(Member& member, std::uint32_t d, bool& dropped) {
    const auto inner = std::exchange(member.inner[d], std::nullopt);
    if (!inner) return;
    member.outer[*inner].reset();
    dropped = true;
  }
  static std::int64_t size_within(const Member& member, std::uint32_t d) {
    const std::int64_t size = member.op->dims[d].range.size();
    return member.inner[d] ? size * size_within(member, *member.inner[d]) : size;
  }

  bool can_merge_in_group(std::uint32_t outer, std::uint32_t inner) const {
    if (op_.dims[outer].role != DimRole::parallel || op_.dims[inner].role != DimRole::parallel) return false;
    if (op_.dims[inner].range.lo != 0 || !is_whole_dim(inner) || outermost_ == inner) return false;
    for (std::uint32_t d : {outer, inner}) {
      auto blocks = [d](const Blocking& b) { return b.dim == d || b.block_dim == d; };
      if (op_.dims[d].keep || is_constrained(op_, d) || std::ranges::any_of(op_.blockings, blocks)) return false;
    }
    return true;
  }
  // Merged dims of a member are merged in the group, too, or are none of its dims.
  bool drop_unfit_in_group() {
    if (!op_.region()) return false;
    bool dropped = false;
    for (std::size_t o = 0; o < members_.size(); ++o)
      for (std::uint32_t d = 0; d < members_[o].inner.size(); ++d) {
        Member& member = members_[o];
        if (!member.inner[d]) continue;
        const auto outer = group_dim(op_, o, d), inner = group_dim(op_, o, *member.inner[d]);
        if (!outer && !inner) continue;
        if (!outer || !inner || !can_merge_in_group(*outer, *inner) || !is_merged_everywhere(*outer, *inner) ||
            op_.dims[*inner].range != member.op->dims[*member.inner[d]].range)
          drop_inner(member, d, dropped);
      }
    return dropped;
  }
  bool is_merged_everywhere(std::uint32_t outer, std::uint32_t inner) const {
    auto at = [&](std::uint32_t dim, std::size_t operation) {
      std::vector<std::uint32_t> found;
      for (const GroupAnchor& a : op_.region()->anchors)
        if (a.dim == dim && a.operation == operation) found.push_back(a.inner_dim);
      return found;
    };
    for (std::size_t o = 0; o < members_.size(); ++o) {
      const auto a = at(outer, o), b = at(inner, o);
      if (a.empty() && b.empty()) continue;
      if (a.size() != 1 || b.size() != 1 || members_[o].inner[a[0]] != b[0]) return false;
    }
    return true;
  }

  const Program& program_;
  const Operator& op_;
  const Extents& extents_;
  const std::vector<bool>& constant_;
  const bool through_windows_;
  Merging found_;
  std::vector<Member>& members_ = found_.members;
  std::vector<TensorType>& types_ = found_.types;
  std::vector<std::map<std::size_t, std::size_t>>& joined_ = found_.joined;
  std::vector<std::vector<bool>> is_kept_;  // by member, by dim: it is not merged
  std::set<std::size_t> is_fixed_;          // tensors that are left as they are
  std::optional<std::size_t> outermost_;
};

}  // namespace

std::optional<std::uint32_t> group_dim(const Operator& group, std::size_t operation, std::uint32_t inner_dim) {
  for (const GroupAnchor& a : group.region()->anchors)
    if (a.operation == operation && a.inner_dim == inner_dim) return a.dim;
  return std::nullopt;
}

std::optional<Merging> find_merging(const Program& program, const Operator& op, const Extents& extents,
                                    const std::vector<bool>& constant, bool through_windows) {
  return Merger(program, op, extents, constant, through_windows).run();
}

}  // namespace tap::backend
