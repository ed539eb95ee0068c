// The verifier: good programs pass; each way to break one is reported, in words that name it.
#include "ir/verify/verify.h"

#include <functional>
#include <utility>

#include <gtest/gtest.h>

#include "tests/ir/sample_programs.h"

namespace tap::ir {
namespace {

struct Breakage {
  const char* expected;  // a part of the one message that must be there
  std::function<void(Program&)> breaks;
};

Operator& matmul(Program& p) { return p.operators[0]; }
Operator& relu(Program& p) { return p.operators[1]; }
Graph& graph(Program& p) { return p.graphs[0]; }
Sharding sharded(std::vector<DimSharding> dims) { return {MeshId(0), std::move(dims), {}, {}, ""}; }

// The relu's operator becomes an iterate of `trips` whose body, graph 1, is `inner`.
void iterate(Program& p, Range trips, std::uint32_t level, Range counter) {
  Operator step = relu(p);
  step.dims.push_back({"t", counter, DimRole::counter, false, level});
  for (auto* list : {&step.reads, &step.writes})
    for (Access& access : *list) {
      access.projection.start.inputs = 3;
      for (AffineExpr& row : access.projection.start.rows) row.coefficients.push_back(0);
    }
  TensorType type = relu(p).operands[0];
  p.operators.push_back(step);
  p.graphs.push_back({"body",
                      {{"v", type}, {"w", type}},
                      {{OperatorId(2), {ValueId(0)}, {ValueId(1)}, {}}},
                      {ValueId(0)},
                      {ValueId(1)}});
  Operator loop;
  loop.name = "loop";
  loop.operands = loop.results = {type};
  loop.body = RegionBody{RegionKind::iterate, GraphId(1), trips};
  relu(p) = loop;
}

// What the relu reads is moved for it: cells of its own dims, to where they are.
Operator& moved(Program& p) {
  Operator copy = relu(p);
  copy.name = "transfer";
  copy.exprs = CellExprs();
  copy.writes = copy.reads;
  copy.results = copy.operands;
  copy.body = TransferBody{};
  p.operators.push_back(std::move(copy));
  Graph& g = graph(p);
  Operation& reader = g.operations[1];
  Value value = g[reader.operands[0]];
  value.name += ".moved";
  g.values.push_back(value);
  const ValueId now(g.values.size() - 1), was = std::exchange(reader.operands[0], now);
  g.operations.insert(g.operations.begin() + 1, {OperatorId(p.operators.size() - 1), {was}, {now}, {}});
  return p.operators.back();
}

// The relu alone as a group over its dims.
void group(Program& p) {
  Operator all = relu(p);
  TensorType type = all.operands[0];
  all.exprs = CellExprs();
  all.body = RegionBody{RegionKind::group, GraphId(p.graphs.size()), {}, {{0, 0, 0}, {1, 0, 1}}};
  p.graphs.push_back({"group",
                      {{"v", type}, {"w", type}},
                      {{OperatorId(1), {ValueId(0)}, {ValueId(1)}, {}}},
                      {ValueId(0)},
                      {ValueId(1)}});
  graph(p).operations[1].op = OperatorId(p.operators.size());
  p.operators.push_back(all);
}

const Breakage breakages[] = {
    // The graph.
    {"value 2 (H) has no writer", [](Program& p) { graph(p).operations.erase(graph(p).operations.begin()); }},
    {"value 0 (X) is an input and is written", [](Program& p) { graph(p).operations[0].results = {ValueId(0)}; }},
    {"value 2 (H) is read before it is written",
     [](Program& p) { std::swap(graph(p).operations[0], graph(p).operations[1]); }},
    {"name a value that does not exist", [](Program& p) { graph(p).operations[0].operands[1] = ValueId(9); }},
    {"name a value that does not exist", [](Program& p) { graph(p).outputs = {ValueId()}; }},
    {"operator is not in the table", [](Program& p) { graph(p).operations[0].op = OperatorId(7); }},
    {"operand 0 is f32[4, 9], but f32[4, 8] in its operator",
     [](Program& p) {
       graph(p).values[0].type.shape = {4, 9};
     }},
    {"1 operands, but its operator has 2", [](Program& p) { graph(p).operations[0].operands.pop_back(); }},
    {"value 1 (W) is an input twice", [](Program& p) { graph(p).inputs.push_back(ValueId(1)); }},
    {"value 3 (Y) is const, but not an input", [](Program& p) { graph(p).values[3].is_const = true; }},
    {"negative size", [](Program& p) { graph(p).values[0].type.shape[0] = -4; }},
    {"the main graph is not in the table", [](Program& p) { p.main = GraphId(4); }},
    // Index spaces and accesses.
    {"range 4..0 of i is reversed",
     [](Program& p) {
       matmul(p).dims[0].range = {4, 0};
     }},
    {"a constraint has 1 coefficients for 3 dims",
     [](Program& p) {
       matmul(p).constraints = {{AffineExpr{{1}, 0}}};
     }},
    {"read 0: tensor 2 of 2", [](Program& p) { matmul(p).reads[0].tensor = 2; }},
    {"1 rows and a region of rank 2", [](Program& p) { matmul(p).reads[0].projection.start.rows.pop_back(); }},
    {"the projection has 2 inputs for 3 dims", [](Program& p) { matmul(p).reads[0].projection.start.inputs = 2; }},
    {"extent 2 on axis 1, expected 1", [](Program& p) { matmul(p).reads[0].projection.shape[1] = 2; }},
    {"the fill is bool, but the tensor is f32",
     [](Program& p) { relu(p).reads[0].fill = relu(p).exprs.constant(Scalar::boolean(true)); }},
    {"the coordinate of axis 0 is f32",
     [](Program& p) {
       relu(p).reads[0].coordinates = {relu(p).exprs.read(0, ElementType::f32), std::nullopt};
     }},
    {"must be the whole axis",
     [](Program& p) {
       relu(p).reads[0].coordinates = {relu(p).exprs.index(0), std::nullopt};
     }},
    {"read 0 depends on itself", [](Program& p) { relu(p).reads[0].fill = relu(p).exprs.read(0, ElementType::f32); }},
    {"the reduction dim k appears in a written coordinate",
     [](Program& p) { matmul(p).writes[0].projection.start.rows[0].coefficients[2] = 1; }},
    {"the invariant dim i is used by the projection", [](Program& p) { relu(p).writes[0].invariant_dims = {0}; }},
    {"the invariant dim k is not parallel", [](Program& p) { matmul(p).writes[0].invariant_dims = {2}; }},
    {"a write has a fill", [](Program& p) { relu(p).writes[0].fill = CellId(0); }},
    {"result 0 is never written", [](Program& p) { relu(p).writes.clear(), relu(p).body = MapBody{}; }},
    // Bodies and cells.
    {"a map has a reduction dim",
     [](Program& p) {
       relu(p).dims[1].role = DimRole::reduction,
       relu(p).writes[0].projection.start.rows[1] = AffineExpr::constant(2, 0);
     }},
    {"0 values for 1 writes", [](Program& p) { relu(p).body = MapBody{}; }},
    {"value 0 is i64, but its result is f32", [](Program& p) { relu(p).body = MapBody{{relu(p).exprs.index(0)}}; }},
    {"the monoid is not in the table", [](Program& p) { std::get<ReduceBody>(matmul(p).body).monoid = MonoidId(5); }},
    {"2 operands for 1 components",
     [](Program& p) { std::get<ReduceBody>(matmul(p).body).operands.push_back(CellId(0)); }},
    {"operand 0 is i64, but its component is f32",
     [](Program& p) { std::get<ReduceBody>(matmul(p).body).operands = {matmul(p).exprs.index(0)}; }},
    {"index 9 is out of range for 2 dims", [](Program& p) { relu(p).exprs.index(9); }},
    {"read 3 is out of range for 1 reads", [](Program& p) { relu(p).exprs.read(3, ElementType::f32); }},
    {"read 0 is i8 and its operand is f32", [](Program& p) { relu(p).exprs.read(0, ElementType::i8); }},
    {"an argument occurs outside a monoid", [](Program& p) { relu(p).exprs.argument(0, ElementType::f32); }},
    {"a reduction occurs outside a fold",
     [](Program& p) {
       relu(p).exprs.add({CellOp::reduce, ElementType::f32, 0, {}, {CellId(0)}});
     }},
    {"`+` has 1 arguments, expected 2",
     [](Program& p) { relu(p).exprs.apply(CellOp::add, ElementType::f32, {CellId(0)}); }},
    {"argument 1 of `+` is i64, expected f32",
     [](Program& p) {
       relu(p).exprs.apply(CellOp::add, ElementType::f32, {CellId(0), relu(p).exprs.index(0)});
     }},
    {"`exp` of i64, expected a float",
     [](Program& p) { relu(p).exprs.apply(CellOp::exp, ElementType::i64, {relu(p).exprs.index(0)}); }},
    {"`shl` of f32, expected an integer",
     [](Program& p) {
       relu(p).exprs.apply(CellOp::shl, ElementType::f32, {CellId(0), CellId(0)});
     }},
    {"`<` of f32 gives bool, expected f32",
     [](Program& p) {
       relu(p).exprs.apply(CellOp::less, ElementType::f32, {CellId(0), CellId(0)});
     }},
    {"argument 0 of `if` is f32, expected bool",
     [](Program& p) {
       relu(p).exprs.apply(CellOp::select, ElementType::f32, {CellId(0), CellId(0), CellId(0)});
     }},
    {"the kernel has no symbol", [](Program& p) { relu(p).body = KernelBody{}; }},
    {"operand 0 is not a cell", [](Program& p) { std::get<ReduceBody>(matmul(p).body).operands[0] = CellId(99); }},
    {"needs both a reduction dim and a monoid, or neither", [](Program& p) { matmul(p).body = KernelBody{"f"}; }},
    {"the monoid is not in the table",
     [](Program& p) { matmul(p).body = KernelBody{.symbol = "f", .reduced_by = MonoidId(7)}; }},
    // Monoids.
    {"combination has 0 values for 1 components", [](Program& p) { p.monoids[0].combine.clear(); }},
    {"identity 0 is not a constant", [](Program& p) { p.monoids[0].identity = {CellId(0)}; }},
    {"argument 2 of 2", [](Program& p) { p.monoids[0].exprs.argument(2, ElementType::f32); }},
    {"an index variable occurs outside an operator", [](Program& p) { p.monoids[0].exprs.index(0); }},
    {"result 0 depends on the fold's index",
     [](Program& p) {
       Fold& fold = p.monoids[0].fold.emplace();
       fold.roots = {fold.exprs.argument(0, ElementType::f32)};
     }},
    {"the fold reduces by monoid 0, which is not declared before it",
     [](Program& p) {
       Fold& fold = p.monoids[0].fold.emplace();
       CellId x = fold.exprs.argument(0, ElementType::f32);
       fold.roots = {fold.exprs.add({CellOp::reduce, ElementType::f32, 0, {}, {x}})};
     }},
    // Regions.
    {"the region's graph is not in the table",
     [](Program& p) {
       relu(p).reads.clear(), relu(p).writes.clear(), relu(p).exprs = CellExprs(), relu(p).dims.clear(),
                                                      relu(p).body = RegionBody{RegionKind::call, GraphId(5), {}};
     }},
    {"must not have an index space",
     [](Program& p) {
       relu(p).body = RegionBody{RegionKind::call, GraphId(0), {}};
     }},
    {"a graph contains itself",
     [](Program& p) {
       iterate(p, {0, 5}, 0, {0, 5}), graph(p).operations.erase(graph(p).operations.begin()), graph(p).values.resize(2),
           graph(p).values[0].type = graph(p).values[1].type = relu(p).operands[0], graph(p).values[1].is_const = false,
           graph(p).inputs = {ValueId(0)}, graph(p).outputs = {ValueId(1)},
           graph(p).operations[0].operands = {ValueId(0)}, graph(p).operations[0].results = {ValueId(1)},
           std::get<RegionBody>(relu(p).body).graph = GraphId(0);
     }},
    {"level 1 inside 1 iterates",
     [](Program& p) {
       iterate(p, {0, 5}, 1, {0, 5});
     }},
    // The body is the main graph, too.
    {"level 0 inside 0 iterates",
     [](Program& p) {
       iterate(p, {0, 5}, 0, {0, 5});
       p.main = GraphId(1);
     }},
    {"the counter t runs over 0..4, but its iterate over 0..5",
     [](Program& p) {
       iterate(p, {0, 5}, 0, {0, 4});
     }},
    {"operands 0 is f32[4, 3], but f32[4, 2] in the region",
     [](Program& p) {
       iterate(p, {0, 5}, 0, {0, 5}), relu(p).operands[0].shape[1] = 3;
     }},
    {"a group contains operation 0 (relu), which has its own splits",
     [](Program& p) {
       group(p), relu(p).blockings.push_back({0, 1, Blocks{2}});
     }},
    {"a group contains operation 0 (relu), which has its own splits",
     [](Program& p) {
       group(p), p.graphs[1].operations[0].placements = {{0, Placement::threads}};
     }},
    {"a group contains operation 0 (loop), which is not a map, reduction or group",
     [](Program& p) {
       iterate(p, {0, 5}, 0, {0, 5}), group(p);
     }},
    {"none of a group's operations writes its output v",
     [](Program& p) { group(p), p.graphs[1].outputs = {ValueId(0)}; }},
    {"a group has the output w twice",
     [](Program& p) {
       group(p), p.graphs[1].outputs = {ValueId(1), ValueId(1)};
       p.operators.back().results.push_back(p.operators.back().results[0]);
     }},
    // Meshes, shardings and splits.
    {"the axis data occurs twice",
     [](Program& p) {
       p.meshes = {{"pod", {{"data", 2}, {"data", 2}}, {}}};
     }},
    {"not a permutation",
     [](Program& p) {
       p.meshes = {{"pod", {{"data", 4}}, {0, 1, 1, 2}}};
     }},
    {"the mesh 0 is not declared",
     [](Program& p) {
       graph(p).values[0].sharding = sharded({{}, {}});
     }},
    {"a sharding of 1 dims for rank 2",
     [](Program& p) {
       p.meshes = {{"pod", {{"data", 4}}, {}}}, graph(p).values[0].sharding = sharded({{}});
     }},
    {"the mesh pod has no axis 1",
     [](Program& p) {
       p.meshes = {{"pod", {{"data", 4}}, {}}},
       graph(p).operations[0].operand_shardings = {sharded({{{{AxisId(1), {}}}, false, {}}, {}}), {}};
     }},
    {"dim 0 is placed on axis 1 of mesh 0, which is not declared",
     [](Program& p) {
       p.meshes = {{"pod", {{"data", 4}}, {}}},
       graph(p).operations[0].placements = {{0, Placement::mesh_axis, MeshId(0), AxisRef{AxisId(1), {}}}};
     }},
    {"the axis 0 is not declared",
     [](Program& p) {
       graph(p).splits = {
           {OperationId(0), {}, 0, "k", {{0, 8}}, Placement::mesh_axis, MeshId(0), AxisRef{AxisId(0), {}}}};
     }},
    {"the blocks do not tile the range 0..8",
     [](Program& p) {
       graph(p).splits = {{OperationId(0), {}, 0, "k", {{0, 3}, {4, 8}}}};
     }},
    {"the blocks do not tile the range 0..4",
     [](Program& p) {
       graph(p).splits = {{OperationId(0), ValueId(2), 0, "", {{0, 2}, {0, 2}}}};
     }},
    {"i is reduce, but a transfer combines nothing", [](Program& p) { moved(p).dims[0].role = DimRole::reduction; }},
    {"i is keep, but a transfer combines nothing", [](Program& p) { moved(p).dims[0].keep = true; }},
    {"unknown dim q",
     [](Program& p) {
       graph(p).splits = {{OperationId(0), {}, 0, "q", {{0, 8}}}};
     }},
    {"must not be split",
     [](Program& p) {
       matmul(p).dims[2].keep = true, graph(p).splits = {{OperationId(0), {}, 0, "k", {{0, 8}}}};
     }},
};

TEST(Verify, ValidProgramPasses) {
  EXPECT_EQ(verify(samples::matmul_relu()), std::vector<std::string>());
  EXPECT_EQ(verify(Program()), std::vector<std::string>());
  Program grouped = samples::matmul_relu();
  group(grouped);
  EXPECT_EQ(verify(grouped), std::vector<std::string>());
  Program with_transfer = samples::matmul_relu();
  moved(with_transfer);
  EXPECT_EQ(verify(with_transfer), std::vector<std::string>());
  Program p = samples::matmul_relu();
  iterate(p, {0, 5}, 0, {0, 5});
  p.meshes = {{"pod", {{"data", 4}}, {3, 1, 2, 0}}};
  graph(p).values[0].sharding = sharded({{{{AxisId(0), {}}}, false, {}}, {}});
  // Ceil blocks of 9 over 4 leave an empty one: legal.
  graph(p).splits = {{OperationId(0), {}, 0, "k", {{0, 3}, {3, 6}, {6, 8}, {8, 8}}}};
  EXPECT_EQ(verify(p), std::vector<std::string>());
}

TEST(Verify, EachDefectIsNamed) {
  for (const Breakage& breakage : breakages) {
    Program p = samples::matmul_relu();
    breakage.breaks(p);
    std::vector<std::string> found = verify(p);
    bool named = false;
    std::string all;
    for (const std::string& message : found) {
      named |= message.find(breakage.expected) != std::string::npos;
      all += message + "\n";
    }
    EXPECT_TRUE(named) << "wanted: " << breakage.expected << "\nfound:\n" << all;
  }
}

// 16-bit floats are computed in f32 and rounded when they are written.
TEST(Verify, NarrowResultsUseTheirComputeType) {
  Program p = samples::matmul_relu();
  matmul(p).results[0].element = ElementType::bf16;
  relu(p).operands[0].element = relu(p).results[0].element = ElementType::bf16;
  graph(p).values[2].type.element = graph(p).values[3].type.element = ElementType::bf16;
  Operator wide = relu(p);
  wide.exprs = CellExprs();
  CellId x = wide.exprs.cast(wide.exprs.read(0, ElementType::bf16), ElementType::f32);
  wide.body = MapBody{{wide.exprs.apply(CellOp::exp, ElementType::f32, {x})}};
  relu(p) = wide;
  EXPECT_EQ(verify(p), std::vector<std::string>());
}

}  // namespace
}  // namespace tap::ir
