// Whether a proof of a fold's law for blocks of one and two elements holds for all blocks. It does if the fold has the
// form
//
//   fold[j] (t, w, v) = let m = max[j] t[j], e[j] = … t[j] … m … in (m, sum[j] e[j] * w[j], sum[j] e[j] * v[j])
//
// with at most one *picked* component, reduced by max or min of the component itself, and *summed* ones: sums of a cell
// of the element and of the picked value, in which `combine` is linear for its two states, with factors of the picked
// one. Then both sides of fold(xs ++ ys) = combine(fold xs, fold ys) are sums over the elements, for given picked
// values p of xs and q of ys: Σ g(x, p, q) + Σ h(y, p, q) = 0. Some element y* of a block has the picked value. The
// blocks [y*], [z*] give g(y*) + h(z*) = 0, the blocks [x, y*], [z*] give g(x) + g(y*) + h(z*) = 0, so that g(x) = 0
// for every x, and likewise h. For a fold that only reduces by the operations of `combine`, one element each is enough.
#include <algorithm>
#include <initializer_list>

#include "compiler/frontend/proofs/laws_proof.h"
#include "ir/graph.h"

namespace tap {
namespace {

using ir::CellId;
using ir::CellOp;

// How a cell depends on the summed components of the two states.
enum class Degree { none, linear, other };

bool is_zero_cell(const ir::CellNode& node) {
  return node.op == CellOp::constant && node.value == ir::Scalar::zero(node.type);
}

Degree of_sum(Degree a, Degree b) { return a == b ? a : Degree::other; }

std::vector<Degree> degrees_of(const ir::Monoid& monoid, const std::vector<bool>& summed) {
  const ir::CellExprs& exprs = monoid.exprs;
  std::vector<Degree> degrees(exprs.size(), Degree::other);
  auto zero_or = [&](CellId cell, Degree other) { return is_zero_cell(exprs[cell]) ? other : degrees[cell.index()]; };
  for (std::size_t k = 0; k < exprs.size(); ++k) {
    const ir::CellNode& node = exprs[CellId(k)];
    auto degree = [&](std::size_t n) { return degrees[node.args[n].index()]; };
    bool is_independent = std::all_of(node.args.begin(), node.args.end(),
                                      [&](CellId arg) { return degrees[arg.index()] == Degree::none; });
    if (node.op == CellOp::argument)
      degrees[k] = summed[node.attribute % monoid.arity()] ? Degree::linear : Degree::none;
    else if (is_independent) degrees[k] = Degree::none;
    else if (node.op == CellOp::neg) degrees[k] = degree(0);
    else if (node.op == CellOp::add || node.op == CellOp::sub)
      degrees[k] = of_sum(zero_or(node.args[0], degree(1)), zero_or(node.args[1], degree(0)));
    else if (node.op == CellOp::mul && degree(0) == Degree::none) degrees[k] = degree(1);
    else if ((node.op == CellOp::mul || node.op == CellOp::div) && degree(1) == Degree::none) degrees[k] = degree(0);
    else if (node.op == CellOp::select && degree(0) == Degree::none)
      degrees[k] = of_sum(zero_or(node.args[1], degree(2)), zero_or(node.args[2], degree(1)));
  }
  return degrees;
}

class FoldShape {
 public:
  FoldShape(const ir::Program& program, const ir::Monoid& monoid)
      : program_(program), monoid_(monoid), exprs_(monoid.fold->exprs) {}

  bool small_blocks_decide() {
    for (CellId root : monoid_.fold->roots)
      if (exprs_[root].op != CellOp::reduce) return false;
    std::vector<bool> summed;
    for (CellId root : monoid_.fold->roots) summed.push_back(!is_direct(root));
    if (std::none_of(summed.begin(), summed.end(), [](bool s) { return s; })) return true;
    std::vector<CellId> picked;
    for (std::size_t k = 0; k < summed.size(); ++k)
      if (!summed[k]) picked.push_back(monoid_.fold->roots[k]);
    if (picked.size() > 1 || (picked.size() == 1 && !is_builtin(by(picked[0]), {"max", "min"}))) return false;
    for (std::size_t k = 0; k < summed.size(); ++k)
      if (summed[k] && !is_sum_of(monoid_.fold->roots[k], picked)) return false;
    return combines_linearly(summed);
  }

 private:
  const ir::Monoid& by(CellId reduce) const { return program_[ir::MonoidId(exprs_[reduce].attribute)]; }
  bool is_builtin(const ir::Monoid& monoid, std::initializer_list<const char*> names) const {
    return std::any_of(names.begin(), names.end(), [&](const char* name) {
      auto builtin = ir::builtin_monoid(name, monoid.components[0].type);
      return builtin && ir::equal_structure(*builtin, monoid);
    });
  }
  // Of a component itself: single states cover what single elements show.
  bool is_direct(CellId root) const {
    return is_builtin(by(root), {"sum", "prod", "max", "min", "any", "all"}) &&
           exprs_[exprs_[root].args[0]].op == CellOp::argument;
  }
  // A sum of a cell that depends on the element and, for other elements, only on what is picked.
  bool is_sum_of(CellId root, const std::vector<CellId>& picked) const {
    if (!is_builtin(by(root), {"sum"}) || !is_float(exprs_[root].type)) return false;
    std::vector<CellId> open{exprs_[root].args[0]};
    while (!open.empty()) {
      CellId cell = open.back();
      open.pop_back();
      bool is_picked = std::find(picked.begin(), picked.end(), cell) != picked.end();
      if (exprs_[cell].op == CellOp::reduce && !is_picked) return false;
      if (!is_picked) open.insert(open.end(), exprs_[cell].args.begin(), exprs_[cell].args.end());
    }
    return true;
  }
  bool combines_linearly(const std::vector<bool>& summed) const {
    std::vector<Degree> degrees = degrees_of(monoid_, summed);
    for (std::size_t k = 0; k < summed.size(); ++k) {
      Degree expected = summed[k] ? Degree::linear : Degree::none;
      if (degrees[monoid_.combine[k].index()] != expected) return false;
    }
    return true;
  }

  const ir::Program& program_;
  const ir::Monoid& monoid_;
  const ir::CellExprs& exprs_;
};

}  // namespace

bool small_blocks_decide(const ir::Program& program, const ir::Monoid& monoid) {
  return FoldShape(program, monoid).small_blocks_decide();
}

}  // namespace tap
