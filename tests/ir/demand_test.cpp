// Demand against enumeration: what the points of a box need, and what they need in their turn, point by point.
#include "ir/graphs/demand.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "tests/ir/build.h"
#include "tests/ir/random_program.h"

namespace tap::ir {
namespace {

using namespace tap::ir::test;
using samples::pick;

Box box_of(std::initializer_list<Range> ranges) { return Box{std::vector<Range>(ranges)}; }

// t[i] = sum[k] x[i, k];   y[i] = t[i-1 else 0] + t[i+1 else 0]
struct Halo {
  Program program;
  GraphId graph;
  std::vector<IndexDim> dims{{"i", {0, 8}}};
  std::vector<GroupAnchor> anchors{{0, 1, 0}};
  Halo() {
    BuildGraph g{program, {}};
    auto x = g.input("x", f64, {8, 3});
    Build t("t");
    auto i = t.parallel("i", 8), k = t.reduction("k", 3);
    auto in = t.operand(f64, {8, 3});
    t.result(f64, {8}, {t[i]});
    auto sum = g.add(t.reduce(add_monoid(program, "sum", f64), {t.read(in, {t[i], t[k]})}), {x})[0];
    Build y("y");
    i = y.parallel("i", 8);
    in = y.operand(f64, {8});
    y.result(f64, {8}, {y[i]});
    auto zero = y.literal(f64, 0);
    auto left = y.read(in, {y[i] - 1}, zero), right = y.read(in, {y[i] + 1}, zero);
    graph = g.finish(g.add(y.map({y.apply(CellOp::add, {left, right})}), {sum}));
  }
  GroupView view() const { return {program, program[graph], dims, anchors}; }
};

TEST(Demand, HaloIsClippedToTheTensor) {
  Halo halo;
  Demand middle = demand(halo.view(), box_of({{2, 4}}));
  EXPECT_EQ(middle.operations[1], box_of({{2, 4}}));
  EXPECT_EQ(middle.operations[0], box_of({{1, 5}, {0, 3}}));
  EXPECT_EQ(middle.values[0], box_of({{1, 5}, {0, 3}}));
  Demand first = demand(halo.view(), box_of({{0, 1}}));
  EXPECT_EQ(first.operations[0], box_of({{1, 2}, {0, 3}}));
  EXPECT_TRUE(demand(halo.view(), box_of({{3, 3}})).operations[0].empty());
}

TEST(Demand, DependsAffinelyOnThePoint) {
  Halo halo;
  MovingDemand windows = moving_demand(halo.view());
  EXPECT_EQ(windows.operations[0][0], (Window{{{1}, -1}, 3}));
  EXPECT_EQ(windows.operations[0][1], (Window{{{0}, 0}, 3}));
  std::vector<Access> reads = group_reads(halo.view(), windows), writes = group_writes(halo.view(), windows);
  ASSERT_EQ(reads.size(), 1u);
  EXPECT_EQ(to_string(reads[0].projection, {"i"}), "ZRange(start: [i - 1, 0], shape: [3, 3])");
  ASSERT_EQ(writes.size(), 1u);
  EXPECT_EQ(to_string(writes[0].projection, {"i"}), "ZRange(start: [i], shape: [1])");
  EXPECT_EQ(region_bytes({f64, {8}}, windows.values[1]), 24);
}

// h[2*i + r] = x[i] for r in 0..2;   y[p] = h[4*p] over p in 0..n
TEST(Demand, InterleavedWrites) {
  Program program;
  BuildGraph g{program, {}};
  auto x = g.input("x", f64, {8});
  Build h("h");
  auto i = h.parallel("i", 8), r = h.parallel("r", 2);
  auto in = h.operand(f64, {8});
  h.result(f64, {16}, {2 * h[i] + h[r]});
  auto all = g.add(h.map({h.read(in, {h[i]})}), {x});
  Build y("y");
  auto p = y.parallel("p", 4);
  in = y.operand(f64, {16});
  y.result(f64, {4}, {y[p]});
  GraphId graph = g.finish(g.add(y.map({y.read(in, {4 * y[p]})}), all));
  std::vector<IndexDim> dims{{"p", {0, 4}}};
  std::vector<GroupAnchor> anchors{{0, 1, 0}};
  GroupView view{program, program[graph], dims, anchors};
  EXPECT_EQ(demand(view, box_of({{1, 2}})).operations[0], box_of({{2, 3}, {0, 1}}));
  EXPECT_EQ(demand(view, box_of({{1, 3}})).operations[0], box_of({{2, 5}, {0, 2}}));
  MovingDemand windows = moving_demand(view);
  EXPECT_EQ(windows.operations[0][0], (Window{{{2}, 0}, 1}));
  EXPECT_EQ(windows.operations[0][1], (Window{{{0}, 0}, 2}));
}

// Two writers of one value: each is requested its own part, and the one that is far away for nothing.
TEST(Demand, Concatenation) {
  Program program;
  BuildGraph g{program, {}};
  auto a = g.input("a", f64, {4}), b = g.input("b", f64, {4});
  auto joined = g.value("joined", {f64, {8}});
  for (std::int64_t half : {0, 1}) {
    Build part("part");
    auto i = part.parallel("i", 4);
    auto in = part.operand(f64, {4});
    part.result(f64, {8}, {part[i] + 4 * half});
    g.write(part.map({part.read(in, {part[i]})}), {half ? b : a}, {joined});
  }
  Build y("y");
  auto p = y.parallel("p", 8);
  auto in = y.operand(f64, {8});
  y.result(f64, {8}, {y[p]});
  GraphId graph = g.finish(g.add(y.map({y.read(in, {y[p]})}), {joined}));
  std::vector<IndexDim> dims{{"p", {0, 8}}};
  std::vector<GroupAnchor> anchors{{0, 2, 0}};
  GroupView view{program, program[graph], dims, anchors};
  Demand low = demand(view, box_of({{1, 3}}));
  EXPECT_EQ(low.operations[0], box_of({{1, 3}}));
  EXPECT_TRUE(low.operations[1].empty());
  Demand both = demand(view, box_of({{3, 6}}));
  EXPECT_EQ(both.operations[0], box_of({{3, 4}}));
  EXPECT_EQ(both.operations[1], box_of({{0, 2}}));
}

// t[0] = sum[k] x[k];   y[i] = t[i - 1 else 7] + t[i + 1 else 7], of which no read lies inside. The sum has no dim that could
// say that nobody requests its only point.
TEST(Demand, UnreadPoint) {
  Program program;
  BuildGraph g{program, {}};
  auto x = g.input("x", f64, {3});
  Build t("t");
  auto k = t.reduction("k", 3);
  auto in = t.operand(f64, {3});
  t.result(f64, {1}, {0 * t[k]});
  auto sum = g.add(t.reduce(add_monoid(program, "sum", f64), {t.read(in, {t[k]})}), {x})[0];
  Build y("y");
  auto i = y.parallel("i", 1);
  in = y.operand(f64, {1});
  y.result(f64, {1}, {y[i]});
  auto seven = y.literal(f64, 7);
  auto left = y.read(in, {y[i] - 1}, seven), right = y.read(in, {y[i] + 1}, seven);
  GraphId graph = g.finish(g.add(y.map({y.apply(CellOp::add, {left, right})}), {sum}));
  std::vector<IndexDim> dims{{"i", {0, 1}}};
  std::vector<GroupAnchor> anchors{{0, 1, 0}};
  GroupView view{program, program[graph], dims, anchors};
  EXPECT_EQ(demand(view, box_of({{0, 1}})).demanded, (std::vector<bool>{false, true}));
  // Windows that move are not clipped: for some point the sum may be asked for.
  EXPECT_EQ(moving_demand(view).demanded, (std::vector<bool>{true, true}));
}

// Random groups: a chain of operations, each reading one or two of the values before it.
using Points = std::set<Point>;

struct RandomGroup {
  Program program;
  GraphId graph;
  std::vector<IndexDim> dims;
  std::vector<GroupAnchor> anchors;
  GroupView view() const { return {program, program[graph], dims, anchors}; }
};

// With `unit`, every coefficient is 1 or -1 and what is read of a value is without gaps.
Operator random_operation(Program& program, const std::vector<Shape>& operands, bool last, bool unit, Shape& written) {
  Build b("op");
  bool reduces = !unit && pick(0, 4) == 0;
  std::vector<std::uint32_t> parallel{b.parallel("i", pick(3, 8)), b.parallel("j", pick(2, 5))};
  std::uint32_t k = reduces ? b.reduction("k", pick(1, 4)) : 0;
  CellId value = b.literal(f64, 1);
  for (const Shape& shape : operands) {
    auto in = b.operand(f64, shape);
    std::int64_t taps = pick(1, 3), step = unit ? 1 : pick(1, 4);
    std::vector<Linear> rows;
    bool swapped = pick(0, 2) == 1;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      Linear row = b[parallel[axis == (swapped ? 1u : 0u)]];
      if (!unit) row = pick(1, 3) * row;
      if (pick(0, 4) == 0) row = -1 * row + (shape[axis] - 1);
      if (reduces && axis == 0) row = row + b[k];
      rows.push_back(row + pick(-2, 3));
    }
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      auto zero = b.literal(f64, 0);
      value = b.apply(CellOp::add, {value, b.read(in, rows, zero)});
      rows[static_cast<std::size_t>(pick(0, 2))].offset += step;
      if (unit) break;
    }
  }
  std::vector<Linear> rows;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    std::int64_t n = b.op.dims[parallel[axis]].range.hi, stride = unit || last ? 1 : pick(1, 3),
                 shift = last ? 0 : pick(0, 2);
    bool reversed = !last && pick(0, 3) == 0;
    rows.push_back(reversed ? at_constant(stride * (n - 1) + shift) - stride * b[parallel[axis]]
                            : stride * b[parallel[axis]] + shift);
    written.push_back(stride * (n - 1) + 1 + shift);
  }
  b.result(f64, written, rows);
  return reduces ? b.reduce(add_monoid(program, "sum", f64), {value}) : b.map({value});
}

RandomGroup random_group(bool unit) {
  RandomGroup group;
  BuildGraph g{group.program, {}};
  std::vector<ValueId> values{g.input("x", f64, {9, 7})};
  std::vector<Shape> shapes{{9, 7}};
  std::int64_t operations = pick(1, 6);
  for (std::int64_t o = 0; o < operations; ++o) {
    std::vector<std::size_t> from{values.size() - 1};
    if (!unit && pick(0, 2))
      from.push_back(static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(values.size()))));
    std::vector<Shape> read;
    std::vector<ValueId> operands;
    for (std::size_t f : from) {
      read.push_back(shapes[f]);
      operands.push_back(values[f]);
    }
    shapes.emplace_back();
    Operator op = random_operation(group.program, read, o + 1 == operations, unit, shapes.back());
    values.push_back(g.add(std::move(op), operands)[0]);
  }
  group.graph = g.finish({values.back()});
  const Graph& graph = group.program[group.graph];
  const Operator& root = group.program[graph.operations.back().op];
  auto number = static_cast<std::uint32_t>(graph.operations.size() - 1);
  for (std::uint32_t d = 0; d < 2; ++d)
    if (d == 0 || pick(0, 2)) {
      group.anchors.push_back({static_cast<std::uint32_t>(group.dims.size()), number, d});
      group.dims.push_back(root.dims[d]);
    }
  return group;
}

Box random_box(const std::vector<IndexDim>& dims) {
  Box box;
  for (const IndexDim& dim : dims) {
    std::int64_t lo = pick(dim.range.lo, dim.range.hi);
    box.dims.push_back({lo, pick(lo + 1, dim.range.hi + 1)});
  }
  return box;
}

struct Needed {
  std::vector<Points> operations, values;
};

// Point by point, backwards.
Needed enumerate(const RandomGroup& group, const Box& box) {
  const Graph& graph = group.program[group.graph];
  Needed needed{std::vector<Points>(graph.operations.size()), std::vector<Points>(graph.values.size())};
  for (std::size_t o = graph.operations.size(); o-- > 0;) {
    const Operation& operation = graph.operations[o];
    const Operator& op = group.program[operation.op];
    Box whole = op.box();
    auto p = first_point(whole);
    for (bool more = p.has_value(); more; more = next_point(whole, *p)) {
      bool requested = o + 1 == graph.operations.size();
      for (const GroupAnchor& a : group.anchors)
        if (a.operation == o) requested &= box.dims[a.dim].contains((*p)[a.inner_dim]);
      for (const Access& write : op.writes)
        requested |= needed.values[operation.results[write.tensor].index()].count(write.projection.start(*p)) > 0;
      if (!requested) continue;
      needed.operations[o].insert(*p);
      for (const Access& read : op.reads) {
        Point cell = read.projection.start(*p);
        ValueId v = operation.operands[read.tensor];
        if (Box::of_shape(graph[v].type.shape).contains(cell)) needed.values[v.index()].insert(cell);
      }
    }
  }
  return needed;
}

Box hull_of(const Points& points) {
  Box box;
  for (const Point& p : points) {
    Box one;
    for (std::int64_t x : p) one.dims.push_back({x, x + 1});
    box = box.rank() ? hull(box, one) : one;
  }
  return box;
}

RC_GTEST_PROP(DemandProperty, CoversTheEnumeratedDemand, ()) {
  RandomGroup group = random_group(false);
  Box box = random_box(group.dims);
  Demand computed = demand(group.view(), box);
  MovingDemand windows = moving_demand(group.view());
  Needed needed = enumerate(group, box);
  const Graph& graph = group.program[group.graph];
  for (std::size_t o = 0; o < needed.operations.size(); ++o) {
    for (const Point& p : needed.operations[o]) RC_ASSERT(computed.operations[o].contains(p));
    const Operator& op = group.program[graph.operations[o].op];
    for (std::size_t d = 0; d < op.dims.size() && !computed.operations[o].empty(); ++d)
      RC_ASSERT(
          intersect(windows.operations[o][d].bounds(box), op.dims[d].range).contains(computed.operations[o].dims[d]));
  }
  for (std::size_t v = 0; v < needed.values.size(); ++v) {
    for (const Point& p : needed.values[v]) RC_ASSERT(computed.values[v].contains(p));
    for (std::size_t axis = 0; axis < 2 && !computed.values[v].empty(); ++axis)
      RC_ASSERT(windows.values[v][axis].bounds(box).contains(computed.values[v].dims[axis]));
  }
}

RC_GTEST_PROP(DemandProperty, IsTightForUnitCoefficients, ()) {
  RandomGroup group = random_group(true);
  Box box = random_box(group.dims);
  Demand computed = demand(group.view(), box);
  Needed needed = enumerate(group, box);
  for (std::size_t o = 0; o < needed.operations.size(); ++o) {
    if (needed.operations[o].empty()) RC_ASSERT(computed.operations[o].empty());
    else RC_ASSERT(computed.operations[o] == hull_of(needed.operations[o]));
  }
}

}  // namespace
}  // namespace tap::ir
