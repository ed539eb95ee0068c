// What runs on a mesh has there what it reads: on programs that are right, and where a transfer was forgotten. Only the last
// program of a chain is asked, so a chain of no steps leaves the word to that obligation alone.
#include <gtest/gtest.h>

#include "ir/graph.h"
#include "tests/check/mutations.h"

namespace tap::check {
namespace {

using namespace cases;

constexpr const char* accepted = "";
constexpr const char* refused_held = "held";

std::string refused(const Program& program) {
  return first_refusal(check({}, {{&program, hash_of(program)}}, nullptr, true));
}

PlannedSplit on(std::string operation, Blocks blocks, std::string axis) {
  return {std::move(operation), "i", std::move(blocks), Placement::mesh_axis, "m", AxisName{std::move(axis), {}}};
}

// y = 3 * x and z = 5 * y in the same blocks, and w[i] = z[i - 1] + z[i + 1]: z is connected directly, w by a transfer.
enum : std::size_t { y, z, transfer, w };
Program placed(const Blocks& blocks, std::int64_t devices = 4) {
  Program p;
  BuildGraph g{p, {}};
  ValueId v = g.input("x", i64, {n});
  std::size_t number = 0;
  for (const Operator& op : {scaled(3), scaled(5), neighbours()}) {
    v = g.add(op, {v})[0];
    g.graph.values[v.index()].name = std::string(1, "yzw"[number++]);
  }
  finish(p, g, {v});
  p.meshes = {{"m", {{"d", devices}, {"e", devices}}, {}}};
  return split_by("", p, {on("y", blocks, "d"), on("z", blocks, "d"), on("w", Blocks{devices}, "e")}).after;
}
Program sharded(const Blocks& blocks, std::int64_t devices = 4) {
  return passes::realise(placed(blocks, devices)).program;
}
const AxisId e_axis(1);
const Blocks uneven{4, {0, 1, 3, 6, 8}};

Operation& operation(Program& p, std::size_t number) { return p.graphs[p.main.index()].operations[number]; }
// Its operator, made its own.
Operator& op(Program& p, std::size_t number) {
  p.operators.push_back(p[operation(p, number).op]);
  operation(p, number).op = OperatorId(p.operators.size() - 1);
  return p.operators.back();
}
template <class Change>
std::string changed(Change change) {
  Program p = sharded(uneven);
  change(p);
  return refused(p);
}

TEST(Held, SamePlacementNeedsNoTransfer) {
  Program p = sharded(uneven);
  ASSERT_EQ(p[p.main].operations.size(), 4u);
  EXPECT_TRUE(p[operation(p, transfer).op].transfer());
  EXPECT_EQ(refused(p), accepted);
}

TEST(Held, DoesNotDependOnTheNumberOfDevices) {
  for (std::int64_t devices : {4, 4096}) {
    Program p = sharded(Blocks{devices}, devices);
    Verdict verdict = check({}, {{&p, hash_of(p)}}, nullptr, true);
    EXPECT_FALSE(verdict.refused()) << refusals(verdict);
    EXPECT_EQ(verdict.count(Standing::proved), 3u);  // the chain, and of z and of w what they read
  }
}

TEST(Held, MissingTransferIsRefused) {
  EXPECT_EQ(changed([](Program& p) { operation(p, w).operands = operation(p, transfer).operands; }), refused_held);
  Program placed = cases::moved().before;  // as if nothing were realised
  EXPECT_EQ(refused(placed), refused_held);
}

TEST(Held, OtherPlacementOrBlocksAreRefused) {
  EXPECT_EQ(changed([](Program& p) { operation(p, z).placements[0].axis->id = e_axis; }), refused_held);
  EXPECT_EQ(changed([](Program& p) { operation(p, y).placements[0].axis->id = e_axis; }), refused_held);
  EXPECT_EQ(changed([](Program& p) { operation(p, z).placements.clear(); }), refused_held);
  EXPECT_EQ(changed([](Program& p) { ++op(p, z).blockings[0].blocks.boundaries[1]; }), refused_held);
  EXPECT_EQ(changed([](Program& p) { --op(p, y).blockings[0].blocks.boundaries[3]; }), refused_held);
  EXPECT_EQ(changed([](Program& p) { op(p, z).blockings[0].blocks = Blocks{4}; }), refused_held);
  EXPECT_EQ(changed([](Program& p) { ++op(p, z).dims[0].range.hi; }), refused_held);
}

// The same on devices that are listed.
TEST(Held, DeviceLists) {
  auto listed = [](auto change) {
    return changed([&](Program& p) {
      for (std::size_t o : {y, z, transfer, w}) {
        BlockPlacement& placed = operation(p, o).placements[0];
        const bool other = placed.axis->id == e_axis;
        placed.axis.reset();
        placed.mesh = {};
        placed.placement = Placement::devices;
        placed.devices = other ? DeviceSets{{0}, {1}, {2}, {3}} : DeviceSets{{4, 9}, {3}, {2}, {0}};
      }
      change(p);
    });
  };
  EXPECT_EQ(listed([](Program&) {}), accepted);
  EXPECT_EQ(listed([](Program& p) {
              std::swap(operation(p, z).placements[0].devices[0], operation(p, z).placements[0].devices[1]);
            }),
            refused_held);
  EXPECT_EQ(listed([](Program& p) { operation(p, z).placements[0].devices[0].push_back(11); }), refused_held);
  EXPECT_EQ(listed([](Program& p) { operation(p, y).placements[0].devices[0].pop_back(); }), refused_held);
  EXPECT_EQ(listed([](Program& p) { operation(p, w).operands = operation(p, transfer).operands; }), refused_held);
  EXPECT_EQ(listed([](Program& p) { operation(p, y).placements[0].dim = whole_operation; }), refused_held);
  EXPECT_EQ(listed([](Program& p) { operation(p, y).placements[0].devices[1].push_back(4); }), "placement");
  EXPECT_EQ(listed([](Program& p) { operation(p, z).placements[0].devices[3].clear(); }), "placement");
  EXPECT_EQ(listed([](Program& p) { operation(p, z).placements[0].devices.pop_back(); }), "placement");
}

TEST(Held, OtherCellsAreRefused) {
  EXPECT_EQ(changed([](Program& p) { ++op(p, z).reads[0].projection.shape[0]; }), refused_held);
  EXPECT_EQ(changed([](Program& p) { ++op(p, z).reads[0].projection.start.rows[0].offset; }), refused_held);
  EXPECT_EQ(changed([](Program& p) { --op(p, y).writes[0].projection.start.rows[0].offset; }), refused_held);
  EXPECT_EQ(changed([](Program& p) { op(p, z).reads[0].projection.start.rows[0].coefficients[0] = -1; }), refused_held);
  EXPECT_EQ(changed([](Program& p) { op(p, z).reads[0].coordinates = {CellId(0)}; }), refused_held);
}

// A dim cut before, by threads, changes what the blocks on the mesh are.
TEST(Held, NestedBlocksMustBeNestedOnBothSides) {
  auto split_before = [](Program& p, std::size_t number) {
    Operator& its = op(p, number);
    its.blockings[0].blocks = Blocks{4};
    its.dims.push_back({"t", {0, 2}, DimRole::parallel});
    for (std::vector<Access>* accesses : {&its.reads, &its.writes})
      for (Access& access : *accesses) {
        access.projection.start.inputs = 3;
        for (AffineExpr& row : access.projection.start.rows) row.coefficients.push_back(0);
      }
    its.blockings.insert(its.blockings.begin(), {0, 2, Blocks{2}});
  };
  EXPECT_EQ(changed([&](Program& p) { split_before(p, y), op(p, z).blockings[0].blocks = Blocks{4}; }), refused_held);
  EXPECT_EQ(changed([&](Program& p) { split_before(p, z), op(p, y).blockings[0].blocks = Blocks{4}; }), refused_held);
  EXPECT_EQ(changed([&](Program& p) { split_before(p, y), split_before(p, z); }), accepted);
}

TEST(Held, SameChangeOnBothSidesIsAccepted) {
  EXPECT_EQ(changed([](Program& p) {
              for (std::size_t o : {y, z}) operation(p, o).placements[0].axis->id = e_axis;
            }),
            accepted);
  EXPECT_EQ(changed([](Program& p) {
              for (std::size_t o : {y, z}) ++op(p, o).blockings[0].blocks.boundaries[2];
            }),
            accepted);
  EXPECT_EQ(changed([](Program& p) { operation(p, y).placements.clear(); }), accepted);  // it is everywhere
  EXPECT_EQ(changed([](Program& p) { op(p, z).name = "other"; }), accepted);
}

// y[i] for each c is one value: every device that has a c has all of y, one without has nothing. Of 5 c's in 4 blocks the
// last device has none; of 8 each has some.
TEST(Held, InvariantValueIsHeldWhereItsPlacedDimIs) {
  auto program = [](std::int64_t size) {
    Build b("y"), r("z");
    b.parallel("i", n), b.parallel("c", 5);
    r.parallel("i", n), r.parallel("c", size);
    auto x = b.operand(i64, {n}), its = r.operand(i64, {n});
    b.result(i64, {n}, {b[0]});
    r.result(i64, {n, size}, {r[0], r[1]});
    CellId value = b.read(x, {b[0]}), read = r.read(its, {r[0]});
    Operator writer = b.map({value}), reader = r.map({read});
    writer.writes[0].invariant_dims = {1};
    Program p;
    BuildGraph g{p, {}};
    auto v = g.input("x", i64, {n});
    auto made = g.add(writer, {v})[0];
    g.graph.values[made.index()].name = "y";
    auto last = g.add(reader, {made})[0];
    g.graph.values[last.index()].name = "z";
    finish(p, g, {last});
    p.meshes = {{"m", {{"d", 4}}, {}}};
    PlannedSplit y = on("y", Blocks{4}, "d"), z = on("z", Blocks{4}, "d");
    y.dim = z.dim = "c";
    return split_by("", p, {y, z}).after;
  };
  EXPECT_EQ(refused(program(5)), accepted);
  EXPECT_EQ(passes::realise(program(5)).step.graphs.size(), 0u);
  EXPECT_EQ(refused(program(8)), refused_held);
  EXPECT_EQ(refused(passes::realise(program(8)).program), accepted);
}

// As the trips of an iterate: x is where a step leaves w.
template <class Change>
Program repeated(Change change) {
  Program p = placed(uneven);
  change(p);
  const GraphId body = p.main;
  const TensorType type{i64, {n}};
  BuildGraph g{p, {}};
  const ValueId x = g.input("x0", i64, {n}), u = g.value("u", type);
  g.graph.operations.push_back({add_region(p, {RegionKind::iterate, body, {0, 3}}, {type}, {type}), {x}, {u}, {}});
  finish(p, g, {u});
  return p;
}

TEST(Held, StateStaysWhereATripLeavesIt) {
  const Program forgotten = repeated([](Program&) {});
  EXPECT_EQ(refused(forgotten), refused_held);
  Program moved = passes::realise(forgotten).program;
  EXPECT_EQ(refused(moved), accepted);
  Graph& body = moved.graphs[0];
  ASSERT_EQ(body.operations.size(), 5u);  // x is moved, and z
  body.operations[1].operands = body.inputs;
  EXPECT_EQ(refused(moved), refused_held);
  const Program alike = passes::realise(repeated([](Program& p) {
                          for (std::size_t o : {0u, 1u}) {
                            operation(p, o).placements[0].axis->id = e_axis;
                            op(p, o).blockings[0].blocks = Blocks{4};
                          }
                        })).program;
  EXPECT_EQ(refused(alike), accepted);
  EXPECT_EQ(alike.graphs[0].operations.size(), 4u);  // z alone is moved
  EXPECT_EQ(refused(repeated([](Program& p) {
              for (std::size_t o : {0u, 1u, 2u}) operation(p, o).placements.clear();
            })),
            accepted);
}

}  // namespace
}  // namespace tap::check
