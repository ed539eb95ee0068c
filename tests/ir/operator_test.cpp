// Cells, monoids and what operators tell of their cells: affine functions, constraints, structure.
#include "ir/operator.h"

#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "ir/graph.h"
#include "support/check.h"
#include "tests/ir/sample_programs.h"

namespace tap::ir {
namespace {

TEST(CellExprs, EqualNodesAreShared) {
  CellExprs e;
  CellId x = e.read(0, ElementType::f32), y = e.read(1, ElementType::f32);
  EXPECT_EQ(e.apply(CellOp::add, ElementType::f32, {x, y}), e.apply(CellOp::add, ElementType::f32, {x, y}));
  EXPECT_NE(e.apply(CellOp::add, ElementType::f32, {x, y}), e.apply(CellOp::add, ElementType::f32, {y, x}));
  EXPECT_EQ(e.cast(x, ElementType::f32), x);
  EXPECT_EQ(e.size(), 4u);
}

TEST(CellExprs, ConstantsCompareByBits) {
  CellExprs e;
  auto f = [&](double v) { return e.constant(Scalar::floating(ElementType::f32, v)); };
  EXPECT_NE(f(0.0), f(-0.0));
  EXPECT_EQ(f(std::nan("")), f(-std::nan("")));
  EXPECT_NE(e.constant(Scalar::integer(ElementType::i64, 1)), e.constant(Scalar::integer(ElementType::i32, 1)));
  EXPECT_EQ(f(0.1), f(static_cast<double>(0.1f)));  // rounded to the type
}

TEST(Monoids, BuiltinsFitTheirTypes) {
  for (std::size_t t = 0; t < element_type_count; ++t) {
    auto type = static_cast<ElementType>(t);
    for (auto name : {"sum", "prod", "max", "min"}) EXPECT_EQ(builtin_monoid(name, type).has_value(), !is_bool(type));
    for (auto name : {"any", "all"}) EXPECT_EQ(builtin_monoid(name, type).has_value(), is_bool(type));
  }
  EXPECT_FALSE(builtin_monoid("online", ElementType::f32));
  auto identity = [](std::string_view name, ElementType type) {
    Monoid m = *builtin_monoid(name, type);
    return to_string(m.exprs[m.identity[0]].value);
  };
  EXPECT_EQ(identity("max", ElementType::f32), "-inf");
  EXPECT_EQ(identity("min", ElementType::f16), "inf");
  EXPECT_EQ(identity("max", ElementType::u8), "0");
  EXPECT_EQ(identity("min", ElementType::i8), "127");
  EXPECT_EQ(identity("prod", ElementType::i32), "1");
  EXPECT_EQ(identity("all", ElementType::boolean), "true");
}

// (m, s, o): the running softmax. m needs itself only, s needs m, and o needs m.
Monoid online() {
  Monoid m;
  m.name = "online";
  ElementType f = ElementType::f32;
  m.components = {{"m", f}, {"s", f}, {"o", f}};
  std::array<CellId, 6> a;
  for (std::uint32_t k = 0; k < 6; ++k) a[k] = m.exprs.argument(k, f);
  CellId top = m.exprs.apply(CellOp::max, f, {a[0], a[3]});
  auto scaled = [&](CellId v, CellId at) {
    return m.exprs.apply(CellOp::mul, f,
                         {v, m.exprs.apply(CellOp::exp, f, {m.exprs.apply(CellOp::sub, f, {at, top})})});
  };
  auto merged = [&](std::size_t k) {
    return m.exprs.apply(CellOp::add, f, {scaled(a[k], a[0]), scaled(a[k + 3], a[3])});
  };
  m.combine = {top, merged(1), merged(2)};
  CellId zero = m.exprs.constant(Scalar::zero(f));
  m.identity = {m.exprs.constant(Scalar::least(f)), zero, zero};
  m.laws = {Law::assumed, Law::proved, Law::broken, Law::unknown};
  return m;
}

TEST(Monoids, ComponentsDependOnTheCellsOfTheirCombine) {
  using Row = std::vector<bool>;
  EXPECT_EQ(component_dependence(online()),
            (std::vector<Row>{{true, false, false}, {true, true, false}, {true, false, true}}));
}

TEST(Monoids, RestrictedToAClosedSet) {
  Monoid full = online();
  EXPECT_EQ(restrict_to(full, {true, true, true}), full);
  Monoid part = restrict_to(full, {true, false, true});
  ASSERT_EQ(part.arity(), 2u);
  EXPECT_EQ(part.components[1].name, "o");
  EXPECT_EQ(component_dependence(part), (std::vector<std::vector<bool>>{{true, false}, {true, true}}));
  for (CellId id : reachable_from(part.exprs, part.combine)) {
    const CellNode& node = part.exprs[id];
    EXPECT_TRUE(node.op != CellOp::argument || node.attribute < 4);
  }
  EXPECT_EQ(part.laws.associative, Law::assumed);
  EXPECT_EQ(part.laws.commutative, Law::unknown);  // what breaks it may be gone
  EXPECT_EQ(restrict_to(full, {true, false, false}).combine.size(), 1u);
  EXPECT_THROW(restrict_to(full, {false, true, false}), InternalError);
}

struct AffineCells : testing::Test {
  Operator op;
  CellId i, j;
  AffineCells() {
    op.dims = {{"i", {0, 8}}, {"j", {0, 3}}};
    i = op.exprs.index(0);
    j = op.exprs.index(1);
  }
  CellId c(std::int64_t v) { return op.exprs.constant(Scalar::integer(ElementType::i64, v)); }
  CellId a(CellOp o, CellId x, CellId y) { return op.exprs.apply(o, ElementType::i64, {x, y}); }
  CellId b(CellOp o, CellId x, CellId y) { return op.exprs.apply(o, ElementType::boolean, {x, y}); }
  CellId no(CellId x) { return op.exprs.apply(CellOp::logical_not, ElementType::boolean, {x}); }
  std::string show(CellId id, bool negated = false) {
    auto constraints = as_constraints(op, id, negated);
    if (!constraints) return "none";
    std::string text;
    for (const Constraint& k : *constraints) text += (text.empty() ? "" : " & ") + to_string(k, op.dim_names());
    return text;
  }
};

TEST_F(AffineCells, FunctionsOfTheIndex) {
  EXPECT_EQ(as_affine(op, a(CellOp::add, a(CellOp::mul, c(2), i), a(CellOp::sub, c(3), j))), (AffineExpr{{2, -1}, 3}));
  EXPECT_EQ(as_affine(op, op.exprs.apply(CellOp::neg, ElementType::i64, {i})), (AffineExpr{{-1, 0}, 0}));
  EXPECT_FALSE(as_affine(op, a(CellOp::mul, i, j)));
  EXPECT_FALSE(as_affine(op, a(CellOp::mod, i, c(2))));
  EXPECT_FALSE(as_affine(op, op.exprs.cast(i, ElementType::i32)));
  EXPECT_FALSE(as_affine(op, op.exprs.constant(Scalar::integer(ElementType::i32, 3))));
  EXPECT_FALSE(as_affine(op, op.exprs.constant(Scalar::floating(ElementType::f64, 3))));
  // Cells wrap where affine functions do not: where the value leaves 64 bits, it is none.
  EXPECT_FALSE(as_affine(op, a(CellOp::mul, c(std::numeric_limits<std::int64_t>::max()), i)));
}

TEST_F(AffineCells, Constraints) {
  CellId less = b(CellOp::less, j, i), equal = b(CellOp::equal, i, j);
  EXPECT_EQ(show(less), "i - j - 1 >= 0");
  EXPECT_EQ(show(less, true), "-i + j >= 0");
  EXPECT_EQ(show(b(CellOp::less_equal, j, i)), "i - j >= 0");
  EXPECT_EQ(show(b(CellOp::less_equal, j, i), true), "-i + j - 1 >= 0");
  EXPECT_EQ(show(equal), "-i + j == 0");
  EXPECT_EQ(show(equal, true), "none");
  EXPECT_EQ(show(b(CellOp::not_equal, i, j)), "none");
  EXPECT_EQ(show(b(CellOp::not_equal, i, j), true), "-i + j == 0");
  EXPECT_EQ(show(b(CellOp::logical_and, less, equal)), "i - j - 1 >= 0 & -i + j == 0");
  EXPECT_EQ(show(b(CellOp::logical_and, less, equal), true), "none");
  EXPECT_EQ(show(b(CellOp::logical_or, less, less), true), "-i + j >= 0");  // a shared part counts once
  EXPECT_EQ(show(no(b(CellOp::logical_or, less, no(equal)))), "-i + j >= 0 & -i + j == 0");
  EXPECT_EQ(show(op.exprs.constant(Scalar::boolean(true))), "");
  EXPECT_EQ(show(op.exprs.constant(Scalar::boolean(false))), "-1 >= 0");
  EXPECT_EQ(show(op.exprs.constant(Scalar::boolean(true)), true), "-1 >= 0");
}

// A random condition against its direct evaluation: where constraints are given, they say the same at every point.
RC_GTEST_PROP(Operators, ConstraintsAreEquivalentToTheCondition, ()) {
  Operator op;
  op.dims = {{"i", {-3, 4}}, {"j", {-3, 4}}};
  using Truth = std::function<bool(const Point&)>;
  std::function<std::pair<CellId, Truth>(int)> make = [&](int depth) -> std::pair<CellId, Truth> {
    int kind = depth == 0 ? 0 : *rc::gen::inRange(0, 4);
    auto boolean = [&](CellOp o, std::vector<CellId> args) {
      return op.exprs.apply(o, ElementType::boolean, std::move(args));
    };
    if (kind == 0) {
      auto k = *rc::gen::inRange<std::int64_t>(-2, 3);
      CellId left = op.exprs.apply(CellOp::add, ElementType::i64,
                                   {op.exprs.index(0), op.exprs.constant(Scalar::integer(ElementType::i64, k))});
      CellOp o = *rc::gen::element(CellOp::less, CellOp::less_equal, CellOp::equal, CellOp::not_equal);
      return {
          boolean(o, {left, op.exprs.index(1)}), [k, o](const Point& p) {
            std::int64_t l = p[0] + k, r = p[1];
            return o == CellOp::less ? l < r : o == CellOp::less_equal ? l <= r : o == CellOp::equal ? l == r : l != r;
          }};
    }
    auto [a, ta] = make(depth - 1);
    if (kind == 1) return {boolean(CellOp::logical_not, {a}), [t = ta](const Point& p) { return !t(p); }};
    auto [c, tc] = make(depth - 1);
    if (kind == 2)
      return {boolean(CellOp::logical_and, {a, c}), [t = ta, s = tc](const Point& p) { return t(p) && s(p); }};
    return {boolean(CellOp::logical_or, {a, c}), [t = ta, s = tc](const Point& p) { return t(p) || s(p); }};
  };
  auto [cell, truth] = make(3);
  for (bool negated : {false, true}) {
    auto constraints = as_constraints(op, cell, negated);
    if (!constraints) continue;
    Domain domain{op.box(), *constraints};
    auto p = first_point(domain.box);
    do RC_ASSERT(domain.contains(*p) == (truth(*p) != negated));
    while (next_point(domain.box, *p));
  }
}

TEST(Operators, StructureIgnoresNamesAndUnneededCells) {
  Operator a = samples::matmul(MonoidId(0), 4, 2, 8), b;
  b.exprs.constant(Scalar::one(ElementType::i8));  // nobody needs it, and it shifts all ids
  Operator fresh = samples::matmul(MonoidId(0), 4, 2, 8);
  b.dims = fresh.dims, b.operands = fresh.operands, b.results = fresh.results, b.reads = fresh.reads,
  b.writes = fresh.writes;
  b.name = "other";
  b.dims[0].name = "row";
  CellId w = b.exprs.read(1, ElementType::f32), x = b.exprs.read(0, ElementType::f32);
  b.body = ReduceBody{MonoidId(0), {b.exprs.apply(CellOp::mul, ElementType::f32, {x, w})}};
  EXPECT_NE(a, b);
  EXPECT_TRUE(equal_structure(a, b));
  EXPECT_EQ(structural_hash(a), structural_hash(b));
  Operator swapped = b;
  swapped.body = ReduceBody{MonoidId(0), {swapped.exprs.apply(CellOp::mul, ElementType::f32, {w, x})}};
  EXPECT_FALSE(equal_structure(a, swapped));
  Operator wider = a;
  wider.dims[0].range.hi = 5;
  EXPECT_FALSE(equal_structure(a, wider));
  Operator other_monoid = a;
  std::get<ReduceBody>(other_monoid.body).monoid = MonoidId(1);
  EXPECT_FALSE(equal_structure(a, other_monoid));
}

TEST(Operators, AreInternedOnce) {
  Program program;
  Interner interner(program);
  OperatorId first = interner.add(samples::unary(CellOp::exp));
  EXPECT_EQ(interner.add(samples::unary(CellOp::exp)), first);
  EXPECT_NE(interner.add(samples::unary(CellOp::log)), first);
  Operator renamed = samples::unary(CellOp::exp);
  renamed.name = "other";
  for (IndexDim& dim : renamed.dims) dim.name += "_";
  renamed.operand_names = {"z"};
  EXPECT_EQ(interner.add(renamed), first);
  EXPECT_NE(program[first].name, "other");
  EXPECT_EQ(names_if_different(program[first], names_of(program[first])), std::nullopt);
  EXPECT_EQ(names_if_different(program[first], names_of(renamed)), names_of(renamed));
  EXPECT_EQ(Interner(program).add(samples::unary(CellOp::exp)), first);  // also what was there before
  EXPECT_EQ(interner.add(*builtin_monoid("max", ElementType::f32)),
            interner.add(*builtin_monoid("max", ElementType::f32)));
  EXPECT_NE(interner.add(*builtin_monoid("min", ElementType::f32)),
            interner.add(*builtin_monoid("max", ElementType::f32)));
}

}  // namespace
}  // namespace tap::ir
