#include "compiler/frontend/proofs/legality_reads.h"

#include <algorithm>

namespace tap {
namespace {

// The cells that evaluating `cell` may evaluate directly.
std::vector<ir::CellId> used_cells(const ir::Operator& op, ir::CellId cell) {
  const ir::CellNode& node = op.exprs[cell];
  if (node.op != ir::CellOp::read) return node.args;
  const ir::Access& access = op.reads[node.attribute];
  std::vector<ir::CellId> used = coordinate_cells(access);
  if (access.fill) used.push_back(*access.fill);
  return used;
}

// Depth-first, without recursion, since chains of cells may be long. Calls `done` once for each cell below the roots,
// after all cells that it uses.
template <class Done>
void visit_used_first(const ir::Operator& op, const std::vector<ir::CellId>& roots, Done done) {
  struct Visit {
    ir::CellId cell;
    std::vector<ir::CellId> used;
    std::size_t next = 0;
  };
  std::vector<bool> seen(op.exprs.size(), false);
  std::vector<Visit> stack;
  auto enter = [&](ir::CellId cell) {
    if (seen[cell.index()]) return;
    seen[cell.index()] = true;
    stack.push_back({cell, used_cells(op, cell)});
  };
  for (ir::CellId root : roots) {
    enter(root);
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next < top.used.size()) {
        enter(top.used[top.next++]);
      } else {
        ir::CellId cell = top.cell;
        std::vector<ir::CellId> used = std::move(top.used);
        stack.pop_back();
        done(cell, used);
      }
    }
  }
}

std::vector<ir::CellId> roots_of(const ir::Operator& op) {
  if (const ir::MapBody* map = op.map()) return map->values;
  if (const ir::ReduceBody* reduce = op.reduce()) return reduce->operands;
  return {};
}

}  // namespace

std::vector<ir::CellId> coordinate_cells(const ir::Access& access) {
  std::vector<ir::CellId> cells;
  for (const auto& coordinate : access.coordinates) {
    if (coordinate) cells.push_back(*coordinate);
  }
  return cells;
}

ReadOrder::ReadOrder(const ir::Operator& op, const std::vector<bool>& selected)
    : roots_(roots_of(op)), leads_(op.exprs.size(), false) {
  visit_used_first(op, roots_, [&](ir::CellId cell, const std::vector<ir::CellId>& used) {
    const ir::CellNode& node = op.exprs[cell];
    bool leads = node.op == ir::CellOp::read && selected[node.attribute];
    for (ir::CellId u : used) leads = leads || leads_[u.index()];
    leads_[cell.index()] = leads;
    if (leads) cells_.push_back(cell);
  });
  std::reverse(cells_.begin(), cells_.end());
}

}  // namespace tap
