#include <algorithm>

#include "compiler/frontend/proofs/legality_proof.h"
#include "compiler/frontend/proofs/legality_reads.h"
#include "support/checked.h"

namespace tap {
namespace {

// Exact regions: the algebra of integer sets (see legality_reads.h).
class SetAlgebra {
 public:
  using Region = IntegerSet;

  SetAlgebra(const IntegerSets& sets, const ir::Operator& op)
      : sets_(sets), dims_(op.dims.size()), everywhere_(sets.of(op.domain())) {}

  Region everywhere() const { return everywhere_; }
  Region satisfying(const std::vector<ir::Constraint>& all) const { return sets_.of(System{dims_, all}); }
  Region unite(const Region& a, const Region& b) const { return a.unite(b); }
  Region intersect(const Region& a, const Region& b) const { return a.intersect(b); }

  Region outside(const Region& region, const ir::Access& access, const Shape& shape) const {
    Region result = sets_.none(dims_);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (checked_at_run_time(access, axis)) continue;
      std::int64_t extent = access.projection.shape[axis];
      if (extent == 0) return sets_.none(dims_);  // an empty region
      const ir::AffineExpr& start = access.projection.start.rows[axis];
      System before{dims_, {}}, after{dims_, {}};
      before.at_most(start, -1);
      after.at_least(start, checked::add(checked::sub(shape[axis], extent), 1));
      result = result.unite(region.intersect(sets_.of(before))).unite(region.intersect(sets_.of(after)));
    }
    return result;
  }

 private:
  const IntegerSets& sets_;
  std::size_t dims_;
  IntegerSet everywhere_;
};

// A cell of the point's region that is out of bounds on every axis on which the region is.
ir::Point cell_outside(const ir::Projection& projection, const Shape& shape, const ir::Point& point) {
  ir::Point cell = projection.start(point);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::int64_t last = checked::add(cell[axis], projection.shape[axis] - 1);
    if (cell[axis] >= 0 && last >= shape[axis]) cell[axis] = std::max(cell[axis], shape[axis]);
  }
  return cell;
}

std::vector<std::optional<IntegerSet>> regions_of(SetAlgebra& algebra, const ir::Operator& op,
                                                  const std::vector<bool>& selected) {
  if (!op.kernel()) return ReadRegions<SetAlgebra>(op, algebra).of(selected);
  return std::vector<std::optional<IntegerSet>>(op.reads.size(), algebra.everywhere());
}

}  // namespace

std::optional<ReadOutside> find_read_outside(const IntegerSets& sets, const ir::Operator& op,
                                             const std::vector<bool>& suspects) {
  SetAlgebra algebra(sets, op);
  std::vector<std::optional<IntegerSet>> regions = regions_of(algebra, op, suspects);
  for (std::uint32_t read = 0; read < op.reads.size(); ++read) {
    if (!suspects[read] || !regions[read]) continue;
    const ir::Access& access = op.reads[read];
    const Shape& shape = op.operands[access.tensor].shape;
    std::optional<ir::Point> point = algebra.outside(*regions[read], access, shape).lexmin();
    if (point) return ReadOutside{read, *point, cell_outside(access.projection, shape, *point)};
  }
  return std::nullopt;
}

}  // namespace tap
