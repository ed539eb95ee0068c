// Splits, transfers and the block graph: what a cut program computes on devices that hold only their own boxes is what the
// whole computes.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>

#include "ir/block_program.h"
#include "ir/interpret/interpret_blocks.h"
#include "ir/text.h"
#include "ir/verify/verify.h"
#include "passes/splits/apply_splits.h"
#include "passes/splits/expand.h"
#include "passes/splits/realise.h"
#include "tests/backend/random_operator.h"
#include "tests/check/certified.h"
#include "tests/ir/monoids.h"
#include "tests/ir/parse_plan.h"
#include "tests/passes/lowered.h"
#include "tests/passes/random_plan.h"

namespace tap::passes::test {
namespace {

using namespace tap::ir::test;
using backend::test::Choices;

// c[i, j] = sum[k] x[i, k] * w[k, j];  y = max(c, 0)
Program product_and_relu() {
  Program program;
  program.meshes = {{"m", {{"d", 2}}, {}}};
  Operator op = matrix_product(program, 4, 3, 5);
  Build r("relu");
  auto a = r.parallel("a", 4), c = r.parallel("c", 3);
  auto z = r.operand(f32, {4, 3});
  r.result(f32, {4, 3}, {r[a], r[c]});
  Operator relu = r.map({r.apply(CellOp::max, {r.read(z, {r[a], r[c]}), r.literal(f32, 0)})});
  BuildGraph g{program, {}};
  g.graph.name = "main";
  ValueId product = g.add(op, {g.input("X", f32, {4, 5}), g.input("W", f32, {5, 3})})[0];
  g.graph.values[product.index()].name = "Z";
  ValueId y = g.add(relu, {product})[0];
  g.graph.values[y.index()].name = "Y";
  program.main = g.finish({y});
  return program;
}

Plan plan_of(const std::string& lines) {
  auto parsed = parse_plan("plan 2\n" + lines);
  if (auto* error = std::get_if<TextError>(&parsed)) ADD_FAILURE() << error->message;
  return std::get<Plan>(parsed);
}

std::string block_text(const Program& program, const std::string& lines) {
  SplitResult splits = apply_splits(program, plan_of(lines));
  for (const PlanProblem& p : splits.problems) ADD_FAILURE() << p.message;
  BlockProgram blocks = expand(realise(splits.program).program);
  EXPECT_EQ(check::test::refusal_of(blocks), "");
  return print(blocks.program, blocks.graphs[program.main.index()]);
}

TEST(Split, MatchingBlocksAreConnectedDirectly) {
  EXPECT_EQ(block_text(product_and_relu(),
                       "split Z dim i into 2 over axis m.d\n"
                       "split Y dim a into 2 over axis m.d\n"),
            "block graph main\n"
            "  device 0: Z[0..2, 0..3]@0 = c(X[0..2, 0..5], W[0..5, 0..3]) on [0..2, 0..3, 0..5, 0..1]\n"
            "  device 1: Z[2..4, 0..3]@1 = c(X[2..4, 0..5], W[0..5, 0..3]) on [2..4, 0..3, 0..5, 1..2]\n"
            "  device 0: Y[0..2, 0..3]@0 = relu(Z[0..2, 0..3]@0) on [0..2, 0..3, 0..1]\n"
            "  device 1: Y[2..4, 0..3]@1 = relu(Z[2..4, 0..3]@1) on [2..4, 0..3, 1..2]\n"
            "  output Y = Y[0..2, 0..3]@0, Y[2..4, 0..3]@1\n");
}

// A device holds a block of W, and gathers the other one just before it computes.
TEST(Split, InputsAreDividedOverDevices) {
  EXPECT_EQ(block_text(product_and_relu(),
                       "split Z dim i into 2 over axis m.d\n"
                       "split W on axis 1 into 2 over axis m.d\n"
                       "split Y dim a into 2 over axis m.d\n"),
            "block graph main\n"
            "  device 0: W.part[0..5, 0..2]@0 = copy(W[0..5, 0..2]) on [0..5, 0..2, 0..1]\n"
            "  device 1: W.part[0..5, 2..3]@1 = copy(W[0..5, 2..3]) on [0..5, 2..3, 1..2]\n"
            "  all_gather W.part.moved[0..5, 0..2]@0 = W.part[0..5, 0..2]@0\n"
            "  all_gather W.part.moved[0..5, 2..3]@0 = W.part[0..5, 2..3]@1\n"
            "  all_gather W.part.moved[0..5, 0..2]@1 = W.part[0..5, 0..2]@0\n"
            "  all_gather W.part.moved[0..5, 2..3]@1 = W.part[0..5, 2..3]@1\n"
            "  device 0: Z[0..2, 0..3]@0 = c(X[0..2, 0..5], W.part.moved[0..5, 0..3]@0) on [0..2, 0..3, 0..5, 0..1]\n"
            "  device 1: Z[2..4, 0..3]@1 = c(X[2..4, 0..5], W.part.moved[0..5, 0..3]@1) on [2..4, 0..3, 0..5, 1..2]\n"
            "  device 0: Y[0..2, 0..3]@0 = relu(Z[0..2, 0..3]@0) on [0..2, 0..3, 0..1]\n"
            "  device 1: Y[2..4, 0..3]@1 = relu(Z[2..4, 0..3]@1) on [2..4, 0..3, 1..2]\n"
            "  output Y = Y[0..2, 0..3]@0, Y[2..4, 0..3]@1\n");
}

TEST(Split, MismatchedBlocksAreTransferred) {
  EXPECT_EQ(block_text(product_and_relu(),
                       "split Z dim i into 2 over axis m.d\n"
                       "split Y dim c into [0, 1, 3] over axis m.d\n"),
            "block graph main\n"
            "  device 0: Z[0..2, 0..3]@0 = c(X[0..2, 0..5], W[0..5, 0..3]) on [0..2, 0..3, 0..5, 0..1]\n"
            "  device 1: Z[2..4, 0..3]@1 = c(X[2..4, 0..5], W[0..5, 0..3]) on [2..4, 0..3, 0..5, 1..2]\n"
            "  all_to_all Z.moved[0..2, 0..1]@0 = Z[0..2, 0..1]@0\n"
            "  all_to_all Z.moved[2..4, 0..1]@0 = Z[2..4, 0..1]@1\n"
            "  all_to_all Z.moved[0..2, 1..3]@1 = Z[0..2, 1..3]@0\n"
            "  all_to_all Z.moved[2..4, 1..3]@1 = Z[2..4, 1..3]@1\n"
            "  device 0: Y[0..4, 0..1]@0 = relu(Z.moved[0..4, 0..1]@0) on [0..4, 0..1, 0..1]\n"
            "  device 1: Y[0..4, 1..3]@1 = relu(Z.moved[0..4, 1..3]@1) on [0..4, 1..3, 1..2]\n"
            "  output Y = Y[0..4, 0..1]@0, Y[0..4, 1..3]@1\n");
}

TEST(Split, ReductionBecomesPartialsAndACombine) {
  EXPECT_EQ(block_text(product_and_relu(), "split Z dim k into 2 over threads\n"),
            "block graph main\n"
            "  everywhere: Z.partial[0..1, 0..4, 0..3] = c(X[0..4, 0..3], W[0..3, 0..3]) on [0..4, 0..3, 0..3, 0..1]\n"
            "  everywhere: Z.partial[1..2, 0..4, 0..3] = c(X[0..4, 3..5], W[3..5, 0..3]) on [0..4, 0..3, 3..5, 1..2]\n"
            "  everywhere: Z[0..4, 0..3] = c(Z.partial[0..2, 0..4, 0..3]) on [0..4, 0..3, 0..2]\n"
            "  everywhere: Y[0..4, 0..3] = relu(Z[0..4, 0..3]) on [0..4, 0..3]\n"
            "  output Y = Y[0..4, 0..3]\n");
}

TEST(Split, PlanErrorsAreReportedWithNumbers) {
  Program program = product_and_relu();
  auto problem = [&](const std::string& line) {
    SplitResult result = apply_splits(program, plan_of(line));
    return result.problems.size() == 1 ? result.problems[0].message : std::to_string(result.problems.size());
  };
  EXPECT_EQ(problem("split Q dim i into 2 over threads"), "unknown operation `Q`");
  EXPECT_EQ(problem("split Z dim q into 2 over threads"), "`Z` has no dim `q`; it has `i`, `j`, `k`");
  EXPECT_EQ(problem("split Z dim i into [0, 2, 5] over threads"),
            "the blocks [0, 2, 5] do not tile i, which runs over 0..4");
  EXPECT_EQ(problem("split Z dim i into 1099511627776 over threads"),
            "`i` is split into 1099511627776 blocks; 1 to 1048576 are possible");
  EXPECT_EQ(problem("split Z dim i into 3 over axis m.d"), "3 blocks for the axis `d`, which has 2 positions");
  EXPECT_EQ(problem("split Z dim i into 2 over axis m.q"), "the mesh `m` has no axis `q`");
  EXPECT_EQ(problem("split Z dim i into 2 over axis n.d"), "unknown mesh `n`");
}

TEST(Split, NonCommutativeMonoidIsCombinedInOrder) {
  Program program;
  Build b("y");
  auto i = b.parallel("i", 2), k = b.reduction("k", 3), l = b.reduction("l", 3);
  auto x = b.operand(f32, {2, 3, 3});
  b.result(f32, {2}, {b[i]});
  MonoidId sum = add_monoid(program, "sum", f32);
  program.monoids[sum.index()].laws = {Law::proved, Law::proved, Law::proved, Law::unknown};
  Operator op = b.reduce(sum, {b.read(x, {b[i], b[k], b[l]})});
  EXPECT_EQ(why_not_split(program, op, l, false), "");
  program.monoids[sum.index()].laws.commutative = Law::broken;
  EXPECT_EQ(why_not_split(program, op, k, false), "");
  EXPECT_EQ(
      why_not_split(program, op, l, false),
      "splitting `l` would change the order of the reduction over `k`, an outer dim, and `sum` is not commutative");
  EXPECT_EQ(why_not_split(program, op, l, true), "");
  op.dims[i].keep = true;
  EXPECT_EQ(why_not_split(program, op, i, false), "`i` must stay whole");
}

TEST(PlanText, RoundTrips) {
  std::string text =
      "plan 2\nchoose H 1\nsplit H.m dim k into 4 over axis pod.model:(1)2 tree 2\n"
      "split Y dim i into [0, 100, 4096] over threads\nfuse H, H.m, Y over i\nunroll u 4\n";
  auto parsed = parse_plan(text);
  ASSERT_TRUE(std::holds_alternative<Plan>(parsed)) << std::get<TextError>(parsed).message;
  EXPECT_EQ(print(std::get<Plan>(parsed)), text);
  EXPECT_TRUE(std::holds_alternative<TextError>(parse_plan("plan 3\n")));
  EXPECT_TRUE(std::holds_alternative<TextError>(parse_plan("plan 2\nsplit Y\n")));
}

// 1,000 operations on 100 shards, every other one moved: far from quadratic in either.
TEST(Expand, AHundredThousandApplications) {
  Program program;
  program.meshes = {{"m", {{"d", 100}}, {}}};
  Build even("even"), odd("odd");
  for (Build* b : {&even, &odd}) {
    auto i = b->parallel("i", 200), j = b->parallel("j", 200);
    auto x = b->operand(i64, {200, 200});
    b->result(i64, {200, 200}, {(*b)[i], (*b)[j]});
    b->map({b->apply(CellOp::neg, {b->read(x, {(*b)[i], (*b)[j]})})});
  }
  program.operators = {even.op, odd.op};
  BuildGraph g{program, {}};
  ValueId v = g.input("x", i64, {200, 200});
  Plan plan;
  for (int o = 0; o < 1000; ++o) {
    ValueId next = g.value("v" + std::to_string(o), {i64, {200, 200}});
    g.graph.operations.push_back({OperatorId(o % 2), {v}, {next}, {}});
    plan.decisions.push_back(PlannedSplit{
        "v" + std::to_string(o), o % 50 == 0 ? "j" : "i", {100}, Placement::mesh_axis, "m", AxisName{"d"}});
    v = next;
  }
  program.main = g.finish({v});
  SplitResult splits = apply_splits(program, plan);
  ASSERT_TRUE(splits.problems.empty());
  EXPECT_EQ(splits.steps.size(), 1u);
  Program sharded = realise(splits.program).program;
  EXPECT_LT(sharded.operators.size(), 10u);  // not one for each shard
  BlockProgram blocks = expand(sharded);
  std::size_t applications = 0;
  for (const Task& task : one_by_one(blocks.graphs[0].tasks)) applications += std::holds_alternative<Application>(task);
  EXPECT_EQ(applications, 100000u);
  EXPECT_LT(blocks.graphs[0].tasks.size(), 3000u);
  EXPECT_EQ(check::test::refusal_of(blocks), "");
  EXPECT_LT(expand(sharded, 7).graphs[0].tasks.size(), 7000u);
}

// y[i] = v[i] + v[99 - i]: of what lies between, nothing is moved.
TEST(Expand, DisjointPieces) {
  Program program;
  program.meshes = {{"m", {{"d", 10}}, {}}};
  Build twice("twice"), ends("ends");
  auto i = twice.parallel("i", 100);
  auto x = twice.operand(i64, {100});
  twice.result(i64, {100}, {twice[i]});
  twice.map({twice.apply(CellOp::neg, {twice.read(x, {twice[i]})})});
  auto j = ends.parallel("j", 100);
  auto v = ends.operand(i64, {100});
  ends.result(i64, {100}, {ends[j]});
  ends.map({ends.apply(CellOp::add, {ends.read(v, {ends[j]}), ends.read(v, {-1 * ends[j] + 99})})});
  program.operators = {twice.op, ends.op};
  BuildGraph g{program, {}};
  ValueId input = g.input("x", i64, {100}), made = g.value("v", {i64, {100}}), last = g.value("y", {i64, {100}});
  g.graph.operations = {{OperatorId(0), {input}, {made}, {}}, {OperatorId(1), {made}, {last}, {}}};
  program.main = g.finish({last});
  Plan plan;
  for (auto [name, dim] : {std::pair("v", "i"), std::pair("y", "j")})
    plan.decisions.push_back(PlannedSplit{name, dim, {10}, Placement::mesh_axis, "m", AxisName{"d"}});
  const BlockProgram blocks = expand(realise(apply_splits(program, plan).program).program);
  std::int64_t cells = 0;
  for (const Task& task : one_by_one(blocks.graphs[0].tasks))
    if (auto* move = std::get_if<Move>(&task)) cells += move->box.size();
  EXPECT_EQ(cells, 100);  // what lies at the other end: each has its own already
  for (const Held& held : blocks.graphs[0].held)
    if (held.device != everywhere) {
      EXPECT_LE(held.box.size(), 10);  // and nothing between
    }
  EXPECT_EQ(check::test::refusal_of(blocks), "");
}

// y[.., i, ..] = combine[k <= i + shift] x[.., k, ..], or k >= i + shift; also by composition of affine functions, in order
Operator random_scan(Program& program, Choices& choose, const TensorType& type) {
  Build b("scan");
  std::vector<Linear> at, rows;
  auto running = static_cast<std::size_t>(choose(static_cast<std::int64_t>(type.shape.size())));
  for (std::size_t a = 0; a < type.shape.size(); ++a)
    rows.push_back(b[b.parallel("p" + std::to_string(a), type.shape[a])]);
  at = rows;
  auto k = b.reduction("k", type.shape[running]);
  at[running] = b[k];
  Linear difference = rows[running] - b[k] + (choose(5) - 2);
  b.require_at_least_zero(choose(2) ? difference : -1 * difference);
  CellId value = b.read(b.operand(type.element, type.shape), at);
  b.result(type.element, type.shape, rows);
  if (choose(2)) return b.reduce(add_monoid(program, choose(2) ? "sum" : "max", type.element), {value});
  b.result(type.element, type.shape, rows);
  Monoid affine = affine_composition(type.element);
  return b.reduce(add_monoid(program, affine), {value, b.apply(CellOp::add, {value, b.literal(type.element, 1)})});
}

// One that reads `type` at its own place, shifted, reversed, or sums over an axis: producers and consumers that agree, that
// overlap and that do not agree.
Operator random_consumer(Program& program, Choices& choose, const TensorType& type) {
  if (!type.shape.empty() && choose(5) == 0) return random_scan(program, choose, type);
  Build b("f");
  std::vector<Linear> at, rows;
  Shape shape;
  std::int64_t summed = type.shape.empty() ? -1 : choose(2) ? choose(static_cast<std::int64_t>(type.shape.size())) : -1;
  for (std::size_t a = 0; a < type.shape.size(); ++a) {
    bool reduced = static_cast<std::int64_t>(a) == summed;
    std::string name = (reduced ? "r" : "p") + std::to_string(a);
    auto d = reduced ? b.reduction(name, type.shape[a]) : b.parallel(name, type.shape[a]);
    at.push_back(Linear{{{d, 1}}, 0});
    if (reduced) continue;
    rows.push_back(at.back());
    shape.push_back(type.shape[a]);
  }
  auto x = b.operand(type.element, type.shape);
  std::optional<CellId> fill;
  for (std::size_t a = 0; a < at.size(); ++a) switch (choose(4)) {
      case 0: at[a] = at[a] + (choose(5) - 2), fill = b.literal(type.element, 3); break;
      case 1: at[a] = at_constant(type.shape[a] - 1) - at[a]; break;
      default: break;
    }
  b.result(type.element, shape, rows);
  CellId value = b.apply(CellOp::add, {b.read(x, at, fill), b.literal(type.element, 1)});
  return summed < 0 ? b.map({value}) : b.reduce(add_monoid(program, choose(2) ? "sum" : "max", type.element), {value});
}

struct Coverage {
  int programs = 0, moves = 0, partials = 0, scans = 0;
};

Program random_chain(Choices& choose, std::vector<Tensor>& inputs) {
  Program program;
  program.meshes = random_meshes();
  Shape shape;
  for (std::int64_t rank = 1 + choose(3); rank > 0; --rank) shape.push_back(choose(12) == 0 ? 0 : 1 + choose(7));
  inputs.push_back(Tensor(i64, shape));
  for (std::int64_t c = 0; c < inputs[0].size(); ++c) inputs[0].store_i64(c, (7 * c + choose(3)) % 11 - 5);
  std::vector<Operator> operators;
  TensorType type{i64, shape};
  for (std::int64_t n = 1 + choose(4); n > 0; --n) {
    operators.push_back(random_consumer(program, choose, type));
    type = operators.back().results[0];
  }
  for (Monoid& m : program.monoids)
    if (m.arity() == 1) m.laws = {Law::proved, Law::proved, Law::proved, Law::unknown};
  BuildGraph g{program, {}};
  std::vector<ValueId> operands{g.input("in", i64, shape)};
  for (std::size_t o = 0; o < operators.size(); ++o) {
    operands = g.add(operators[o], {operands.back()});
    for (std::size_t k = 0; k < operands.size(); ++k)
      g.graph.values[operands[k].index()].name = "v" + std::to_string(o) + (k ? "b" : "");
  }
  program.main = g.finish(operands);
  return program;
}

TEST(SplitProperty, RandomChainsUnderRandomPlans) {
  Coverage coverage;
  bool ok = rc::check("what devices compute is the whole", [&] {
    Choices choose(*rc::gen::container<std::vector<std::uint8_t>>(260, rc::gen::arbitrary<std::uint8_t>()));
    std::vector<Tensor> inputs;
    Program program = random_chain(choose, inputs);
    Plan plan = random_splits(choose, program);
    RC_LOG() << print(program, program[program.main]) << print(plan);
    SplitResult splits = apply_splits(program, plan);
    for (const PlanProblem& p : splits.problems) RC_LOG() << p.message << "\n";
    RC_ASSERT(splits.problems.empty());
    RC_ASSERT(verify(splits.program) == std::vector<std::string>{});
    Program sharded = realise(splits.program).program;
    RC_ASSERT(verify(sharded) == std::vector<std::string>{});
    RC_ASSERT(std::get<Program>(parse_program(print(sharded))) == sharded);
    BlockProgram blocks = expand(sharded);
    RC_ASSERT(check::test::refusal_of(blocks) == "");
    RC_LOG() << print(blocks.program, blocks.graphs[program.main.index()]);
    std::vector<Tensor> expected = interpret(program, program.main, inputs).outputs;
    for (const std::vector<Tensor>& got :
         {interpret(sharded, program.main, inputs).outputs, interpret(blocks, inputs).outputs})
      for (std::size_t k = 0; k < expected.size(); ++k)
        RC_ASSERT(std::memcmp(got[k].data(), expected[k].data(), expected[k].byte_size()) == 0);
    ++coverage.programs;
    bool moves = false;
    for (const Task& task : blocks.graphs[program.main.index()].tasks) moves |= std::holds_alternative<Move>(task);
    coverage.moves += moves;
    for (const Value& v : splits.program[program.main].values) coverage.scans += v.name.ends_with(".carry");
    coverage.partials += splits.program[program.main].values.size() > program[program.main].values.size();
  });
  EXPECT_TRUE(ok);
  std::printf("%d programs: %d with moves, %d with partials, %d scans cut\n", coverage.programs, coverage.moves,
              coverage.partials, coverage.scans);
  EXPECT_GT(coverage.moves, coverage.programs / 5);
  EXPECT_GT(coverage.scans, 0);
}

// a is the same for every z; a device whose block of z is empty has none of it.
TEST(Split, DeviceWithoutABlockHoldsNoCells) {
  Program program = tap::passes::test::lowered(
      "monoid both(v: i64, w: i64) { identity (0, 0)  combine (a, b) = (a.v + b.v, a.w + b.w) }\n"
      "mesh m = [x: 2]\n"
      "program p(X: i64[4]) -> (Y: i64[], B: i64[3]) {\n"
      "  (a[], B[z]) = both[k] (X[k], X[k] * z) for z in 0..3\n"
      "  Y[] = a[] + 1 }");
  PlannedSplit split{"a", "z", Blocks{2, {0, 0, 3}}, Placement::mesh_axis, "m", AxisName{"x", {}}};
  for (const Blocks& blocks : {Blocks{2, {0, 0, 3}}, Blocks{2, {0, 3, 3}}, Blocks{2}}) {
    split.blocks = blocks;
    SplitResult splits = apply_splits(program, {{split}});
    ASSERT_TRUE(splits.problems.empty()) << splits.problems[0].message;
    std::vector<Tensor> inputs = tap::passes::test::sample_inputs(program);
    BlockProgram expanded = expand(realise(splits.program).program);
    EXPECT_EQ(check::test::refusal_of(expanded), "");
    expect_equal(interpret(expanded, inputs).outputs, interpret(program, program.main, inputs).outputs,
                 to_string(blocks));
  }
}

// By hand only: splits refuse it. The cells of a partial would lie in several blocks of the walk.
TEST(Split, StreamedDimIsNotSplitIntoPartials) {
  Program program = tap::passes::test::lowered("program p(X: i64[4, 9]) -> (Y: i64[4]) { Y[i] = sum[k] X[i, k] }");
  Operator& op = program.operators.back();
  const Operator partials = split_dim(split_dim(op, 1, Blocks{3}, false), 1, Blocks{2}, true);
  const Operator streamed = split_dim(split_dim(op, 1, Blocks{3}, true), 1, Blocks{2}, false);
  auto reports_it = [&](const Operator& changed) {
    op = changed;
    std::string all;
    for (const std::string& problem : verify(program)) all += problem + "\n";
    return all.find("is streamed, and then split into partials by k_block2") != std::string::npos;
  };
  EXPECT_FALSE(reports_it(partials));
  EXPECT_TRUE(reports_it(streamed));
}

}  // namespace
}  // namespace tap::passes::test
