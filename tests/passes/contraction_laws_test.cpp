// What may be contracted in another order: which laws that takes, and what stays as it is written.
#include "ir/certificate.h"
#include "tests/passes/einsum.h"

namespace tap::passes {
namespace {

using namespace einsum;

// y[i, l] = ⊕[j, k] a[i, j] ⊗ b[j, k] ⊗ c[k, l]
Einsum chain() { return {{"ij", "jk", "kl"}, "il", {{'i', 2}, {'j', 4}, {'k', 2}, {'l', 3}}}; }

TEST(Contraction, LawDecidesAndIsNamed) {
  auto built_in = [](const char* name, ElementType type) { return *builtin_monoid(name, type); };
  struct {
    Monoid plus;
    CellOp times;
    const char* law;  // none: it does not distribute
  } cases[] = {{built_in("sum", f32), CellOp::mul, "a * (b + c) = a * b + a * c"},
               {built_in("min", f64), CellOp::add, "a + min(b, c) = min(a + b, a + c)"},
               {built_in("max", f32), CellOp::add, "a + max(b, c) = max(a + b, a + c)"},
               {built_in("min", i64), CellOp::max, "max(a, min(b, c)) = min(max(a, b), max(a, c))"},
               {built_in("any", boolean), CellOp::logical_and, "a and (b or c) = (a and b) or (a and c)"},
               {own_min(f64), CellOp::add, "a + own(b, c) = own(a + b, a + c)"},
               {parity(i32), CellOp::bitand_, "bitand(a, bitxor(b, c)) = bitxor(bitand(a, b), bitand(a, c))"},
               {built_in("min", i64), CellOp::add, nullptr},  // sums wrap
               {own_min(i32), CellOp::add, nullptr},          // likewise
               {built_in("sum", i64), CellOp::add, nullptr},
               {built_in("max", f64), CellOp::mul, nullptr},  // not of negative numbers
               {built_in("prod", f64), CellOp::mul, nullptr},
               {parity(i32), CellOp::bitor_, nullptr},
               {built_in("sum", f16), CellOp::mul, nullptr}};  // rounded in between
  for (const auto& c : cases) {
    SCOPED_TRACE(c.plus.name + " of " + std::string(info(c.times).name));
    Program program;
    Operator op = operator_of(program, chain(), {c.plus, c.times});
    Reassociation r = reassociated(program, op);
    ASSERT_EQ(r.program != nullptr, c.law != nullptr) << r.rule << r.remark;
    if (!c.law) continue;
    const std::string rule = r.rule.substr(0, r.rule.find(assuming));
    EXPECT_EQ(rule, "product in the order ((x0 x1) x2): 56 operations instead of 144, by " + std::string(c.law));
    EXPECT_TRUE(is_contraction_order(r.rule));
    expect_same_values(program, op, r);
  }
}

TEST(Contraction, RefutedLawsForbidIt) {
  Monoid plus = own_min(f64);
  plus.laws.commutative = Law::broken;
  Program program;
  EXPECT_FALSE(reassociated(program, operator_of(program, chain(), {plus, CellOp::add})).program);
}

TEST(Contraction, StrictFloatsKeepTheirOrder) {
  Program program;
  Operator floats = operator_of(program, chain(), {*builtin_monoid("sum", f32), CellOp::mul});
  EXPECT_FALSE(reassociated(program, floats, true).program);
  EXPECT_TRUE(reassociated(program, operator_of(program, chain()), true).program);
}

TEST(Contraction, SharedFactorsDoNotExplode) {
  // ((x²)²)²… forty times is a product of 2^40 factors, and of forty cells.
  Program program;
  Build b("y");
  auto i = b.parallel("i", 3), j = b.reduction("j", 3);
  CellId cell = b.read(b.operand(i64, {3, 3}), {b[i], b[j]});
  b.result(i64, {3}, {b[i]});
  for (int k = 0; k < 40; ++k) cell = b.apply(CellOp::mul, {cell, cell});
  Reassociation r = reassociated(program, b.reduce(add_monoid(program, "sum", i64), {cell}));
  EXPECT_FALSE(r.program);
  EXPECT_NE(r.remark.find("64 dims or factors"), std::string::npos) << r.remark;
}

TEST(Contraction, FactorsMayBeAnything) {
  Program program;
  // y[i] = sum[j, k] x[i + j] * (w[j] + 1) * k * v[k]: a window, arithmetic, an index
  Build b("y");
  auto i = b.parallel("i", 5), j = b.reduction("j", 3), k = b.reduction("k", 4);
  auto x = b.operand(i64, {7}), w = b.operand(i64, {3}), v = b.operand(i64, {4});
  b.result(i64, {5}, {b[i]});
  CellId more = b.apply(CellOp::add, {b.read(w, {b[j]}), b.literal(i64, 1)});
  CellId product = b.apply(CellOp::mul, {b.read(x, {b[i] + b[j]}), more});
  product = b.apply(CellOp::mul, {product, b.index(k)});
  Operator op = b.reduce(add_monoid(program, "sum", i64), {b.apply(CellOp::mul, {product, b.read(v, {b[k]})})});
  expect_same_values(program, op, reassociated(program, op));
}

TEST(Contraction, FailingTermsAreNotMoved) {
  Program program;
  Build b("y");
  auto i = b.parallel("i", 3), j = b.reduction("j", 0), k = b.reduction("k", 4);
  auto x = b.operand(i64, {3}), w = b.operand(i64, {0}), v = b.operand(i64, {4});
  b.result(i64, {3}, {b[i]});
  CellId quotient = b.apply(CellOp::div, {b.literal(i64, 1), b.read(v, {b[k]})});
  CellId product = b.apply(CellOp::mul, {b.apply(CellOp::mul, {b.read(x, {b[i]}), b.read(w, {b[j]})}), quotient});
  Reassociation r = reassociated(program, b.reduce(add_monoid(program, "sum", i64), {product}));
  EXPECT_FALSE(r.program);
  EXPECT_NE(r.remark.find("can fail"), std::string::npos) << r.remark;
}

}  // namespace
}  // namespace tap::passes
