#include "passes/caution.h"

#include <algorithm>

#include "passes/cut.h"

namespace tap::passes {

using namespace ir;

namespace {

// Whether what it combines is rounded anew: then the order shows.
bool rounds(const Monoid& monoid) {
  constexpr CellOp exact[] = {CellOp::argument, CellOp::constant, CellOp::select, CellOp::min,
                              CellOp::max,      CellOp::neg,      CellOp::abs,    CellOp::cast};
  std::vector<CellId> cells = reachable_from(monoid.exprs, monoid.combine);
  return std::any_of(cells.begin(), cells.end(), [&](CellId id) {
    const CellNode& node = monoid.exprs[id];
    return is_float(node.type) && std::find(std::begin(exact), std::end(exact), node.op) == std::end(exact);
  });
}

}  // namespace

std::string why_not_in_parts(const Program& program, const Operator& reduction, const Caution& caution) {
  const Monoid& monoid = program[*monoid_of(reduction)];
  const std::string name = "`" + monoid.name + "`";
  if (monoid.laws.associative == Law::broken) return name + " is not associative";
  if (caution.require_proof && monoid.laws.associative != Law::proved)
    return "that " + name + " is associative is only assumed, and everything is to be proved";
  if (caution.strict_fp && rounds(monoid))
    return name + " rounds what it combines, and floats are to be combined in the order that is written";
  return "";
}

}  // namespace tap::passes
