#include "compiler/frontend/laws_memory.h"

#include <algorithm>

namespace tap {

namespace {

// A monoid in terms that hold in any program: the monoids that its fold uses, numbered as they appear in it.
struct Closed {
  ir::Monoid monoid;
  std::vector<ir::Monoid> used;
};
Closed closed(const ir::Program& program, ir::Monoid monoid) {
  Closed result{std::move(monoid), {}};
  if (!result.monoid.fold) return result;
  std::vector<std::uint32_t> seen;
  ir::CellExprs renumbered;
  const ir::CellExprs& exprs = result.monoid.fold->exprs;
  for (std::size_t k = 0; k < exprs.size(); ++k) {
    ir::CellNode node = exprs[ir::CellId(k)];
    if (node.op == ir::CellOp::reduce) {
      auto at = std::find(seen.begin(), seen.end(), node.attribute);
      if (at == seen.end()) {
        result.used.push_back(program[ir::MonoidId(node.attribute)]);
        at = seen.insert(at, node.attribute);
      }
      node.attribute = static_cast<std::uint32_t>(at - seen.begin());
    }
    renumbered.add(std::move(node));
  }
  result.monoid.fold->exprs = std::move(renumbered);
  return result;
}

}  // namespace

const LawVerdict& LawMemory::verdict(const ir::Program& program, const ir::Monoid& monoid) {
  auto alike = [](const ir::Monoid& a, const ir::Monoid& b) { return ir::equal_structure(a, b); };
  auto [key, used] = closed(program, monoid);
  for (const Known& known : known_)
    if (equal_structure(known.monoid, key) &&
        std::equal(used.begin(), used.end(), known.used.begin(), known.used.end(), alike))
      return known.verdict;
  return known_.emplace_back(Known{std::move(key), std::move(used), check_laws(program, monoid)}).verdict;
}

}  // namespace tap
