#include "passes/caution.h"

#include <algorithm>

#include "passes/splits/cut.h"

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

std::string assumptions(const std::string& monoid, std::initializer_list<Law> laws, bool finite) {
  std::string text;
  if (std::find(laws.begin(), laws.end(), Law::assumed) != laws.end()) text = "the laws of `" + monoid + "` hold";
  if (finite) text += text.empty() ? "values are finite" : " and values are finite";
  return text.empty() ? "" : std::string(assuming) + text;
}

}  // namespace tap::passes
