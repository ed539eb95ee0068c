// Calls disappear, what they compute stays.
#include "passes/simplify/inline_calls.h"

#include <gtest/gtest.h>

#include "check/check.h"
#include "ir/graph.h"
#include "ir/verify/verify.h"
#include "tests/check/certified.h"
#include "tests/ir/build.h"

namespace tap::passes {
namespace {

using namespace tap::ir;
using namespace tap::ir::test;

// Pre: the checker accepts what is claimed of it.
Program inlined_of(const Program& program) {
  const PassResult made = inline_calls(program, {});
  check::Verdict verdict;
  check::check_step(program, made.program, made.step, "inline_calls", verdict);
  EXPECT_EQ(check::test::first_refusal(verdict), "");
  return made.program;
}

// y = a + b over a vector.
Operator sum_of_two(const std::string& name) {
  Build b(name);
  auto i = b.parallel("i", 4);
  auto x = b.operand(f32, {4}), y = b.operand(f32, {4});
  b.result(f32, {4}, {b[i]});
  return b.map({b.apply(CellOp::add, {b.read(x, {b[i]}), b.read(y, {b[i]})})});
}
Operator region(RegionKind kind, GraphId graph, std::size_t operands, std::size_t results, Range trips = {}) {
  Operator op;
  op.name = "region";
  op.operands.assign(operands, {f32, {4}});
  op.results.assign(results, {f32, {4}});
  op.body = RegionBody{kind, graph, trips};
  return op;
}

// (t = -x; y = |t|) -> y
GraphId add_callee(Program& program) {
  BuildGraph g{program, {}};
  g.graph.name = "callee";
  auto x = g.input("x", f32, {4});
  auto t = g.add(unary(CellOp::neg, "t"), {x})[0];
  return g.finish(g.add(unary(CellOp::abs, "y"), {t}));
}

std::size_t calls(const Program& program) {
  std::size_t n = 0;
  for (const Graph& g : program.graphs)
    for (const Operation& o : g.operations) {
      const RegionBody* r = program[o.op].region();
      n += r && r->kind == RegionKind::call;
    }
  return n;
}

void expect_same_meaning(const Program& program) {
  Program inlined = inlined_of(program);
  EXPECT_EQ(verify(inlined), std::vector<std::string>{});
  EXPECT_EQ(calls(inlined), 0u);
  EXPECT_EQ(inlined_of(inlined), inlined);
  std::vector<Tensor> inputs;
  for (std::size_t k = 0; k < program[program.main].inputs.size(); ++k)
    inputs.push_back(tensor(f32, {4}, {1, -2, 3, -4.5 - double(k)}));
  auto before = interpret(program, program.main, inputs).outputs;
  auto after = interpret(inlined, inlined.main, inputs).outputs;
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t k = 0; k < before.size(); ++k) EXPECT_EQ(values_of(before[k]), values_of(after[k]));
}

TEST(InlineCalls, TwoCallsOfOneGraphGetUniqueNames) {
  Program program;
  GraphId callee = add_callee(program);
  BuildGraph g{program, {}};
  auto x = g.input("x", f32, {4});
  auto h = g.value("h", {f32, {4}}), k = g.value("k", {f32, {4}});
  g.write(region(RegionKind::call, callee, 1, 1), {x}, {h});
  g.write(region(RegionKind::call, callee, 1, 1), {h}, {k});
  program.main = g.finish({k});
  expect_same_meaning(program);
  std::vector<std::string> names;
  Program inlined = inlined_of(program);
  for (const Value& v : inlined[inlined.main].values) names.push_back(v.name);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "h", "k", "h.t", "k.t"}));
  EXPECT_EQ(inlined.graphs.size(), 1u);
}

TEST(InlineCalls, NestedCallsAndIterateBodies) {
  Program program;
  GraphId callee = add_callee(program);
  BuildGraph mid{program, {}};
  auto v = mid.input("v", f32, {4}), w = mid.input("w", f32, {4});
  auto t = mid.value("t", {f32, {4}});
  mid.write(region(RegionKind::call, callee, 1, 1), {v}, {t});
  GraphId body = mid.finish(mid.add(sum_of_two("s"), {t, w}));
  BuildGraph g{program, {}};
  auto x = g.input("x", f32, {4}), y = g.input("y", f32, {4});
  auto r = g.value("r", {f32, {4}}), z = g.value("z", {f32, {4}});
  g.write(region(RegionKind::iterate, body, 2, 1, {0, 3}), {x, y}, {r});
  g.write(region(RegionKind::call, body, 2, 1), {r, y}, {z});
  program.main = g.finish({z, r});
  expect_same_meaning(program);
}

TEST(InlineCalls, ResultsThatAreOperandsAndResultsTwice) {
  Program program;
  BuildGraph inner{program, {}};
  auto a = inner.input("a", f32, {4}), b = inner.input("b", f32, {4});
  auto s = inner.add(sum_of_two("s"), {a, b})[0];
  GraphId swap = inner.finish({b, s, a, s});
  BuildGraph outer{program, {}};  // passes the aliases on through a second level
  auto p = outer.input("p", f32, {4}), q = outer.input("q", f32, {4});
  std::vector<ValueId> r;
  for (const char* name : {"r0", "r1", "r2", "r3"}) r.push_back(outer.value(name, {f32, {4}}));
  outer.write(region(RegionKind::call, swap, 2, 4), {p, q}, r);
  GraphId level = outer.finish(r);
  BuildGraph g{program, {}};
  auto x = g.input("x", f32, {4}), y = g.input("y", f32, {4});
  std::vector<ValueId> z;
  for (const char* name : {"z0", "z1", "z2", "z3"}) z.push_back(g.value(name, {f32, {4}}));
  g.write(region(RegionKind::call, level, 2, 4), {x, y}, z);
  z.push_back(g.add(sum_of_two("u"), {z[0], z[3]})[0]);
  program.main = g.finish(z);
  expect_same_meaning(program);
  Program inlined = inlined_of(program);
  EXPECT_EQ(inlined[inlined.main].operations.size(), 2u);
  EXPECT_EQ(inlined[inlined.main].values.size(), 4u);
}

TEST(InlineCalls, AliasWithABarrierStaysAValue) {
  Program program;
  BuildGraph inner{program, {}};
  auto a = inner.input("a", f32, {4});
  GraphId same = inner.finish({a});
  BuildGraph g{program, {}};
  auto x = g.input("x", f32, {4});
  auto y = g.value("y", {f32, {4}});
  g.write(region(RegionKind::call, same, 1, 1), {x}, {y});
  g.graph.barriers.push_back({y, BarrierKind::forward});
  program.main = g.finish({y});
  expect_same_meaning(program);
  Program inlined = inlined_of(program);
  const Graph& main = inlined[inlined.main];
  ASSERT_EQ(main.barriers.size(), 1u);
  EXPECT_EQ(main[main.barriers[0].value].name, "y");
  EXPECT_EQ(main.operations.size(), 1u);
}

TEST(InlineCalls, NotesOfTheCalleeAreKept) {
  Program program;
  BuildGraph inner{program, {}};
  auto a = inner.input("a", f32, {4});
  auto t = inner.add(unary(CellOp::neg, "t"), {a})[0];
  auto y = inner.add(unary(CellOp::abs, "y"), {t})[0];
  std::vector<Range> blocks{{0, 1}, {1, 4}};
  inner.graph.splits.push_back({OperationId{1}, {}, 0, "i", blocks, Placement::threads, {}});
  inner.graph.groups.push_back({{t, y}});
  GraphId callee = inner.finish({y});
  BuildGraph g{program, {}};
  auto x = g.input("x", f32, {4});
  g.graph.splits.push_back({OperationId{1}, {}, 0, "i", blocks, Placement::sequential, {}});         // both inside
  g.graph.splits.push_back({OperationId{1}, ValueId{2}, 0, "", blocks, Placement::sequential, {}});  // who writes h
  auto u = g.add(unary(CellOp::neg, "u"), {x})[0];
  auto h = g.value("h", {f32, {4}});
  g.write(region(RegionKind::call, callee, 1, 1), {u}, {h});
  program.main = g.finish({h});
  Program inlined = inlined_of(program);
  const Graph& main = inlined[inlined.main];
  std::vector<std::string> written;  // by the operations that are split, those of the callee first
  for (const SplitRequest& split : main.splits) written.push_back(main[main[split.operation].results[0]].name);
  EXPECT_EQ(written, (std::vector<std::string>{"h", "h.t", "h", "h"}));
  ASSERT_EQ(main.groups.size(), 1u);
  EXPECT_EQ(main[main.groups[0].values[0]].name, "h.t");
  EXPECT_EQ(main[main.groups[0].values[1]].name, "h");
}

// Every claim of a copy names the operation that it is a copy of, through the calls.
TEST(InlineCalls, ClaimsWhereEveryOperationComesFrom) {
  Program program;
  GraphId callee = add_callee(program);
  BuildGraph g{program, {}};
  auto x = g.input("x", f32, {4});
  auto h = g.value("h", {f32, {4}});
  g.write(region(RegionKind::call, callee, 1, 1), {x}, {h});
  program.main = g.finish({h});
  PassResult result = inline_calls(program, {});
  ASSERT_EQ(result.step.graphs.size(), 1u);
  const GraphClaim& claim = result.step.graphs[0];
  EXPECT_EQ(claim.before, program.main);
  std::vector<Justification> copies{Copied{{{OperationId{0u}}, OperationId{0u}}},
                                    Copied{{{OperationId{0u}}, OperationId{1u}}}};
  EXPECT_EQ(claim.operations, copies);
  std::vector<std::optional<ValueRef>> values{ValueRef{{}, x}, ValueRef{{}, h},
                                              ValueRef{{OperationId{0u}}, ValueId{1u}}};
  EXPECT_EQ(claim.values, values);
}

}  // namespace
}  // namespace tap::passes
