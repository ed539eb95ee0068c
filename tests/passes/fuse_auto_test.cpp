// Groups that the compiler chooses: what the standard operators become, and that choosing is as good as trying everything.
#include "passes/fusion/fuse_auto.h"

#include <chrono>
#include <map>
#include <random>

#include "ir/text.h"
#include "passes/fusion/fuse.h"
#include "passes/fusion/unroll.h"
#include "tests/ir/build.h"
#include "tests/ir/without_code.h"
#include "tests/passes/lowered.h"

namespace tap::passes::test {
namespace {

using namespace tap::ir;
using namespace tap::ir::test;

using Lines = std::vector<std::string>;

Lines groups(const Program& program) { return groups_of(program, program[program.main]); }

Program fused_text(const std::string& text) {
  Program program = fuse_auto(lowered(text)).program;
  EXPECT_EQ(verify(program), std::vector<std::string>{});
  return program;
}
// The same program at small sizes, evaluated.
void expect_same_results(const std::string& text) {
  Program program = lowered(text);
  PassResult result = fuse_auto(program);
  expect_certified(program, result.program, result.step);
  expect_same_meaning(program, result.program);
}

TEST(FuseAuto, EachLayerOfAPerceptronIsOneGroup) {
  Program program = fused_text(
      "use std\nprogram mlp(X: f32[1024, 1024], const W1: f32[1024, 4096], const b1: f32[4096],\n"
      "  const W2: f32[4096, 1024], const b2: f32[1024]) -> (Y: f32[1024, 1024]) {\n"
      "  H = relu(linear(X, W1, b1))\n  Y = linear(H, W2, b2) }");
  const Graph& main = program[program.main];
  ASSERT_EQ(main.operations.size(), 2u);
  for (std::size_t o = 0; o < 2; ++o) {
    const Operator& op = program[main.operations[o].op];
    ASSERT_TRUE(op.region());
    EXPECT_EQ(op.dims.size(), 2u);
    EXPECT_EQ(main.operations[o].results.size(), 1u);
    EXPECT_EQ(main[main.operations[o].results[0]].name, o == 0 ? "H" : "Y");
  }
}

TEST(FuseAuto, SoftmaxIsOneGroupOverItsRows) {
  Program program = fused_text("use std\nprogram p(X: f32[8192, 4096]) -> (Y: f32[8192, 4096]) { Y = softmax(X) }");
  EXPECT_EQ(groups(program), (Lines{"over i: Y.m, Y.e, Y.s, Y -> Y"}));
  EXPECT_EQ(program[program.main].values.size(), 2u);
  expect_same_results("use std\nprogram p(X: f64[3, 4, 5]) -> (Y: f64[3, 4, 5]) { Y = softmax(X) }");
}

TEST(FuseAuto, NormalisationIsOneGroupOverItsRows) {
  for (const char* call : {"layer_norm(X, G, B)", "rms_norm(X, G)"}) {
    std::string rest = std::string("Y = ") + call + " }";
    Program program = fused_text(
        "use std\nprogram p(X: f32[8192, 4096], G: f32[4096], B: f32[4096]) -> (Y: f32[8192, 4096]) { " + rest);
    const Graph& main = program[program.main];
    ASSERT_EQ(main.operations.size(), 1u) << call;
    EXPECT_EQ(program[main.operations[0].op].dims.size(), 1u);
    expect_same_results("use std\nprogram p(X: f64[4, 6], G: f64[6], B: f64[6]) -> (Y: f64[4, 6]) { " + rest);
  }
}

TEST(FuseAuto, AttentionIsOneGroupOverQueryRows) {
  for (const char* name : {"attention", "attention_causal"}) {
    std::string call = std::string(name) + "(Q, K, V) }";
    Program program = fused_text(
        "use std\nprogram p(Q: f32[16, 1024, 64], K: f32[16, 1024, 64], V: f32[16, 1024, 64])"
        " -> (Y: f32[16, 1024, 64]) { Y = " +
        call);
    const Graph& main = program[program.main];
    ASSERT_EQ(main.operations.size(), 1u) << name;
    EXPECT_EQ(program[main.operations[0].op].dims.size(), 2u);
    EXPECT_EQ(main.values.size(), 4u) << ir::print(program, main);
    expect_same_results(
        "use std\nprogram p(Q: f64[2, 5, 3], K: f64[2, 6, 3], V: f64[2, 6, 4]) -> (Y: f64[2, 5, 4]) { Y = " + call);
  }
}

TEST(FuseAuto, TwoTripsOfJacobiAreOneTile) {
  Program program = lowered(
      "use std\nprogram p(F: f64[512, 512]) -> (U: f64[512, 512]) { U0 = zeros_like(F)\n"
      "  U = iterate 100 (V = U0) { jacobi5(V, F) } }");
  Program steps = apply_unrolls(program, {{PlannedUnroll{"U", 2}}}).program;
  Program tiles = fuse_auto(steps).program;
  EXPECT_EQ(verify(tiles), std::vector<std::string>{});
  std::size_t found = 0;
  for (const Graph& graph : tiles.graphs)
    for (const Operation& operation : graph.operations) {
      const Operator& op = tiles[operation.op];
      if (!op.region() || op.region()->kind != RegionKind::group) continue;
      ++found;
      EXPECT_EQ(op.dim_names(), (Lines{"i", "j"}));
      EXPECT_EQ(tiles[op.region()->graph].operations.size(), 2u);
    }
  EXPECT_EQ(found, 1u);
}

TEST(FuseAuto, PrologueOfAReductionIsStreamed) {
  const char* text = "program p(X: f64[6, 9]) -> (S: f64[6]) { v[i, k] = X[i, k] * X[i, k]  S[i] = sum[k] v[i, k] }";
  EXPECT_EQ(groups(fused_text(text)), (Lines{"over i, k: v, S -> S"}));
  expect_same_results(text);
}

// A read that is outside everywhere requests no cell: found by random programs, of seed 102638.
TEST(FuseAuto, CellsOutsideTheTensorAreNotRequested) {
  expect_same_results(
      "program p(X: f64[2, 2]) -> (Y: f64[2, 2]) {\n  t[i, j] = X[i - 2, j else 0] for i in 0..2\n"
      "  s[i, j] = sum[k] -t[i, k] * t[k, j]\n  Y[i, j] = if j <= i then s[i, j] else 0\n}\n");
}

TEST(FuseAuto, ReductionsOverOneIndexSpaceAreGrouped) {
  const char* text =
      "program p(X: f64[6, 9]) -> (S: f64[6], M: f64[6]) { S[i] = sum[k] X[i, k]  M[i] = max[k] X[i, k] }";
  EXPECT_EQ(groups(fused_text(text)), (Lines{"over i: S, M -> M, S"}));
  expect_same_results(text);
}

// ---- against every grouping -----------------------------------------------------------------------------------------

// A random graph of maps, row reductions, broadcasts, shifts and products, with up to `operations` operations.
Program random_graph(std::mt19937& random, int operations) {
  Program program;
  BuildGraph g{program, {}};
  auto roll = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  constexpr std::int64_t n = 64;
  std::vector<ValueId> values{g.input("x", f64, {n, n}), g.input("y", f64, {n, n}), g.input("z", f64, {n})};
  MonoidId sum = add_monoid(program, "sum", f64);
  auto rank = [&](ValueId v) { return g.graph[v].type.shape.size(); };
  for (int o = 0; o < operations; ++o) {
    Build b("v" + std::to_string(o));
    auto any = [&] { return values[static_cast<std::size_t>(roll(static_cast<int>(values.size())))]; };
    auto recent = [&] { return roll(3) ? values.back() : any(); };
    ValueId from = recent(), other = any();
    int kind = roll(8);
    bool reduces = kind < 2 && rank(from) == 2, product = kind == 2 && rank(from) == 2 && rank(other) == 2;
    auto i = b.parallel("i", n);
    auto zero = b.literal(f64, 0);
    if (reduces) {
      auto k = b.reduction("k", n);
      auto in = b.operand(f64, {n, n});
      b.result(f64, {n}, {b[i]});
      values.push_back(
          g.add(b.reduce(sum, {b.read(in, kind ? std::vector{b[i], b[k]} : std::vector{b[k], b[i]})}), {from})[0]);
      continue;
    }
    auto j = b.parallel("j", n);
    std::uint32_t k = product ? b.reduction("k", n) : 0;
    auto in = b.operand(f64, Shape(rank(from), n)), also = b.operand(f64, Shape(rank(other), n));
    b.result(f64, {n, n}, {b[i], b[j]});
    auto rows = [&](ValueId v) {
      if (rank(v) == 1) return std::vector{roll(2) ? b[i] : b[j]};
      if (roll(6) == 0) return std::vector{b[j], b[i]};
      return std::vector{b[i] + (roll(4) == 0 ? 1 : 0), b[j] - (roll(5) == 0 ? 1 : 0)};
    };
    CellId left = b.read(in, product ? std::vector{b[i], b[k]} : rows(from), zero);
    CellId right = b.read(also, product ? std::vector{b[k], b[j]} : rows(other), zero);
    CellId value = b.apply(product ? CellOp::mul : CellOp::add, {left, right});
    values.push_back(g.add(product ? b.reduce(sum, {value}) : b.map({value}), {from, other})[0]);
  }
  std::vector<ValueId> outputs{values.back()};
  if (roll(2) && values.size() > 5) outputs.push_back(values[values.size() - 3]);
  program.main = g.finish(outputs);
  program.graphs[0] = without_dead_code(program.graphs[0]);
  return program;
}

using Set = std::uint32_t;

// The cheapest way to walk through the operations group by group, each group needing only what is done already.
class EveryGrouping {
 public:
  EveryGrouping(const GroupMaker& maker, const FusionLimits& limits) : maker_(maker), limits_(limits) {
    std::size_t n = maker.graph().operations.size();
    needs_.resize(n, 0);
    for (std::size_t v = 0; v < maker.graph().values.size(); ++v)
      for (OperationId w : maker.uses().writers[v])
        for (OperationId r : maker.uses().readers[v]) needs_[r.index()] |= Set{1} << w.index();
    all_ = (Set{1} << n) - 1;
  }

  Crossing best(Set done = 0) {
    if (done == all_) return {};
    if (auto it = best_.find(done); it != best_.end()) return it->second;
    Crossing least{1e300, 1e300};
    Set left = all_ & ~done;
    for (Set group = left; group; group = (group - 1) & left) {
      if (!runs_after(group, done) || !cost(group)) continue;
      Crossing rest = best(done | group);
      rest += *cost(group);
      least = std::min(least, rest);
    }
    return best_[done] = least;
  }

 private:
  bool runs_after(Set group, Set done) const {
    for (std::size_t o = 0; o < needs_.size(); ++o)
      if ((group >> o & 1) && (needs_[o] & ~(done | group))) return false;
    return true;
  }
  const std::optional<Crossing>& cost(Set group) {
    auto [it, fresh] = cost_.try_emplace(group);
    if (!fresh) return it->second;
    std::vector<OperationId> members;
    for (std::size_t o = 0; o < needs_.size(); ++o)
      if (group >> o & 1) members.push_back(OperationId(o));
    if (members.size() == 1 || group_within(maker_, members, limits_)) it->second = crossing_of(maker_, members);
    return it->second;
  }

  const GroupMaker& maker_;
  const FusionLimits& limits_;
  std::vector<Set> needs_;
  Set all_ = 0;
  std::map<Set, std::optional<Crossing>> cost_;
  std::map<Set, Crossing> best_;
};

TEST(FuseAuto, EscapingBytesAreWithinATenthOfTheBestGrouping) {
  constexpr unsigned seed = 20260101;
  std::mt19937 random(seed);
  double worst = 1;
  int graphs = 0, groups = 0;
  for (int trial = 0; trial < 300; ++trial) {
    Program program = random_graph(random, 3 + trial % 8);
    FusionLimits limits;
    if (trial % 3 == 0) limits.inner_bytes = 520;  // one row, or several single cells
    GroupMaker maker(program, program[program.main]);
    if (maker.graph().operations.empty()) continue;
    std::vector<bool> grouped(maker.graph().operations.size(), false);
    Crossing chosen;
    for (const auto& members : choose_groups(maker, limits)) {
      ++groups;
      chosen += crossing_of(maker, members);
      for (OperationId o : members) grouped[o.index()] = true;
    }
    for (std::size_t o = 0; o < grouped.size(); ++o)
      if (!grouped[o]) chosen += crossing_of(maker, {OperationId(o)});
    Crossing best = EveryGrouping(maker, limits).best();
    ++graphs;
    worst = std::max(worst, chosen.escaping / best.escaping);
    EXPECT_LE(chosen.escaping, 1.1 * best.escaping)
        << "seed " << seed << ", graph " << trial << ": " << ir::print(program, maker.graph());
  }
  std::cout << graphs << " graphs, " << groups << " groups, worst ratio " << worst << "\n";
  EXPECT_GT(groups, graphs / 2);
}

TEST(FuseAuto, RandomGraphsPreserveResults) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 12; ++trial) {
    Program program = random_graph(random, 4 + trial % 5);
    Program small = program;  // 64 points are too many to evaluate point by point
    auto shrink = [](Shape& shape) {
      for (std::int64_t& n : shape) n = 6;
    };
    for (Operator& op : small.operators) {
      for (IndexDim& d : op.dims) d.range.hi = 6;
      for (auto* types : {&op.operands, &op.results})
        for (TensorType& t : *types) shrink(t.shape);
    }
    for (Value& v : small.graphs[0].values) shrink(v.type.shape);
    PassResult result = fuse_auto(small);
    expect_certified(small, result.program, result.step);
    expect_same_meaning(small, result.program);
  }
}

TEST(FuseAuto, IsDeterministicAndFastOnLongGraphs) {
  auto seconds = [](int operations) {
    std::mt19937 random(11);
    Program program = random_graph(random, operations);
    auto start = std::chrono::steady_clock::now();
    PassResult once = fuse_auto(program);
    double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (operations < 500) { EXPECT_EQ(once.program, fuse_auto(program).program); }
    return elapsed;
  };
  seconds(100);
  double thousand = seconds(1000);
  std::cout << "1,000 operations: " << thousand << " s\n";
  EXPECT_LT(thousand, 20);
}

}  // namespace
}  // namespace tap::passes::test
