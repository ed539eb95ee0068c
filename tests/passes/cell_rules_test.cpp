// Every rule of cell algebra holds, bit by bit, on every type that it mentions: both sides are evaluated by the oracle on
// values with all that is special about floats and integers.
#include "passes/simplify/cell_rules.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "ir/interpret/interpret_cell.h"
#include "support/check.h"

namespace tap::passes {
namespace {

using namespace tap::ir;

constexpr ElementType all_types[] = {ElementType::f64, ElementType::f32,    ElementType::f16, ElementType::bf16,
                                     ElementType::i64, ElementType::i32,    ElementType::i16, ElementType::i8,
                                     ElementType::u8,  ElementType::boolean};

// Which variables are conditions: they are bool whatever the rule's types are.
void mark_conditions(const RuleTerm& term, bool is_condition, std::vector<bool>& conditions) {
  if (term.kind == RuleTerm::variable && is_condition) conditions[static_cast<std::size_t>(term.value)] = true;
  for (std::size_t k = 0; k < term.args.size(); ++k) {
    bool logical = term.op == CellOp::logical_not || term.op == CellOp::logical_and || term.op == CellOp::logical_or;
    mark_conditions(term.args[k], logical || (term.op == CellOp::select && k == 0), conditions);
  }
}

// Whether all constants and operations of a term exist in a type.
bool exists_in(const RuleTerm& term, ElementType type) {
  if (term.kind == RuleTerm::number && is_bool(type)) return false;
  if (term.kind == RuleTerm::number && term.value < 0 && is_integer(type) && !info(type).is_signed) return false;
  for (const RuleTerm& arg : term.args)
    if (!exists_in(arg, type)) return false;
  return true;
}

double random_float(std::mt19937_64& random) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  static const double special[] = {0.0,   -0.0,   1,     -1,    inf, -inf, std::nan(""), 0.5, -2, 5e-324, -5e-324,
                                   1e308, -1e308, 65504, 1e-40, 3,   7};
  if (random() % 3) return special[random() % std::size(special)];
  return std::bit_cast<double>(random());
}
std::int64_t random_integer(std::mt19937_64& random, ElementType type) {
  const std::int64_t special[] = {0, 1, -1, 2, -2, 7, least_integer(type), greatest_integer(type)};
  if (random() % 2) return wrap(special[random() % std::size(special)], type);
  return wrap(static_cast<std::int64_t>(random()), type);
}
oracle::Number random_number(std::mt19937_64& random, ElementType type) {
  if (is_bool(type)) return oracle::integer(static_cast<std::int64_t>(random() % 2));
  return is_float(type) ? oracle::number(random_float(random)) : oracle::integer(random_integer(random, type));
}

// The value's bits, where any nan is the one; none if it fails.
std::optional<std::uint64_t> bits_of(oracle::CellEvaluator& cells, oracle::BlockId block, CellId root,
                                     ElementType type) {
  try {
    cells.run(block);
  } catch (const oracle::CellFailure&) { return std::nullopt; }
  oracle::Number n = cells[root].value;
  if (!is_float(type)) return static_cast<std::uint64_t>(n.i);
  return std::isnan(n.f) ? 1 : std::bit_cast<std::uint64_t>(n.f);
}

// Both sides over arguments of that type; the number of samples on which they were compared.
int compare_sides(const CellRule& rule, ElementType type, std::mt19937_64& random) {
  std::vector<bool> conditions(rule.variables.size());
  mark_conditions(rule.left, false, conditions);
  mark_conditions(rule.right, false, conditions);
  CellExprs exprs;
  Bindings variables;
  for (std::uint32_t v = 0; v < rule.variables.size(); ++v)
    variables.push_back(exprs.argument(v, conditions[v] ? ElementType::boolean : type));
  bool to_bool = info(rule.left.op).kind == CellKind::comparison || rule.left.op == CellOp::logical_not ||
                 rule.left.op == CellOp::logical_and || rule.left.op == CellOp::logical_or;
  ElementType result = to_bool ? ElementType::boolean : type;
  CellId left = instantiate(rule.left, variables, result, exprs),
         right = instantiate(rule.right, variables, result, exprs);
  oracle::CellEvaluator cells(exprs, false);
  auto left_block = cells.compile({left}), right_block = cells.compile({right});
  cells.expect_arguments(variables.size());
  int samples = 0;
  for (; samples < 3000; ++samples) {
    for (std::size_t v = 0; v < variables.size(); ++v)
      cells.argument(v).value = random_number(random, exprs[variables[v]].type);
    cells.begin_point();
    auto a = bits_of(cells, left_block, left, result), b = bits_of(cells, right_block, right, result);
    EXPECT_EQ(a, b) << rule.text << " in " << name_of(type);
    if (a != b) break;
  }
  return samples;
}

TEST(CellRules, BothSidesAreEqualBitByBit) {
  std::mt19937_64 random(20261121);
  for (const CellRule& rule : cell_rules()) {
    int types = 0;
    for (ElementType type : all_types) {
      if (!rule.fits(type) || !exists_in(rule.left, type) || !exists_in(rule.right, type)) continue;
      EXPECT_GT(compare_sides(rule, type, random), 0);
      ++types;
    }
    EXPECT_GT(types, 0) << rule.text << " speaks of no type";
  }
}

// Each rule is found in its own left side, and what it is found with are its variables.
TEST(CellRules, EveryRuleMatchesItself) {
  for (const CellRule& rule : cell_rules()) {
    std::vector<bool> conditions(rule.variables.size());
    mark_conditions(rule.left, false, conditions);
    mark_conditions(rule.right, false, conditions);
    ElementType type = rule.integers ? ElementType::i32 : rule.floats ? ElementType::f32 : ElementType::boolean;
    CellExprs exprs;
    Bindings variables;
    for (std::uint32_t v = 0; v < rule.variables.size(); ++v)
      variables.push_back(rule.is_constant[v] ? exprs.constant(Scalar::integer(type, 10 + v))
                                              : exprs.argument(v, conditions[v] ? ElementType::boolean : type));
    CellId left = instantiate(rule.left, variables, type, exprs);
    auto found = match(rule, exprs, left);
    ASSERT_TRUE(found) << rule.text;
    EXPECT_EQ(*found, variables) << rule.text;
  }
}

// A rule whose right side is no simpler would be used for ever.
TEST(CellRules, NoRuleMatchesItsOwnResult) {
  for (const CellRule& rule : cell_rules()) {
    if (rule.right.kind != RuleTerm::operation) continue;
    ElementType type = rule.integers ? ElementType::i32 : rule.floats ? ElementType::f32 : ElementType::boolean;
    CellExprs exprs;
    Bindings variables;
    for (std::uint32_t v = 0; v < rule.variables.size(); ++v) variables.push_back(exprs.argument(v, type));
    EXPECT_FALSE(match(rule, exprs, instantiate(rule.right, variables, type, exprs))) << rule.text;
  }
}

TEST(CellRules, TextsAreParsed) {
  const std::vector<CellRule>& rules = cell_rules();
  auto rule = [&](std::string_view text) -> const CellRule& {
    for (const CellRule& r : rules)
      if (r.text == text) return r;
    throw InternalError("no such rule");
  };
  const CellRule& nested = rule("select(c, select(d, a, b), b) = select(c and d, a, b)");
  EXPECT_EQ(nested.variables, "cdab");
  EXPECT_EQ(nested.right.args[0].op, CellOp::logical_and);
  EXPECT_EQ(nested.may_not_fail, std::vector<bool>(4, false));
  EXPECT_EQ(rule("a and false = false").may_not_fail, std::vector<bool>{true});
  EXPECT_EQ(rule("false and a = false").may_not_fail, std::vector<bool>{false});
  EXPECT_EQ(rule("select(true, a, b) = a").may_not_fail, (std::vector<bool>{false, false}));
  const CellRule& constants = rule("(a + b) + c = a + (b + c) [integers; constant b c]");
  EXPECT_EQ(constants.is_constant, (std::vector<bool>{false, true, true}));
  EXPECT_TRUE(constants.fits(ElementType::u8));
  EXPECT_FALSE(constants.fits(ElementType::f32) || constants.fits(ElementType::boolean));
}

}  // namespace
}  // namespace tap::passes
