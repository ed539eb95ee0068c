// Canonical forms: what is written otherwise has the same one, what is different does not.
#include "passes/rewrites/canonical.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "ir/graph.h"
#include "tests/backend/random_operator.h"
#include "tests/passes/shuffled_operator.h"

namespace tap::passes {
namespace {

using namespace tap::ir;
using namespace tap::ir::test;

std::vector<std::uint8_t> random_bytes() {
  return *rc::gen::resize(60, rc::gen::arbitrary<std::vector<std::uint8_t>>());
}

Operator random_operator(Program& program, std::vector<std::uint8_t> bytes, int kind) {
  backend::test::Choices choices(std::move(bytes));
  backend::test::RandomOperator random(program, choices);
  return kind == 0 ? random.make_scan() : kind == 1 ? random.make_scatter() : random.make();
}

RC_GTEST_PROP(Canonical, ShuffledOperatorsHaveTheSameForm, ()) {
  Program program;
  Operator op = random_operator(program, random_bytes(), *rc::gen::inRange(0, 4));
  test::Shuffled other = test::shuffled(op, *rc::gen::arbitrary<std::uint64_t>());
  CanonicalForm a = canonical_form(program, op), b = canonical_form(program, other.op);
  RC_ASSERT(a.code == b.code);
  // The orders say which operand is which: with labels for values, both still are the same.
  std::vector<std::int64_t> labels(op.operands.size()), moved(op.operands.size());
  for (std::size_t k = 0; k < labels.size(); ++k) {
    labels[k] = static_cast<std::int64_t>(10 + k);
    moved[other.operand[k]] = labels[k];
  }
  RC_ASSERT(canonical_form(program, op, labels).code == canonical_form(program, other.op, moved).code);
}

// Two operators with one form compute the same: tried on data, operands and results put in the forms' order.
RC_GTEST_PROP(Canonical, EqualFormsComputeTheSameFunction, ()) {
  static std::map<std::vector<std::int64_t>, std::pair<Program, Operator>> seen;
  Program program;
  Operator op = random_operator(program, random_bytes(), *rc::gen::inRange(0, 4));
  CanonicalForm form = canonical_form(program, op);
  auto [known, fresh] = seen.emplace(form.code, std::pair(program, op));
  if (fresh) return;
  const auto& [other_program, other] = known->second;
  CanonicalForm other_form = canonical_form(other_program, other);
  std::vector<Tensor> inputs, other_inputs;
  for (const TensorType& type : op.operands) inputs.emplace_back(type.element, type.shape);
  for (const TensorType& type : other.operands) other_inputs.emplace_back(type.element, type.shape);
  for (std::size_t k = 0; k < form.operands.size(); ++k) {
    Tensor& t = inputs[form.operands[k]];
    for (std::int64_t at = 0; at < t.size(); ++at) t.store_i64(at, (at * 7 + static_cast<std::int64_t>(k) * 5) % 9 - 4);
    other_inputs[other_form.operands[k]] = t;
  }
  auto a = evaluate(program, op, inputs).outputs, b = evaluate(other_program, other, other_inputs).outputs;
  RC_ASSERT(values_of(a[0]) == values_of(b[0]));
}

TEST(Canonical, DifferentOperatorsHaveDifferentForms) {
  // One place of an operator is changed: its form must be another.
  std::size_t changed = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Program program;
    std::mt19937_64 random(seed);
    std::vector<std::uint8_t> bytes(40);
    for (auto& b : bytes) b = static_cast<std::uint8_t>(random());
    Operator op = random_operator(program, bytes, static_cast<int>(seed % 4));
    for (const Operator& mutant : test::mutants(op)) {
      ++changed;
      EXPECT_NE(canonical_form(program, op).code, canonical_form(program, mutant).code) << "seed " << seed;
    }
  }
  EXPECT_GT(changed, 1500u);
}

Operator product(Program& program, bool swapped) {
  Build b(swapped ? "mine" : "matmul");
  auto first = b.parallel("u", swapped ? 5 : 3), k = b.reduction("k", 4), second = b.parallel("v", swapped ? 3 : 5);
  auto i = swapped ? second : first, j = swapped ? first : second;
  auto y = swapped ? b.operand(f32, {4, 5}) : b.operand(f32, {3, 4});
  auto x = swapped ? b.operand(f32, {3, 4}) : b.operand(f32, {4, 5});
  auto left = swapped ? x : y, right = swapped ? y : x;
  b.result(f32, {3, 5}, {b[i], b[j]});
  std::vector<CellId> reads{b.read(left, {b[i], b[k]}), b.read(right, {b[k], b[j]})};
  if (swapped) std::swap(reads[0], reads[1]);
  return b.reduce(add_monoid(program, "sum", f32), {b.apply(CellOp::mul, reads)});
}

TEST(Canonical, NamesAndOperandOrderDoNotMatter) {
  Program program;
  CanonicalForm a = canonical_form(program, product(program, false)),
                b = canonical_form(program, product(program, true));
  EXPECT_EQ(a.code, b.code);
  ASSERT_EQ(a.operands.size(), 2u);
  EXPECT_NE(a.operands[0], b.operands[0]);
}

TEST(Canonical, ManyEqualFactorsAreFast) {
  Program program;
  Build b("y");
  auto i = b.parallel("i", 3);
  CellId cell = b.literal(f32, 1);
  for (int k = 0; k < 9; ++k) cell = b.apply(CellOp::mul, {cell, b.read(b.operand(f32, {3}), {b[i]})});
  b.result(f32, {3}, {b[i]});
  Operator op = b.map({cell});
  EXPECT_EQ(canonical_form(program, op).code, canonical_form(program, test::shuffled(op, 3).op).code);
  // y = Σ of ten dims that nothing tells apart
  Build c("s");
  CellId read = c.literal(f32, 1);
  std::vector<Linear> rows;
  for (int k = 0; k < 10; ++k) c.reduction("k" + std::to_string(k), 2);
  c.result(f32, {}, {});
  Operator sum = c.reduce(add_monoid(program, "sum", f32), {read});
  EXPECT_EQ(canonical_form(program, sum).code, canonical_form(program, test::shuffled(sum, 4).op).code);
}

TEST(Canonical, OrderedReductionsKeepTheirOrder) {
  Program program;
  auto scan = [&](bool swapped, Law commutative) {
    Build b("s");
    auto k = b.reduction("k", 2), l = b.reduction("l", 2);
    auto x = b.operand(f32, {2, 2});
    b.result(f32, {}, {});
    Monoid monoid = builtin_monoid("sum", f32).value();
    monoid.laws.commutative = commutative;
    return b.reduce(add_monoid(program, monoid),
                    {b.read(x, swapped ? std::vector{b[l], b[k]} : std::vector{b[k], b[l]})});
  };
  EXPECT_EQ(canonical_form(program, scan(false, Law::proved)).code,
            canonical_form(program, scan(true, Law::proved)).code);
  EXPECT_NE(canonical_form(program, scan(false, Law::broken)).code,
            canonical_form(program, scan(true, Law::broken)).code);
}

}  // namespace
}  // namespace tap::passes
