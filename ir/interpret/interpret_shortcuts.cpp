// Reductions in linear work: prefix sums and similar scans, where each cell extends the result of its predecessor,
// and scatters, in one pass over the terms. Both give the values of the definition, in its order.
#include <algorithm>

#include "ir/interpret/interpret_cell_operation.h"
#include "ir/interpret/interpret_domain.h"

namespace tap::ir::oracle {

// Follows the dim in the direction in which the ranges grow; each cell combines only the terms that its neighbour
// lacks.
void CellOperation::reduce_by_scan(const Scan& scan) {
  Dims others;
  std::copy_if(parallel_.begin(), parallel_.end(), std::back_inserter(others), [&](auto d) { return d != scan.along; });
  LoopNest outer(op_, others, constraints_without({scan.along, scan.reduced}));
  LoopNest along(op_, {scan.along}, constraints_on({scan.along}, {scan.reduced}));
  LoopNest inner(op_, {scan.reduced}, constraints_on({scan.reduced}, {}));
  for (bool more = outer.first(point_); more; more = outer.next(point_)) {
    combiner_->reset(states_.data());
    Range done{0, 0};
    Range cells = along.range(point_);
    for (std::int64_t n = 0; n < cells.size(); ++n) {
      point_[scan.along] = scan.ascending ? cells.lo + n : cells.hi - 1 - n;
      Range range = inner.range(point_);
      if (!range.empty() && done.empty())
        done = scan.at_the_right ? Range{range.lo, range.lo} : Range{range.hi, range.hi};
      std::int64_t& k = point_[scan.reduced];
      for (; !range.empty() && scan.at_the_right && done.hi < range.hi; ++done.hi) {
        k = done.hi;
        evaluate_operands();
        combiner_->append(states_.data(), operands_.data());
      }
      for (; !range.empty() && !scan.at_the_right && done.lo > range.lo; --done.lo) {
        k = done.lo - 1;
        evaluate_operands();
        combiner_->prepend(states_.data(), operands_.data());
      }
      write_state(states_.data());
    }
  }
}

std::vector<BlockId> CellOperation::compile_guards(const Scatter& scatter) {
  std::vector<BlockId> blocks;
  for (CellId condition : scatter.conditions) blocks.push_back(cells_.compile({condition}));
  for (const Scatter::Target& target : scatter.targets) blocks.push_back(cells_.compile({target.selector}));
  return blocks;
}

// One pass over the reduction dims for all cells of the targets' dims. Returns false, before it writes anything, if a
// selector is inexact (computed from floats), so that a bound must cover every cell.
bool CellOperation::reduce_by_scatter(const Scatter& scatter) {
  Dims targets, others;
  for (const Scatter::Target& t : scatter.targets) targets.push_back(t.dim);
  for (std::uint32_t d : parallel_)
    if (std::find(targets.begin(), targets.end(), d) == targets.end()) others.push_back(d);
  Dims neither = targets;
  neither.insert(neither.end(), reduced_.begin(), reduced_.end());
  std::vector<Constraint> on_targets = constraints_on(targets, reduced_);
  std::vector<BlockId> blocks = compile_guards(scatter);

  LoopNest outer(op_, others, constraints_without(neither));
  LoopNest inner(op_, reduced_, constraints_on(reduced_, {}));
  LoopNest along(op_, targets, on_targets);
  std::int64_t cells = 1;
  for (std::uint32_t d : targets) cells *= op_.dims[d].range.size();
  if (cells == 0) return true;
  states_.resize(static_cast<std::size_t>(cells) * combiner_->arity());
  for (bool more = outer.first(point_); more; more = outer.next(point_)) {
    for (std::size_t s = 0; s < states_.size(); s += combiner_->arity()) combiner_->reset(&states_[s]);
    for (std::uint32_t d : targets) point_[d] = op_.dims[d].range.lo;
    for (bool term = inner.first(point_); term; term = inner.next(point_)) {
      if (scatter_term(scatter, blocks, on_targets) == Term::uncertain) return false;
    }
    for (bool cell = along.first(point_); cell; cell = along.next(point_)) write_state(state_at_targets(scatter));
  }
  return true;
}

CellOperation::Term CellOperation::scatter_term(const Scatter& scatter, const std::vector<BlockId>& blocks,
                                                const std::vector<Constraint>& on_targets) {
  cells_.begin_point();
  std::size_t block = 0;
  for (CellId condition : scatter.conditions) {
    cells_.run(blocks[block++]);
    if (cells_[condition].error > 0) return Term::uncertain;
    if (cells_[condition].value.i == 0) return Term::not_taken;
  }
  for (const Scatter::Target& target : scatter.targets) {
    cells_.run(blocks[block++]);
    if (cells_[target.selector].error > 0) return Term::uncertain;
    point_[target.dim] = 0;
    std::int64_t distance = 0;
    bool far = __builtin_sub_overflow(cells_[target.selector].value.i, target.equals(point_), &distance);
    Range range = op_.dims[target.dim].range;
    bool hit = !far && distance != least_integer(ElementType::i64) && range.contains(target.sign * distance);
    point_[target.dim] = hit ? target.sign * distance : range.lo;
    if (!hit) return Term::not_taken;
  }
  for (const Constraint& c : on_targets)
    if (!c.holds(point_)) return Term::not_taken;
  evaluate_operands();
  combiner_->append(state_at_targets(scatter), operands_.data());
  return Term::added;
}

ComponentState* CellOperation::state_at_targets(const Scatter& scatter) {
  std::int64_t at = 0;
  for (const Scatter::Target& t : scatter.targets) {
    Range range = op_.dims[t.dim].range;
    at = at * range.size() + (point_[t.dim] - range.lo);
  }
  return &states_[static_cast<std::size_t>(at) * combiner_->arity()];
}

}  // namespace tap::ir::oracle
