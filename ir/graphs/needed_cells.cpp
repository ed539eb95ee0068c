#include "ir/graphs/needed_cells.h"

#include <algorithm>

namespace tap::ir {

std::vector<CellId> needed_cells(const Operator& op, std::vector<CellId> roots) {
  std::vector<bool> seen(op.exprs.size());
  std::vector<CellId> result;
  while (!roots.empty()) {
    CellId id = roots.back();
    roots.pop_back();
    if (seen[id.index()]) continue;
    seen[id.index()] = true;
    result.push_back(id);
    const CellNode& node = op.exprs[id];
    roots.insert(roots.end(), node.args.begin(), node.args.end());
    if (node.op != CellOp::read) continue;
    const Access& access = op.reads[node.attribute];
    for (const auto& coordinate : access.coordinates)
      if (coordinate) roots.push_back(*coordinate);
    if (access.fill) roots.push_back(*access.fill);
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace tap::ir
