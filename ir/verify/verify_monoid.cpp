#include "ir/graph.h"
#include "ir/verify/verify_parts.h"

namespace tap::ir::verifying {
namespace {

void verify_roots(Violations& out, const Monoid& monoid, const CellExprs& exprs, const std::vector<CellId>& roots,
                  std::string_view what) {
  if (!out.expect(roots.size() == monoid.arity(), "{} has {} values for {} components", what, roots.size(),
                  monoid.arity()))
    return;
  for (std::size_t c = 0; c < roots.size(); ++c) {
    if (!out.expect(valid(roots[c], exprs), "{} {} is not a cell", what, c)) continue;
    ElementType found = exprs[roots[c]].type, expected = monoid.components[c].type;
    out.expect(found == expected, "{} {} is {}, but its component is {}", what, c, name_of(found), name_of(expected));
  }
}

// Cells that depend on the fold's index: those that depend on an argument other than through a reduction.
std::vector<bool> indexed_cells(const CellExprs& exprs) {
  std::vector<bool> indexed(exprs.size(), false);
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    const CellNode& node = exprs[CellId(i)];
    indexed[i] = node.op == CellOp::argument;
    if (node.op == CellOp::reduce) continue;
    for (CellId arg : node.args) indexed[i] = indexed[i] || indexed[arg.index()];
  }
  return indexed;
}

void verify_fold(Violations& out, const Program& program, const Monoid& monoid) {
  Violations::Scope at(out, "fold");
  const Fold& fold = *monoid.fold;
  verify_cells(out, program, fold.exprs, {nullptr, &monoid.components, monoid.arity(), true});
  verify_roots(out, monoid, fold.exprs, fold.roots, "result");
  std::vector<bool> indexed = indexed_cells(fold.exprs);
  for (std::size_t c = 0; c < fold.roots.size(); ++c)
    out.expect(!valid(fold.roots[c], fold.exprs) || !indexed[fold.roots[c].index()],
               "result {} depends on the fold's index", c);
}

void verify_monoid(Violations& out, const Program& program, const Monoid& monoid) {
  if (!out.expect(monoid.arity() > 0, "it has no components")) return;
  verify_cells(out, program, monoid.exprs, {nullptr, &monoid.components, 2 * monoid.arity(), false});
  verify_roots(out, monoid, monoid.exprs, monoid.identity, "identity");
  verify_roots(out, monoid, monoid.exprs, monoid.combine, "combination");
  for (std::size_t c = 0; c < monoid.identity.size(); ++c)
    if (valid(monoid.identity[c], monoid.exprs))
      out.expect(monoid.exprs[monoid.identity[c]].op == CellOp::constant, "identity {} is not a constant", c);
  if (monoid.fold) verify_fold(out, program, monoid);
  else out.expect(monoid.laws.fold == Law::unknown, "the fold law is stated, but there is no fold");
}

}  // namespace

// A fold may reduce by monoids with folds, but not, directly or indirectly, by its own: it may only refer to earlier
// monoids of the table.
void verify_monoids(Violations& out, const Program& program) {
  for (std::size_t i = 0; i < program.monoids.size(); ++i) {
    const Monoid& monoid = program.monoids[i];
    Violations::Scope at(out, "monoid {} ({})", i, monoid.name);
    verify_monoid(out, program, monoid);
    if (!monoid.fold) continue;
    for (std::size_t k = 0; k < monoid.fold->exprs.size(); ++k) {
      const CellNode& node = monoid.fold->exprs[CellId(k)];
      if (node.op == CellOp::reduce)
        out.expect(node.attribute < i, "the fold reduces by monoid {}, which is not declared before it",
                   node.attribute);
    }
  }
}

}  // namespace tap::ir::verifying
