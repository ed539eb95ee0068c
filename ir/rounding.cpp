#include "ir/rounding.h"

#include <algorithm>
#include <iterator>

namespace tap::ir {

bool rounds(const Monoid& monoid) {
  constexpr CellOp exact[] = {CellOp::argument, CellOp::constant, CellOp::select, CellOp::min,
                              CellOp::max,      CellOp::neg,      CellOp::abs,    CellOp::cast};
  std::vector<CellId> cells = reachable_from(monoid.exprs, monoid.combine);
  return std::any_of(cells.begin(), cells.end(), [&](CellId id) {
    const CellNode& node = monoid.exprs[id];
    return is_float(node.type) && std::find(std::begin(exact), std::end(exact), node.op) == std::end(exact);
  });
}

}  // namespace tap::ir
