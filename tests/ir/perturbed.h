// Another evaluation of cell expressions, as a compiler of narrow floats might make it: every intermediate result is rounded
// to f32 or, at random, kept wider; library functions are off by up to 2 ulp; reductions run over random trees.
#pragma once

#include <cmath>
#include <functional>
#include <random>
#include <unordered_map>

#include "ir/interpret/interpret_number.h"
#include "ir/monoid.h"

namespace tap::ir::test {

using oracle::Number;

class Perturbed {
 public:
  Perturbed(const CellExprs& exprs, std::mt19937& rng) : exprs_(exprs), rng_(rng) {}
  std::function<Number(const CellNode&)> leaf;  // reads and arguments

  Number operator()(CellId id) {
    known_.clear();
    return evaluate(id);
  }

 private:
  Number evaluate(CellId id) {
    auto it = known_.find(id);
    if (it != known_.end()) return it->second;
    Number r = compute(exprs_[id]);
    known_[id] = r;
    return r;
  }

  Number compute(const CellNode& node) {
    switch (node.op) {
      case CellOp::constant: return oracle::number_of(node.value);
      case CellOp::read:
      case CellOp::argument: return leaf(node);
      case CellOp::select: return evaluate(node.args[evaluate(node.args[0]).i != 0 ? 1 : 2]);
      case CellOp::logical_and: return evaluate(node.args[0]).i != 0 ? evaluate(node.args[1]) : oracle::integer(0);
      case CellOp::logical_or: return evaluate(node.args[0]).i != 0 ? oracle::integer(1) : evaluate(node.args[1]);
      default: break;
    }
    Number a = evaluate(node.args[0]), b = node.args.size() > 1 ? evaluate(node.args[1]) : oracle::number(0);
    ElementType operand = exprs_[node.args[0]].type;
    if (node.op == CellOp::cast) return oracle::apply_cast(operand, node.type, a);
    if (!is_float(operand)) return oracle::apply_integer(node.op, operand, a, b);
    Number r = oracle::apply_float(node.op, a, b);
    if (!is_float(node.type)) return r;
    if (info(node.op).kind == CellKind::function) r.f = off_by_two_ulp(node.op, r.f);
    bool wider = std::uniform_int_distribution<>(0, 3)(rng_) == 0;
    return oracle::number(wider ? r.f : round_to(r.f, compute_type(node.type)));
  }

  double off_by_two_ulp(CellOp op, double r) {
    bool exact = op == CellOp::floor || op == CellOp::ceil || op == CellOp::round || op == CellOp::sqrt;
    if (exact || !std::isfinite(r)) return r;
    auto f = static_cast<float>(r);
    int ulps = std::uniform_int_distribution<>(-2, 2)(rng_);
    for (; ulps > 0; --ulps) f = std::nextafter(f, INFINITY);
    for (; ulps < 0; ++ulps) f = std::nextafter(f, -INFINITY);
    return f;
  }

  const CellExprs& exprs_;
  std::mt19937& rng_;
  std::unordered_map<CellId, Number> known_;
};

// Combines terms[lo, hi) over a random binary tree, in order. Each term holds one number per component.
inline std::vector<Number> combine_over_random_tree(const Monoid& monoid, const std::vector<std::vector<Number>>& terms,
                                                    std::size_t lo, std::size_t hi, std::mt19937& rng) {
  std::size_t n = monoid.arity();
  std::vector<Number> result;
  if (hi == lo) {
    for (CellId id : monoid.identity) result.push_back(oracle::number_of(monoid.exprs[id].value));
    return result;
  }
  if (hi - lo == 1) return terms[lo];
  // A chain from either side, a balanced tree or anything between.
  std::size_t middle = lo + 1;
  int shape = std::uniform_int_distribution<>(0, 3)(rng);
  if (shape == 1) middle = hi - 1;
  if (shape == 2) middle = lo + (hi - lo) / 2;
  if (shape == 3) middle = std::uniform_int_distribution<std::size_t>(lo + 1, hi - 1)(rng);
  auto earlier = combine_over_random_tree(monoid, terms, lo, middle, rng);
  auto later = combine_over_random_tree(monoid, terms, middle, hi, rng);
  Perturbed cells(monoid.exprs, rng);
  cells.leaf = [&](const CellNode& node) {
    return node.attribute < n ? earlier[node.attribute] : later[node.attribute - n];
  };
  for (CellId id : monoid.combine) result.push_back(cells(id));
  return result;
}

}  // namespace tap::ir::test
