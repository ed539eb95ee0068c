// The checker on steps that are right, and on each obligation's own ways of being wrong.
#include "check/check.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "check/axioms.h"
#include "ir/graph.h"
#include "tests/check/mutations.h"

namespace tap::check {
namespace {

using namespace cases;

TEST(Check, ValidStepsAreAccepted) {
  for (const Case& c : cases::all()) EXPECT_EQ(refusals(verdict_of(c)), "") << c.name;
}

TEST(Check, HashesFormAChain) {
  Case c = cases::copied();
  std::string before = hash_of(c.before), after = hash_of(c.after);
  Step step = c.step;
  step.before = before;
  step.after = before;
  EXPECT_EQ(first_refusal(check({{step}}, {{&c.before, before}, {&c.after, after}})), "chain");
  step.after = after;
  EXPECT_EQ(first_refusal(check({{step}}, {{&c.before, before}})), "chain");
  EXPECT_EQ(first_refusal(check({{step}}, {{&c.before, before}, {&c.after, after}})), "");
}

TEST(Check, AssumedLawsAreListed) {
  Case c = cases::partials();
  c.before.monoids[0].laws.associative = c.after.monoids[0].laws.associative = Law::assumed;
  Verdict verdict = verdict_of(c);
  EXPECT_FALSE(verdict.refused()) << refusals(verdict);
  EXPECT_EQ(verdict.count(Standing::assumed), 1u);
  c.after.monoids[0].laws.associative = Law::proved;
  EXPECT_EQ(first_refusal(verdict_of(c)), "reduction-partition");
  c.before.monoids[0].laws.associative = c.after.monoids[0].laws.associative = Law::broken;
  EXPECT_EQ(first_refusal(verdict_of(c)), "laws");
}

TEST(Check, GroupReadsCoverItsOperations) {
  Case c = cases::grouped();
  Operator& group = c.after.operators[c.after[c.after.main].operations[0].op.index()];
  group.reads[0].projection.shape[0] = 2;
  EXPECT_EQ(first_refusal(verdict_of(c)), "reads-covered");
  group.reads[0].projection = {{1, {AffineExpr{{0}, 0}}}, {n}};
  EXPECT_EQ(first_refusal(verdict_of(c)), "");
  group.writes[0].projection.start.rows[0].offset = 1;
  EXPECT_EQ(first_refusal(verdict_of(c)), "group");
}

// y = f32(x * x) where x * x is found to be 4, which is an f32 already.
TEST(Check, CastOfAFoldedConstantIsTheConstant) {
  constexpr ElementType f32 = ElementType::f32;
  auto build = [](bool after) {
    Build b("y");
    auto i = b.parallel("i", n);
    CellId two = b.literal(f32, -2), four = b.literal(f32, 4);
    CellId product = b.apply(CellOp::mul, {two, two});
    b.result(f32, {n}, {b[i]});
    return b.map({after ? four : b.op.exprs.apply(CellOp::cast, f32, {product})});
  };
  Case c = chain("a cast of a product");
  Operator was = build(false);
  BuildGraph g{c.before, {}}, h{c.after, {}};
  finish(c.before, g, g.add(was, {}));
  finish(c.after, h, h.add(build(true), {}));
  Simplified s{operation(0), was.exprs, {}};
  s.uses = {{"a = b [arithmetic]", {CellId(2), CellId(1)}}, {"T(a) = a [exact]", {CellId(1)}}};
  c.step.graphs = {claim({value(0)}, {s})};
  EXPECT_EQ(refusals(verdict_of(c)), "");
  std::get<Simplified>(c.step.graphs[0].operations[0]).uses.pop_back();
  EXPECT_EQ(first_refusal(verdict_of(c)), "axioms");
}

// What a pass makes that asks ir for the bounds of i + 1 over 0..8 and is told 0..8: it takes the guard for needless, and the
// producer's value for the fill that lies outside.
TEST(Check, BoundsBugIsCaught) {
  Case c = cases::composed();
  Operator& op = c.after.operators.back();
  for (std::size_t k = 0; k < op.exprs.size(); ++k) {
    CellNode node = op.exprs[CellId(k)];
    if (node.op != CellOp::add || op.exprs[node.args[0]].op != CellOp::select) continue;
    node.args[0] = op.exprs[node.args[0]].args[1];
    Mutant::change_cell(op, k, node);
    break;
  }
  EXPECT_EQ(first_refusal(verdict_of(c)), "composition");
}

// The checker's lines of algebra are those that the passes test cell by cell against the oracle, written down twice.
TEST(Check, AxiomsAreTheTestedRules) {
  std::ifstream file(TAP_SOURCE_DIR "/passes/simplify/cell_rules.def");
  std::string rules{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::size_t axioms = 0;
  for (std::string_view line : {
#define TAP_AXIOM(text) std::string_view(text),
#include "check/axioms.def"
#undef TAP_AXIOM
       }) {
    EXPECT_NE(rules.find("TAP_CELL_RULE(\"" + std::string(line) + "\")"), std::string::npos) << line;
    ++axioms;
  }
  EXPECT_GT(axioms, 60u);
}

// The cost of a step is that of its operators, however many blocks there are.
TEST(Check, AMillionBlocksCostNoMoreThanFour) {
  Program p = reduction("sum");
  std::set<std::size_t> obligations;
  for (std::int64_t blocks : {std::int64_t{4}, std::int64_t{4096}, std::int64_t{1} << 20}) {
    Case c = split_by("blocks", p, {{"y", "i", Blocks{blocks}}, {"z", "i", Blocks{blocks}}});
    Verdict verdict = verdict_of(c);
    EXPECT_EQ(refusals(verdict), "");
    obligations.insert(verdict.findings.size());
  }
  EXPECT_EQ(obligations.size(), 1u);
}

}  // namespace
}  // namespace tap::check
