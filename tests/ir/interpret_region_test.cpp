// Regions: calls, groups, and repetition with its counters.
#include <gtest/gtest.h>

#include "build.h"

#include "ir/graph.h"

namespace tap::ir::test {
namespace {

using Values = std::vector<double>;

Operator region(std::string name, RegionKind kind, GraphId graph, std::vector<TensorType> operands,
                std::vector<TensorType> results, Range trips = {}) {
  Operator op;
  op.name = std::move(name);
  op.operands = std::move(operands);
  op.results = std::move(results);
  op.body = RegionBody{kind, graph, trips};
  return op;
}

const TensorType scalar{i64, {}};

// s = a * s + b, with cells a(counters) and b(counters) given by the builder's caller.
Operator step(const std::function<CellId(Build&)>& cell) {
  Build b("s");
  auto counter = b.counter("t", {0, 100}), outer = b.counter("u", {0, 100}, 1);
  EXPECT_EQ(counter, 0u);
  EXPECT_EQ(outer, 1u);
  b.operand(i64, {});
  b.operand(i64, {});
  b.result(i64, {}, {});
  return b.map({cell(b)});
}

TEST(InterpretRegion, NestedCountersByLevel) {
  Program program;
  BuildGraph inner{program, {}};
  ValueId s = inner.input("s", i64, {}), c = inner.input("c", i64, {});
  // s' = 10 * s + c * (10 * u + t)
  Operator body = step([](Build& b) {
    CellId ten = b.literal(i64, 10);
    CellId number = b.apply(CellOp::add, {b.apply(CellOp::mul, {ten, b.index(1)}), b.index(0)});
    return b.apply(CellOp::add, {b.apply(CellOp::mul, {b.literal(i64, 100), b.read(0, {})}),
                                 b.apply(CellOp::mul, {b.read(1, {}), number})});
  });
  GraphId inner_graph = inner.finish(inner.add(body, {s, c}));
  BuildGraph outer{program, {}};
  s = outer.input("s", i64, {}), c = outer.input("c", i64, {});
  Operator inner_loop = region("inner", RegionKind::iterate, inner_graph, {scalar, scalar}, {scalar}, {3, 5});
  GraphId outer_graph = outer.finish(outer.add(inner_loop, {s, c}));
  BuildGraph g{program, {}};
  s = g.input("s", i64, {}), c = g.input("c", i64, {});
  Operator outer_loop = region("outer", RegionKind::iterate, outer_graph, {scalar, scalar}, {scalar}, {1, 3});
  GraphId main = g.finish(g.add(outer_loop, {s, c}));
  auto r = interpret(program, main, {tensor(i64, {}, {0}), tensor(i64, {}, {1})});
  EXPECT_EQ(r.outputs[0].load_i64(0), 13142324);  // u, t = 1,3  1,4  2,3  2,4
}

TEST(InterpretRegion, NoTripsGiveTheInitialState) {
  Program program;
  BuildGraph body{program, {}};
  ValueId s = body.input("s", i64, {}), c = body.input("c", i64, {});
  GraphId graph = body.finish(body.add(step([](Build& b) { return b.read(1, {}); }), {s, c}));
  BuildGraph g{program, {}};
  s = g.input("s", i64, {}), c = g.input("c", i64, {});
  GraphId main =
      g.finish(g.add(region("loop", RegionKind::iterate, graph, {scalar, scalar}, {scalar}, {4, 4}), {s, c}));
  InterpretOptions options;
  options.with_bounds = true;
  auto r = interpret(program, main, {tensor(i64, {}, {7}), tensor(i64, {}, {1})}, options);
  EXPECT_EQ(r.outputs[0].load_i64(0), 7);
  EXPECT_EQ(values_of(r.bounds.at(0)), Values{0});
}

TEST(InterpretRegion, StatesAreUpdatedTogether) {
  // (a, b) = iterate 10 (a = 0, b = 1) { (b, a + b) }: Fibonacci
  Program program;
  BuildGraph body{program, {}};
  ValueId a = body.input("a", i64, {}), b = body.input("b", i64, {});
  Build add("next");
  add.operand(i64, {});
  add.operand(i64, {});
  add.result(i64, {}, {});
  ValueId next = body.add(add.map({add.apply(CellOp::add, {add.read(0, {}), add.read(1, {})})}), {a, b})[0];
  GraphId graph = body.finish({b, next});
  BuildGraph g{program, {}};
  a = g.input("a", i64, {}), b = g.input("b", i64, {});
  Operator loop = region("fibonacci", RegionKind::iterate, graph, {scalar, scalar}, {scalar, scalar}, {0, 10});
  GraphId main = g.finish(g.add(loop, {a, b}));
  auto r = interpret(program, main, {tensor(i64, {}, {0}), tensor(i64, {}, {1})});
  EXPECT_EQ(r.outputs[0].load_i64(0), 55);
  EXPECT_EQ(r.outputs[1].load_i64(0), 89);
}

TEST(InterpretRegion, CallsAndGroupsAreTheirGraphs) {
  for (RegionKind kind : {RegionKind::call, RegionKind::group}) {
    Program program;
    BuildGraph body{program, {}};
    ValueId x = body.input("x", f32, {2});
    Build square("square");
    auto i = square.parallel("i", 2);
    square.operand(f32, {2});
    square.result(f32, {2}, {square[i]});
    CellId cell = square.read(0, {square[i]});
    ValueId y = body.add(square.map({square.apply(CellOp::mul, {cell, cell})}), {x})[0];
    GraphId graph = body.finish({y, x});
    BuildGraph g{program, {}};
    x = g.input("x", f32, {2});
    auto results = g.add(region("f", kind, graph, {{f32, {2}}}, {{f32, {2}}, {f32, {2}}}), {x});
    GraphId main = g.finish({results[1], results[0]});
    auto r = interpret(program, main, {tensor(f32, {2}, {3, 4})});
    EXPECT_EQ(values_of(r.outputs[0]), (Values{3, 4}));
    EXPECT_EQ(values_of(r.outputs[1]), (Values{9, 16}));
  }
}

// Failures inside a region name the inner operator and its counters.
TEST(InterpretRegion, FailuresNameTheTrip) {
  Program program;
  BuildGraph body{program, {}};
  ValueId s = body.input("s", i64, {}), c = body.input("c", i64, {});
  Operator divide = step([](Build& b) {
    return b.apply(CellOp::div, {b.read(0, {}), b.apply(CellOp::sub, {b.read(1, {}), b.index(0)})});
  });
  divide.dims.pop_back();  // one level only
  for (Access& access : divide.reads) access.projection.start.inputs = 1;
  for (Access& access : divide.writes) access.projection.start.inputs = 1;
  GraphId graph = body.finish(body.add(divide, {s, c}));
  BuildGraph g{program, {}};
  s = g.input("s", i64, {}), c = g.input("c", i64, {});
  GraphId main =
      g.finish(g.add(region("loop", RegionKind::iterate, graph, {scalar, scalar}, {scalar}, {0, 5}), {s, c}));
  try {
    interpret(program, main, {tensor(i64, {}, {100}), tensor(i64, {}, {3})});
    FAIL() << "nothing failed";
  } catch (const EvaluationError& error) { EXPECT_EQ(error.message, "division by zero in `s` at t=3"); }
}

}  // namespace
}  // namespace tap::ir::test
