// Einsums for the tests of contraction orders: every way to contract one, by the rules on letters alone; the operator that it
// is over any semiring; and whether another program gives the same values.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "ir/verify/verify.h"
#include "passes/rewrites/contraction.h"
#include "tests/ir/build.h"

namespace tap::passes::einsum {

inline Reassociation reassociated(const ir::Program& program, const ir::Operator& op, bool strict_fp = false) {
  return Reassociator().run(program, op, strict_fp);
}

using namespace tap::ir;
using namespace tap::ir::test;

using Letters = std::set<char>;
struct Einsum {
  std::vector<std::string> operands;
  std::string result;
  std::map<char, std::int64_t> size;

  double points(const Letters& letters) const {
    double n = 1;
    for (char c : letters) n *= static_cast<double>(size.at(c));
    return n;
  }
};

struct Piece {
  Letters letters;
  double flops;
};

// The best of all orders: every way to compute the product of a set of operands, reduced as far as the others let it. With
// `known` sets are looked at once, without it every tree of them is.
class ExhaustiveSearch {
 public:
  ExhaustiveSearch(const Einsum& e, bool remember) : e_(e), remember_(remember) {}

  double best() { return pieces((1u << e_.operands.size()) - 1)[0].flops; }

 private:
  std::vector<Piece> pieces(std::uint32_t operands) {
    if (auto known = known_.find(operands); known != known_.end()) return known->second;
    std::vector<Piece> found = (operands & (operands - 1)) == 0 ? leaf(operands) : joined(operands);
    if (remember_) known_[operands] = found;
    return found;
  }

  std::vector<Piece> leaf(std::uint32_t operand) {
    std::size_t k = 0;
    while ((operand >> k & 1) == 0) ++k;
    Letters own(e_.operands[k].begin(), e_.operands[k].end());
    std::vector<Piece> pieces{{own, 0}};
    if (needed(own, operand) != own) pieces.push_back({needed(own, operand), e_.points(own)});
    return pieces;
  }

  std::vector<Piece> joined(std::uint32_t operands) {
    const bool whole = operands == (1u << e_.operands.size()) - 1;
    Piece best{{}, std::numeric_limits<double>::infinity()};
    for (std::uint32_t left = (operands - 1) & operands; left != 0; left = (left - 1) & operands) {
      if (left < (operands & ~left)) continue;  // each pair once
      for (const Piece& a : pieces(left))
        for (const Piece& b : pieces(operands & ~left)) {
          Letters both = a.letters;
          both.insert(b.letters.begin(), b.letters.end());
          Letters kept = whole ? Letters(e_.result.begin(), e_.result.end()) : needed(both, operands);
          double flops = a.flops + b.flops + e_.points(both) * (kept == both ? 1 : 2);
          if (flops < best.flops) best = {kept, flops};
        }
    }
    return {best};
  }

  Letters needed(const Letters& letters, std::uint32_t inside) const {
    Letters outside(e_.result.begin(), e_.result.end()), kept;
    for (std::size_t k = 0; k < e_.operands.size(); ++k)
      if ((inside >> k & 1) == 0) outside.insert(e_.operands[k].begin(), e_.operands[k].end());
    for (char c : letters)
      if (outside.count(c)) kept.insert(c);
    return kept;
  }

  const Einsum& e_;
  bool remember_;
  std::map<std::uint32_t, std::vector<Piece>> known_;
};
inline double best_flops(const Einsum& e) { return ExhaustiveSearch(e, e.operands.size() > 6).best(); }

// ⊕ and ⊗ of one type.
struct Semiring {
  Monoid plus;
  CellOp times;
  ElementType type() const { return plus.components[0].type; }
};

inline Operator operator_of(Program& program, const Einsum& e, const Semiring& semiring) {
  const ElementType type = semiring.type();
  Build b("y");
  std::map<char, std::uint32_t> dim;
  for (char c : e.result) dim[c] = b.parallel(std::string(1, c), e.size.at(c));
  for (auto [c, n] : e.size)
    if (!dim.count(c)) dim[c] = b.reduction(std::string(1, c), n);
  CellId product;
  for (const std::string& letters : e.operands) {
    Shape shape;
    std::vector<Linear> rows;
    for (char c : letters) shape.push_back(e.size.at(c)), rows.push_back(b[dim[c]]);
    CellId read = b.read(b.operand(type, shape), rows);
    product = product.valid() ? b.apply(semiring.times, {product, read}) : read;
  }
  Shape shape;
  std::vector<Linear> rows;
  for (char c : e.result) shape.push_back(e.size.at(c)), rows.push_back(b[dim[c]]);
  b.result(type, shape, rows);
  bool reduces = e.size.size() > e.result.size();
  return reduces ? b.reduce(add_monoid(program, semiring.plus), {product}) : b.map({product});
}
inline Operator operator_of(Program& program, const Einsum& e) {
  return operator_of(program, e, {*builtin_monoid("sum", i64), CellOp::mul});
}

// A user's monoid of one component: combine(a, b) by cells, with laws that were tried.
inline Monoid own_monoid(ElementType type, Scalar identity,
                         const std::function<CellId(CellExprs&, CellId, CellId)>& combine) {
  Monoid m;
  m.name = "own";
  m.components = {{"v", type}};
  CellId a = m.exprs.argument(0, type), b = m.exprs.argument(1, type);
  m.identity = {m.exprs.constant(identity)};
  m.combine = {combine(m.exprs, a, b)};
  m.laws = {Law::assumed, Law::assumed, Law::assumed, Law::unknown};
  return m;
}
// if a < b then a else b
inline Monoid own_min(ElementType type) {
  return own_monoid(type, Scalar::greatest(type), [&](CellExprs& exprs, CellId a, CellId b) {
    return exprs.apply(CellOp::select, type, {exprs.apply(CellOp::less, ElementType::boolean, {a, b}), a, b});
  });
}
// The exclusive or of bits, over which `bitand` distributes.
inline Monoid parity(ElementType type) {
  return own_monoid(type, Scalar::zero(type), [&](CellExprs& exprs, CellId a, CellId b) {
    return exprs.apply(CellOp::bitxor_, type, {a, b});
  });
}

inline std::vector<Tensor> sample_inputs(const Operator& op) {
  std::vector<Tensor> inputs;
  std::int64_t seed = 1;
  for (const TensorType& type : op.operands) {
    Tensor t(type.element, type.shape);
    for (std::int64_t at = 0; at < t.size(); ++at) {
      seed = (seed * 37 + 11) % 101;
      if (is_float(t.type())) t.store_f64(at, static_cast<double>(seed % 7 - 3));
      else t.store_i64(at, is_bool(t.type()) ? seed & 1 : seed % 7 - 3);
    }
    inputs.push_back(std::move(t));
  }
  return inputs;
}

inline void expect_same_values(const Program& program, const Operator& op, const Reassociation& other) {
  ASSERT_TRUE(other.program) << other.remark;
  EXPECT_EQ(verify(*other.program), std::vector<std::string>{});
  auto inputs = sample_inputs(op);
  auto before = evaluate(program, op, inputs).outputs;
  auto after = interpret(*other.program, other.program->main, inputs).outputs;
  ASSERT_EQ(before.size(), after.size());
  EXPECT_EQ(values_of(before[0]), values_of(after[0]));
}

}  // namespace tap::passes::einsum
