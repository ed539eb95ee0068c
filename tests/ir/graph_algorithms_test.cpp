// Graph algorithms against brute force, and at size.
#include "ir/graphs/graph_algorithms.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "ir/verify/verify.h"
#include "tests/ir/sample_programs.h"
#include "tests/ir/without_code.h"

namespace tap::ir {
namespace {

using samples::binary;
using samples::GraphBuilder;
using samples::seconds_of;
using samples::unary;

std::vector<OperationId> ids(std::initializer_list<std::size_t> list) {
  std::vector<OperationId> result;
  for (std::size_t i : list) result.push_back(OperationId(i));
  return result;
}

TEST(GraphAlgorithms, DefUseListsEachOperationOnce) {
  GraphBuilder b;
  ValueId x = b.input("x");
  ValueId y = b.call(binary(CellOp::add), {x, x}, "y");
  DefUse uses = def_use(b.graph());
  EXPECT_EQ(uses.readers[x.index()], ids({0}));
  EXPECT_EQ(uses.writers[y.index()], ids({0}));
  EXPECT_TRUE(uses.writers[x.index()].empty());
}

TEST(GraphAlgorithms, OrderPutsEveryWriterBeforeReaders) {
  GraphBuilder b;
  ValueId x = b.input("x"), v = b.value("v"), w = b.value("w");
  b.write(unary(CellOp::exp), {v}, {w});  // reads what the last two write
  b.write(unary(CellOp::sin), {x}, {v});
  b.write(unary(CellOp::cos), {x}, {v});
  EXPECT_EQ(topological_order(b.graph()), ids({1, 2, 0}));
}

TEST(GraphAlgorithms, ACycleHasNoOrder) {
  GraphBuilder b;
  ValueId x = b.input("x"), p = b.value("p"), q = b.value("q"), r = b.value("r");
  b.write(unary(CellOp::exp), {x}, {b.value("t")});
  b.write(unary(CellOp::exp), {r}, {p});
  b.write(unary(CellOp::exp), {q}, {r});
  b.write(unary(CellOp::exp), {p}, {q});
  EXPECT_FALSE(topological_order(b.graph()));
}

TEST(GraphAlgorithms, OperationThatReadsItsOwnResultIsACycle) {
  GraphBuilder b;
  ValueId p = b.value("p");
  b.write(unary(CellOp::exp), {p}, {p});
  EXPECT_FALSE(topological_order(b.graph()));
}

TEST(GraphAlgorithms, DeadCodeIsRemovedAndAnnotationsFollow) {
  GraphBuilder b;
  ValueId x = b.input("x"), unused = b.input("unused");
  ValueId dead = b.call(unary(CellOp::exp), {x}, "dead");
  b.call(unary(CellOp::log), {dead}, "deader");
  ValueId y = b.call(unary(CellOp::sin), {x}, "y");
  b.graph().outputs = {y};
  b.graph().groups = {{{dead, y}}, {{dead}}};
  b.graph().barriers = {{dead, BarrierKind::both}, {y, BarrierKind::forward}};
  b.graph().splits = {{OperationId(0), std::nullopt, 0, "i", {{0, 4}}},
                      {OperationId(2), std::nullopt, 0, "i", {{0, 1}, {1, 4}}}};
  Graph g = without_dead_code(b.graph());
  ASSERT_EQ(g.operations.size(), 1u);
  ASSERT_EQ(g.values.size(), 3u);
  EXPECT_EQ(g.values[2].name, "y");
  EXPECT_EQ(g.inputs, (std::vector{x, unused}));
  EXPECT_EQ(g.outputs, (std::vector{ValueId(2)}));
  EXPECT_EQ(g.groups, (std::vector{ShardingGroup{{ValueId(2)}}}));
  EXPECT_EQ(g.barriers, (std::vector{Barrier{ValueId(2), BarrierKind::forward}}));
  ASSERT_EQ(g.splits.size(), 1u);
  EXPECT_EQ(g.splits[0].operation, OperationId(0));
  EXPECT_EQ(g.splits[0].blocks.size(), 2u);
}

TEST(GraphAlgorithms, AllWritersOfALiveValueAreAlive) {
  GraphBuilder b;
  ValueId x = b.input("x"), y = b.value("y");
  b.write(unary(CellOp::sin), {x}, {y});
  b.write(unary(CellOp::cos), {x}, {y});
  b.graph().outputs = {y};
  EXPECT_EQ(without_dead_code(b.graph()), b.graph());
}

TEST(CommonSubexpressions, EqualChainsAreMerged) {
  GraphBuilder b;
  ValueId x = b.input("x");
  ValueId a = b.call(unary(CellOp::log), {b.call(unary(CellOp::exp), {x}, "e1")}, "l1");
  Operator renamed = unary(CellOp::exp);  // names do not count
  renamed.name = "EXP";
  renamed.dims[0].name = "q";
  ValueId c = b.call(unary(CellOp::log), {b.call(renamed, {x}, "e2")}, "l2");
  b.graph().outputs = {b.call(binary(CellOp::add), {a, c}, "y")};
  Graph g = without_common_subexpressions(b.program(), b.graph());
  ASSERT_EQ(g.operations.size(), 3u);
  EXPECT_EQ(g.values.size(), 4u);
  EXPECT_EQ(g.operations[2].operands[0], g.operations[2].operands[1]);
}

TEST(CommonSubexpressions, DifferentOperandsOrOperatorsStay) {
  GraphBuilder b;
  ValueId x = b.input("x"), y = b.input("y");
  b.graph().outputs = {b.call(unary(CellOp::exp), {x}, "a"), b.call(unary(CellOp::exp), {y}, "b"),
                       b.call(unary(CellOp::log), {x}, "c")};
  EXPECT_EQ(without_common_subexpressions(b.program(), b.graph()), b.graph());
}

TEST(CommonSubexpressions, ValuesOfManyWritersMergeOnlyWhereAllWritersMatch) {
  GraphBuilder b;
  ValueId x = b.input("x");
  std::vector<ValueId> v;
  for (auto last : {CellOp::cos, CellOp::cos, CellOp::tan}) {
    v.push_back(b.value("v"));
    b.write(unary(CellOp::sin), {x}, {v.back()});
    b.write(unary(last), {x}, {v.back()});
  }
  ValueId s = b.call(binary(CellOp::add), {v[0], v[1]}, "s");
  b.graph().outputs = {b.call(binary(CellOp::add), {s, v[2]}, "y")};
  Graph g = without_common_subexpressions(b.program(), b.graph());
  EXPECT_EQ(g.operations.size(), 6u);
  EXPECT_EQ(g.operations[4].operands[0], g.operations[4].operands[1]);
  EXPECT_NE(g.operations[5].operands[0], g.operations[5].operands[1]);
}

TEST(CommonSubexpressions, OutputsKeepTheirNames) {
  GraphBuilder b;
  ValueId x = b.input("x");
  ValueId inner = b.call(unary(CellOp::exp), {x}, "inner");
  ValueId p = b.call(unary(CellOp::log), {inner}, "P");
  ValueId q = b.call(unary(CellOp::exp), {x}, "Q");
  ValueId r = b.call(unary(CellOp::exp), {x}, "R");
  b.graph().outputs = {p, q, r};
  Graph g = without_common_subexpressions(b.program(), b.graph());
  std::vector<std::string> names;
  for (ValueId v : g.outputs) names.push_back(g[v].name);
  EXPECT_EQ(names, (std::vector<std::string>{"P", "Q", "R"}));
  EXPECT_EQ(g.operations.size(), 3u);  // inner and Q are one; Q and R stay two
}

TEST(CommonSubexpressions, AnnotatedValuesStay) {
  GraphBuilder b;
  ValueId x = b.input("x");
  ValueId p = b.call(unary(CellOp::exp), {x}, "p"), q = b.call(unary(CellOp::exp), {x}, "q");
  b.graph().outputs = {b.call(binary(CellOp::add), {p, q}, "y")};
  Graph plain = b.graph();
  auto unchanged = [&](const Graph& g) { return without_common_subexpressions(b.program(), g) == g; };
  EXPECT_FALSE(unchanged(plain));
  Graph g = plain;
  g.barriers = {{q, BarrierKind::both}};
  EXPECT_TRUE(unchanged(g));
  g = plain;
  g.groups = {{{p, x}}};
  EXPECT_TRUE(unchanged(g));
  g = plain;
  g.splits = {{OperationId(1), std::nullopt, 0, "i", {{0, 4}}}};
  EXPECT_TRUE(unchanged(g));
  g = plain;
  g.values[q.index()].sharding = Sharding{MeshId(0), {{}}};
  EXPECT_TRUE(unchanged(g));
  g = plain;
  g.operations[1].operand_shardings = {Sharding{MeshId(0), {{}}}};
  EXPECT_TRUE(unchanged(g));
}

// A random graph: each operation reads one or two earlier values; some values have two writers.
Graph random_graph(GraphBuilder& b) {
  std::vector<ValueId> ready{b.input("x"), b.input("y")};
  int count = *rc::gen::inRange(1, 12);
  for (int k = 0; k < count; ++k) {
    auto pick = [&] { return ready[*rc::gen::inRange<std::size_t>(0, ready.size())]; };
    ValueId result = b.value("v");
    int writers = *rc::gen::inRange(0, 4) == 3 ? 2 : 1;
    for (int w = 0; w < writers; ++w) {
      if (*rc::gen::arbitrary<bool>()) b.write(unary(*rc::gen::element(CellOp::exp, CellOp::sin)), {pick()}, {result});
      else b.write(binary(*rc::gen::element(CellOp::add, CellOp::mul)), {pick(), pick()}, {result});
    }
    ready.push_back(result);
  }
  b.graph().outputs = {ready.back(), ready[*rc::gen::inRange<std::size_t>(0, ready.size())]};
  return b.graph();
}

RC_GTEST_PROP(GraphAlgorithms, ValidOrderStaysAndShuffledOrderIsSorted, ()) {
  GraphBuilder b;
  Graph graph = random_graph(b);
  auto order = topological_order(graph);
  RC_ASSERT(order.has_value());
  RC_ASSERT(std::is_sorted(order->begin(), order->end()));
  Graph shuffled = graph;
  for (std::size_t i = shuffled.operations.size(); i > 1; --i)
    std::swap(shuffled.operations[i - 1], shuffled.operations[*rc::gen::inRange<std::size_t>(0, i)]);
  order = topological_order(shuffled);
  RC_ASSERT(order.has_value());
  RC_ASSERT(order->size() == graph.operations.size());
  Graph sorted = shuffled;
  sorted.operations.clear();
  for (OperationId id : *order) sorted.operations.push_back(shuffled[id]);
  b.graph() = sorted;
  RC_ASSERT(verify(b.program()).empty());
}

// The term that a value stands for, as text: names and numbers of values do not appear in it.
std::string term(const Program& program, const Graph& graph, ValueId v) {
  for (std::size_t k = 0; k < graph.inputs.size(); ++k)
    if (graph.inputs[k] == v) return "in" + std::to_string(k);
  std::string text = "{";
  DefUse uses = def_use(graph);
  for (OperationId w : uses.writers[v.index()]) {
    text += program[graph[w].op].name + "(";
    for (ValueId operand : graph[w].operands) text += term(program, graph, operand) + ",";
    text += ")";
  }
  return text + "}";
}

RC_GTEST_PROP(GraphAlgorithms, RemovingDeadAndCommonCodePreservesOutputs, ()) {
  GraphBuilder b;
  Graph graph = random_graph(b);
  Graph alive = without_dead_code(graph), merged = without_common_subexpressions(b.program(), alive);
  auto meaning = [&](const Graph& g) {
    std::string text;
    for (ValueId v : g.outputs) text += term(b.program(), g, v) + ";";
    return text;
  };
  RC_ASSERT(meaning(graph) == meaning(alive));
  RC_ASSERT(meaning(graph) == meaning(merged));
  RC_ASSERT(without_dead_code(alive) == alive);
  RC_ASSERT(without_common_subexpressions(b.program(), merged) == merged);
  // No two inner values of the merged graph stand for one term.
  std::set<std::string> terms;
  for (std::size_t v = 0; v < merged.values.size(); ++v)
    if (std::find(merged.outputs.begin(), merged.outputs.end(), ValueId(v)) == merged.outputs.end())
      RC_ASSERT(terms.insert(term(b.program(), merged, ValueId(v))).second);
  for (const Graph* g : {&alive, &merged}) {
    Program program = b.program();
    program.graphs[0] = *g;
    RC_ASSERT(verify(program).empty());
  }
}

// A long chain with a bypass: deep, and with a value that is read far away. Ten times the wanted time is allowed, for
// sanitizers and busy machines.
TEST(GraphAlgorithms, AHundredThousandOperations) {
  GraphBuilder b;
  ValueId x = b.input("x"), at = x;
  OperationId first = b.write(unary(CellOp::exp), {x}, {at = b.value("v")});
  OperatorId exp = b.graph()[first].op;
  ValueId early = at;
  for (int k = 1; k < 99'999; ++k) {
    ValueId next = b.value("v");
    b.graph().operations.push_back({exp, {at}, {next}, {}});
    at = next;
  }
  b.graph().outputs = {b.call(binary(CellOp::add), {at, early}, "y")};
  EXPECT_LT(seconds_of([&] { EXPECT_EQ(topological_order(b.graph())->size(), 100'000u); }), 5);
  EXPECT_LT(seconds_of([&] { EXPECT_EQ(without_dead_code(b.graph()), b.graph()); }), 5);
  EXPECT_LT(seconds_of([&] { EXPECT_EQ(without_common_subexpressions(b.program(), b.graph()), b.graph()); }), 5);
  double checking = seconds_of([&] { EXPECT_TRUE(verify(b.program()).empty()); });
  EXPECT_LT(checking, 3);
}

}  // namespace
}  // namespace tap::ir
