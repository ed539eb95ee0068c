// The points at which an operator evaluates its reads: `if i > 0 then x[i-1] else 0` reads x only at points with i >
// 0. Guards come from lazy cells; a condition that is not affine adds no guard. Generic over the algebra of point
// sets: boxes (fast, over-approximate) and integer sets (exact).
//
//   struct Algebra {
//     using Region = …;
//     Region everywhere();                                             // the operator's domain
//     Region satisfying(const std::vector<ir::Constraint>&);           // its points that satisfy them all
//     Region unite(const Region&, const Region&);
//     Region intersect(const Region&, const Region&);
//     Region outside(const Region&, const ir::Access&, const Shape&);  // its points whose access leaves the tensor
//   };
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/frontend/proofs/legality_box.h"
#include "ir/operator.h"
#include "support/checked.h"

namespace tap {

// The cells that lead from the roots to a selected access, each after all cells that use it.
class ReadOrder {
 public:
  ReadOrder(const ir::Operator& op, const std::vector<bool>& selected);
  const std::vector<ir::CellId>& cells() const { return cells_; }
  bool leads(ir::CellId cell) const { return leads_[cell.index()]; }
  const std::vector<ir::CellId>& roots() const { return roots_; }

 private:
  std::vector<ir::CellId> cells_;
  std::vector<ir::CellId> roots_;
  std::vector<bool> leads_;
};
// The cells that an access evaluates in addition to its operand: data-dependent coordinates.
std::vector<ir::CellId> coordinate_cells(const ir::Access& access);

template <class Algebra>
class ReadRegions {
 public:
  using Region = typename Algebra::Region;

  ReadRegions(const ir::Operator& op, Algebra& algebra) : op_(op), algebra_(algebra) {}

  // Per access, where it is evaluated; empty if nowhere, or if it is not selected.
  std::vector<std::optional<Region>> of(const std::vector<bool>& selected) {
    ReadOrder order(op_, selected);
    where_.assign(op_.exprs.size(), std::nullopt);
    std::vector<std::optional<Region>> result(op_.reads.size());
    for (ir::CellId root : order.roots()) reach(order, root, algebra_.everywhere());
    for (ir::CellId cell : order.cells()) {
      std::optional<Region>& region = where_[cell.index()];
      if (!region) continue;
      const ir::CellNode& node = op_.exprs[cell];
      if (node.op == ir::CellOp::read) join(result[node.attribute], *region);
      pass_on(order, node, *region);
      region.reset();
    }
    return result;
  }

 private:
  void join(std::optional<Region>& into, const Region& region) { into = into ? algebra_.unite(*into, region) : region; }
  void reach(const ReadOrder& order, ir::CellId cell, const Region& region) {
    if (order.leads(cell)) join(where_[cell.index()], region);
  }
  void reach_if(const ReadOrder& order, ir::CellId cell, const Region& region, ir::CellId condition, bool negated) {
    if (order.leads(cell)) join(where_[cell.index()], algebra_.intersect(region, truth(condition, negated)));
  }

  void pass_on(const ReadOrder& order, const ir::CellNode& node, const Region& region) {
    switch (node.op) {
      case ir::CellOp::select:
        reach(order, node.args[0], region);
        reach_if(order, node.args[1], region, node.args[0], false);
        reach_if(order, node.args[2], region, node.args[0], true);
        return;
      case ir::CellOp::logical_and:
      case ir::CellOp::logical_or:
        reach(order, node.args[0], region);
        reach_if(order, node.args[1], region, node.args[0], node.op == ir::CellOp::logical_or);
        return;
      case ir::CellOp::read: return pass_on_read(order, op_.reads[node.attribute], region);
      default:
        for (ir::CellId arg : node.args) reach(order, arg, region);
    }
  }
  // The fill is evaluated where the read is out of bounds; with a data-dependent coordinate, that may be anywhere.
  void pass_on_read(const ReadOrder& order, const ir::Access& access, const Region& region) {
    std::vector<ir::CellId> coordinates = coordinate_cells(access);
    for (ir::CellId cell : coordinates) reach(order, cell, region);
    if (!access.fill || !order.leads(*access.fill)) return;
    reach(order, *access.fill,
          coordinates.empty() ? algebra_.outside(region, access, op_.operands[access.tensor].shape) : region);
  }

  // The points where a condition is true (or false), or may be.
  const Region& truth(ir::CellId condition, bool negated) {
    std::pair key(condition, negated);
    if (auto known = truths_.find(key); known != truths_.end()) return known->second;
    Region region = find_truth(condition, negated);
    return truths_.emplace(key, std::move(region)).first->second;
  }
  Region find_truth(ir::CellId condition, bool negated) {
    if (auto all = as_constraints(op_, condition, negated)) return algebra_.satisfying(*all);
    if (auto all = as_constraints(op_, condition, !negated)) return any_fails(*all);
    const ir::CellNode& node = op_.exprs[condition];
    switch (node.op) {
      case ir::CellOp::logical_not: return truth(node.args[0], !negated);
      case ir::CellOp::logical_and:
      case ir::CellOp::logical_or: {
        const Region& a = truth(node.args[0], negated);
        const Region& b = truth(node.args[1], negated);
        return (node.op == ir::CellOp::logical_or) != negated ? algebra_.unite(a, b) : algebra_.intersect(a, b);
      }
      case ir::CellOp::select:
        return algebra_.unite(algebra_.intersect(truth(node.args[0], false), truth(node.args[1], negated)),
                              algebra_.intersect(truth(node.args[0], true), truth(node.args[2], negated)));
      default: return algebra_.everywhere();
    }
  }
  // The points where at least one of the constraints does not hold.
  Region any_fails(const std::vector<ir::Constraint>& all) {
    std::optional<Region> result;
    auto add = [&](ir::AffineExpr e) {  // e > 0
      e.offset = checked::sub(e.offset, 1);
      join(result, algebra_.satisfying({{std::move(e), ir::Comparison::at_least_zero}}));
    };
    for (const ir::Constraint& c : all) {
      add(scale(c.expr, -1));
      if (c.comparison == ir::Comparison::equal_zero) add(c.expr);
    }
    if (result) return *result;
    std::size_t dims = op_.dims.size();
    return algebra_.satisfying({{ir::AffineExpr::constant(dims, -1), ir::Comparison::at_least_zero}});
  }

  const ir::Operator& op_;
  Algebra& algebra_;
  std::vector<std::optional<Region>> where_;  // by cell
  std::map<std::pair<ir::CellId, bool>, Region> truths_;
};

}  // namespace tap
