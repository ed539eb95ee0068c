// What reports and the search say that devices receive, for reads that are not whole blocks: against the expanded program, which lists
// every box that is moved.
#include <gtest/gtest.h>

#include <set>

#include "cost/model/traffic.h"
#include "cost/search/sharding_search.h"
#include "passes/shardings/moves.h"
#include "passes/shardings/planned_shardings.h"
#include "passes/splits/divided_inputs.h"
#include "passes/splits/expand.h"
#include "passes/splits/realise.h"
#include "tests/ir/parse_plan.h"
#include "tests/passes/lowered.h"

namespace tap::cost {
namespace {

struct Pattern {
  std::string name, program, lines, axes = {};
};

const std::vector<Pattern> patterns = {
    {"scan",
     "op cumsum(X: i64[n]) -> (Y: i64[n]) { Y[i] = sum[k in 0..i + 1] X[k] }\n"
     "program p(X: i64[64]) -> (Y: i64[64]) { Y = cumsum(X) }\n",
     "split Y dim i into 4 over m.x\n"},
    {"scan_of_rows", "program p(X: i64[8, 64]) -> (Y: i64[8, 64]) { Y[r, i] = sum[k in 0..i + 1] X[r, k] }\n",
     "split Y dim i into 4 over m.x\n"},
    {"scan_of_a_divided_value",
     "program p(X: i64[8, 64]) -> (Y: i64[8, 64]) {\n  A[r, i] = X[r, i] * 2\n  Y[r, i] = sum[k in 0..i + 1] A[r, "
     "k]\n}\n",
     "split A dim i into 4 over m.x\nsplit Y dim i into 4 over m.x\n"},
    {"scan_of_a_value_divided_otherwise",
     "program p(X: i64[8, 64]) -> (Y: i64[8, 64]) {\n  A[r, i] = X[r, i] * 2\n  Y[r, i] = sum[k in 0..i + 1] A[r, "
     "k]\n}\n",
     "split A dim r into 4 over m.x\nsplit Y dim i into 4 over m.x\n"},
    {"scan_backwards_along_two_axes",
     "program p(X: i64[8, 64]) -> (Y: i64[8, 64]) {\n  A[r, i] = X[r, i] * 2\n  Y[r, i] = sum[k in i..64] A[r, k]\n}\n",
     "split A dim r into 2 over m.y\nsplit A dim i into 4 over m.x\nsplit Y dim r into 2 over m.y\nsplit Y dim i into "
     "4 over m.x\n"},
    {"reversed",
     "program p(X: f32[8, 8]) -> (Y: f32[8, 8]) {\n  Z[i, j] = X[i, j] * 2\n  Y[i, j] = Z[7 - i, j] for i in 0..8, j "
     "in 0..8\n}\n",
     "split Z dim i into 4 over m.x\nsplit Y dim i into 4 over m.x\n"},
    {"reversed_and_itself",
     "program p(X: f32[8, 8]) -> (Y: f32[8, 8]) {\n  Z[i, j] = X[i, j] * 2\n  Y[i, j] = Z[7 - i, j] + Z[i, j] for i in "
     "0..8, j in 0..8\n}\n",
     "split Z dim i into 4 over m.x\nsplit Y dim i into 4 over m.x\n"},
    {"wide_window",
     "program p(X: f32[16, 4]) -> (Y: f32[16, 4]) {\n  Z[i, j] = X[i, j] * 2\n"
     "  Y[i, j] = Z[i - 5, j else 0] + Z[i + 6, j else 0] for i in 0..16, j in 0..4\n}\n",
     "split Z dim i into 4 over m.x\nsplit Y dim i into 4 over m.x\n"},
    {"wide_window_of_all",
     "program p(X: f32[64]) -> (Y: f32[64]) {\n  Z[i] = X[i] * 2\n  Y[i] = sum[d in 0..40] Z[i + d - 20 else 0] for i "
     "in 0..64\n}\n",
     "split Z dim i into 4 over m.x\nsplit Y dim i into 4 over m.x\n"},
    {"narrow_window",
     "program p(X: f32[16, 4]) -> (Y: f32[16, 4]) {\n  Z[i, j] = X[i, j] * 2\n"
     "  Y[i, j] = Z[i - 1, j else 0] + Z[i + 2, j else 0] for i in 0..16, j in 0..4\n}\n",
     "split Z dim i into 4 over m.x\nsplit Y dim i into 4 over m.x\n"},
    {"shifted",
     "program p(X: f32[16, 4]) -> (Y: f32[16, 4]) {\n  Z[i, j] = X[i, j] * 2\n  Y[i, j] = Z[i - 9, j else 0] for i in "
     "0..16, j in 0..4\n}\n",
     "split Z dim i into 4 over m.x\nsplit Y dim i into 4 over m.x\n"},
    {"strided",
     "program p(X: f32[32, 4]) -> (Y: f32[16, 4]) {\n  Z[i, j] = X[i, j] * 2\n  Y[i, j] = Z[2 * i, j] for i in 0..16, "
     "j in 0..4\n}\n",
     "split Z dim i into 4 over m.x\nsplit Y dim i into 4 over m.x\n"},
    {"pooled",
     "program p(X: f32[32, 4]) -> (Y: f32[16, 4]) {\n  Z[i, j] = X[i, j] * 2\n  Y[i, j] = max[d in 0..3] Z[2 * i + d - "
     "1, j else 0] for i in 0..16, j in 0..4\n}\n",
     "split Z dim i into 4 over m.x\nsplit Y dim i into 4 over m.x\n"},
    {"a_row",
     "program p(X: f32[16, 16]) -> (Y: f32[16]) {\n  Z[i, j] = X[i, j] * 2\n  Y[j] = Z[0, j] for j in 0..16\n}\n",
     "split Z dim i into 4 over m.x\nsplit Y dim j into 4 over m.x\n"},
    {"a_row_everywhere",
     "program p(X: f32[16, 16], W: f32[16, 16]) -> (Y: f32[16, 16]) {\n  Z[i, j] = X[i, j] * 2\n  Y[i, j] = Z[0, j] + "
     "W[i, j] for i in 0..16, j in 0..16\n}\n",
     "split Z dim i into 4 over m.x\nsplit Y dim i into 4 over m.x\n"},
    {"half_of_the_rows",
     "program p(X: f32[16, 16]) -> (Y: f32[8, 16]) {\n  Z[i, j] = X[i, j] * 2\n  Y[i, j] = Z[i + 8, j] for i in 0..8, "
     "j in 0..16\n}\n",
     "split Z dim i into 4 over m.x\nsplit Y dim i into 4 over m.x\n"},
    {"half_of_the_rows_by_columns",
     "program p(X: f32[16, 16]) -> (Y: f32[8, 16]) {\n  Z[i, j] = X[i, j] * 2\n  Y[i, j] = Z[i + 8, j] for i in 0..8, "
     "j in 0..16\n}\n",
     "split Z dim i into 4 over m.x\nsplit Y dim j into 4 over m.x\n"},
    {"triangle",
     "program p(X: f32[16, 16]) -> (Y: f32[16]) {\n  Z[i, j] = X[i, j] * 2\n  Y[i] = sum[k in 0..i + 1] Z[k, i] for i "
     "in 0..16\n}\n",
     "split Z dim i into 4 over m.x\nsplit Y dim i into 4 over m.x\n"},
    {"transposed_and_itself",
     "program p(X: f32[16, 16]) -> (Y: f32[16, 16]) {\n  Z[i, j] = X[i, j] * 2\n  Y[i, j] = Z[i, j] + Z[j, i]\n}\n",
     "split Z dim i into 4 over m.x\nsplit Y dim i into 4 over m.x\n"},
    {"several_writers_by_columns",
     "program p(A: f32[16, 4], B: f32[16, 4]) -> (Y: f32[32, 4]) {\n  Z[i, j] = A[i, j] * 2\n  V[i, j] = B[i, j] * 2\n"
     "  Y[i, j] = Z[i, j] for i in 0..16, j in 0..4\n  Y[16 + i, j] = V[i, j] for i in 0..16, j in 0..4\n}\n",
     "split Z dim i into 4 over m.x\nsplit V dim i into 4 over m.x\nsplit Y@0 dim j into 4 over m.x\n"
     "split Y@1 dim j into 4 over m.x\n"},
    {"from_several_writers",
     "program p(A: f32[16, 4], B: f32[16, 4]) -> (T: f32[32, 4]) {\n"
     "  Y[i, j] = A[i, j] for i in 0..16, j in 0..4\n  Y[16 + i, j] = B[i, j] for i in 0..16, j in 0..4\n  T[i, j] = "
     "Y[i, j] * 2\n}\n",
     "split Y@0 dim j into 4 over m.x\nsplit Y@1 dim j into 4 over m.x\nsplit T dim i into 4 over m.x\n"},
    {"parts_read_by_an_iterate",
     "program p(X: f32[64], W: f32[64]) -> (Z: f32[64]) {\n  Z = iterate 10 (u = X) { v[i] = u[i] + W[i]\n v } }\n",
     "split W on axis 0 into 4 over m.x\nsplit Z/v dim i into 4 over m.x\n"},
    {"divided_value_into_an_iterate",
     "program p(X: f32[64], W: f32[64]) -> (Z: f32[64]) {\n  A[i] = X[i] * 2\n  B[i] = W[i] * 2\n"
     "  Z = iterate 10 (u = A) { v[i] = u[i] + B[i]\n v } }\n",
     "split A dim i into 4 over m.x\nsplit B dim i into 4 over m.x\nsplit Z/v dim i into 4 over m.x\n"},
    {"value_after_an_iterate",
     "program p(X: f32[64], W: f32[64]) -> (C: f32[64]) {\n"
     "  Z = iterate 10 (u = X) { v[i] = u[i] + W[i]\n v }\n  C[i] = Z[i] * 3\n }\n",
     "split Z/v dim i into 4 over m.x\nsplit C dim i into 4 over m.x\n"},
    {"value_after_an_iterate_and_a_result",
     "program p(X: f32[64], W: f32[64]) -> (Z: f32[64], C: f32[64]) {\n"
     "  Z = iterate 10 (u = X) { v[i] = u[i] + W[i]\n v }\n  C[i] = Z[63 - i] * 3 for i in 0..64\n }\n",
     "split Z/v dim i into 4 over m.x\nsplit C dim i into 4 over m.x\n"},
    {"result_of_an_iterate",
     "program p(X: f32[64], W: f32[64]) -> (Z: f32[64]) {\n  Z = iterate 10 (u = X) { v[i] = u[i] + W[i]\n v } }\n",
     "split Z/v dim i into 4 over m.x\n"},
    {"an_iterate_after_another",
     "program p(X: f32[64], W: f32[64]) -> (Q: f32[64]) {\n  Z = iterate 10 (u = X) { v[i] = u[i] + W[i]\n v }\n"
     "  Q = iterate 10 (u = Z) { v[i] = u[i] * W[i]\n v }\n }\n",
     "split Z/v dim i into 4 over m.x\nsplit Q/v dim i into 4 over m.x\n"},
    {"an_iterate_in_another",
     "program p(X: f32[64], W: f32[64]) -> (C: f32[64]) {\n  Z = iterate 10 (u = X) {\n"
     "    w = iterate 5 (t = u) { v[i] = t[i] + W[i]\n v }\n    z[i] = w[i] * 3\n    z }\n  C[i] = Z[i] * 3\n }\n",
     "split Z/w/v dim i into 4 over m.x\nsplit C dim i into 4 over m.x\n"},
    {"parts_read_by_an_operation_and_two_iterates",
     "program p(X: f32[64], W: f32[64]) -> (Q: f32[64]) {\n  A[i] = W[i] * 2\n"
     "  Z = iterate 10 (u = X) { v[i] = u[i] + W[i]\n v }\n  Q = iterate 10 (u = A) { v[i] = u[i] * W[i]\n v }\n }\n",
     "split W on axis 0 into 4 over m.x\nsplit A dim i into 4 over m.x\nsplit Z/v dim i into 4 over m.x\n"},
    {"scan_of_two_values_divided_otherwise",
     "program p(X: i64[8, 64], W: i64[8, 64]) -> (Y: i64[8, 64]) {\n  A[r, i] = X[r, i] * 2\n  B[r, i] = W[r, i] * 3\n"
     "  Y[r, i] = sum[k in 0..i + 1] A[r, k] * B[r, k]\n}\n",
     "split A dim r into 4 over m.x\nsplit B dim r into 4 over m.x\nsplit Y dim i into 4 over m.x\n"},
    {"scan_backwards_divided_otherwise",
     "program p(X: i64[8, 64]) -> (Y: i64[8, 64]) {\n  A[r, i] = X[r, i] * 2\n  Y[r, i] = max[k in i..64] A[r, k]\n}\n",
     "split A dim r into 4 over m.x\nsplit Y dim i into 4 over m.x\n"},
    {"scan_of_earlier_cells",
     "program p(X: i64[8, 64]) -> (Y: i64[8, 64]) {\n  A[r, i] = X[r, i] * 2\n  Y[r, i] = sum[k in 0..i] A[r, k] for r "
     "in "
     "0..8, i in 0..64\n}\n",
     "split A dim r into 4 over m.x\nsplit Y dim i into 4 over m.x\n"},
    {"scan_in_uneven_blocks",
     "program p(X: i64[8, 10]) -> (Y: i64[8, 10]) {\n  A[r, i] = X[r, i] * 2\n  Y[r, i] = sum[k in 0..i + 1] A[r, "
     "k]\n}\n",
     "split A dim r into 4 over m.x\nsplit Y dim i into 4 over m.x\n"},
    {"several_writers_by_rows",
     "program p(A: f32[16, 4], B: f32[16, 4]) -> (Y: f32[32, 4]) {\n  Z[i, j] = A[i, j] * 2\n  V[i, j] = B[i, j] * 2\n"
     "  Y[i, j] = Z[i, j] for i in 0..16, j in 0..4\n  Y[16 + i, j] = V[i, j] for i in 0..16, j in 0..4\n}\n",
     "split Z dim i into 4 over m.x\nsplit V dim i into 4 over m.x\nsplit Y@0 dim i into [0, 8, 16, 16, 16] over m.x\n"
     "split Y@1 dim i into [0, 0, 0, 8, 16] over m.x\n"},
    {"several_writers_of_values_in_columns",
     "program p(A: f32[16, 4], B: f32[16, 4]) -> (Y: f32[32, 4]) {\n  Z[i, j] = A[i, j] * 2\n  V[i, j] = B[i, j] * 2\n"
     "  Y[i, j] = Z[i, j] for i in 0..16, j in 0..4\n  Y[16 + i, j] = V[i, j] for i in 0..16, j in 0..4\n}\n",
     "split Z dim j into 4 over m.x\nsplit V dim j into 4 over m.x\nsplit Y@0 dim i into [0, 8, 16, 16, 16] over m.x\n"
     "split Y@1 dim i into [0, 0, 0, 8, 16] over m.x\n"},
    {"edges_of_two_devices",
     "program p(X: f32[16, 4]) -> (Y: f32[16, 4], V: f32[16, 4]) {\n  Z[i, j] = X[i, j] * 2\n"
     "  Y[i, j] = Z[i, j] + Z[i - 1, j else 0]\n  V[i, j] = Z[i, j] + Z[i + 1, j else 0]\n}\n",
     "split Z dim i into 2 over m.x\nsplit Y dim i into 2 over m.x\nsplit V dim i into 2 over m.x\n", "x: 2"},
    {"edges_that_two_operations_read",
     "program p(X: f32[16, 4]) -> (Y: f32[16, 4], V: f32[16, 4]) {\n  Z[i, j] = X[i, j] * 2\n"
     "  Y[i, j] = Z[i, j] + Z[i - 1, j else 0]\n  V[i, j] = Z[i, j] * Z[i - 1, j else 0]\n}\n",
     "split Z dim i into 4 over m.x\nsplit Y dim i into 4 over m.x\nsplit V dim i into 4 over m.x\n"},
    {"all_and_columns",
     "program p(X: f32[16, 16], W: f32[16, 16]) -> (Y: f32[16, 16], V: f32[16, 16]) {\n  Z[i, j] = X[i, j] * 2\n"
     "  Y[i, j] = sum[k] Z[i, k] * W[k, j]\n  V[i, j] = Z[i, j] + 1\n}\n",
     "split Z dim i into 4 over m.x\nsplit Y dim j into 4 over m.x\nsplit V dim j into 4 over m.x\n"},
    {"columns_and_all",
     "program p(X: f32[16, 16], W: f32[16, 16]) -> (Y: f32[16, 16], V: f32[16, 16]) {\n  Z[i, j] = X[i, j] * 2\n"
     "  V[i, j] = Z[i, j] + 1\n  Y[i, j] = sum[k] Z[i, k] * W[k, j]\n}\n",
     "split Z dim i into 4 over m.x\nsplit Y dim j into 4 over m.x\nsplit V dim j into 4 over m.x\n"},
    {"a_row_of_two_operations",
     "program p(X: f32[16, 16]) -> (Y: f32[16], V: f32[16]) {\n  Z[i, j] = X[i, j] * 2\n  Y[j] = Z[0, j] for j in "
     "0..16\n"
     "  V[j] = Z[0, j] * 2 for j in 0..16\n}\n",
     "split Z dim i into 4 over m.x\nsplit Y dim j into 4 over m.x\nsplit V dim j into 4 over m.x\n"},
    {"two_rows_of_two_operations",
     "program p(X: f32[16, 16]) -> (Y: f32[16], V: f32[16]) {\n  Z[i, j] = X[i, j] * 2\n  Y[j] = Z[0, j] for j in "
     "0..16\n"
     "  V[j] = Z[9, j] * 2 for j in 0..16\n}\n",
     "split Z dim i into 4 over m.x\nsplit Y dim j into 4 over m.x\nsplit V dim j into 4 over m.x\n"},
    {"rows_and_columns",
     "program p(X: f32[8, 8]) -> (Y: f32[8, 8]) {\n  A[i, k] = X[i, k] * 2\n  Y[i, j] = sum[k] A[i, k] * A[k, j]\n}\n",
     "split A dim i into 4 over m.x\nsplit A dim k into 2 over m.y\nsplit Y dim i into 4 over m.x\nsplit Y dim j into "
     "2 over m.y\n"},
};

// Whose price is less exact than the report: the sum of the busiest devices of each move, where these are different ones; and edges
// that two operations read.
const std::set<std::string> priced_roughly = {"several_writers_by_rows", "several_writers_of_values_in_columns",
                                              "edges_of_two_devices", "edges_that_two_operations_read"};

TEST(MovedBytes, AsTheDevicesReceiveThem) {
  SearchOptions options;
  options.cluster = builtin_cluster(builtin({}, 8));
  for (const Pattern& pattern : patterns) {
    const std::string axes = !pattern.axes.empty()                            ? pattern.axes
                             : pattern.lines.find("m.y") != std::string::npos ? "x: 4, y: 2"
                                                                              : "x: 4";
    const ir::Program program = passes::test::lowered("mesh m = [" + axes + "]\n" + pattern.program);
    const ir::Plan plan = std::get<ir::Plan>(ir::parse_plan("plan 2\n" + pattern.lines));
    const passes::DividedInputs divided = passes::divide_inputs(program, plan);
    const passes::SplitResult split = passes::apply_splits(divided.program, divided.plan);
    ASSERT_TRUE(split.problems.empty()) << pattern.name << ": " << split.problems[0].message;
    const double received = traffic_of(passes::expand(passes::realise(split.program).program)).busiest;

    const passes::PlannedShardings planned = passes::shardings_of_plan(program, plan);
    const std::vector<passes::Move> moves = passes::moves_of(planned.program, planned.sites, {}, planned.divided);
    std::string list;
    for (const passes::Move& move : moves) list += fmt::format("{}: {}, {} bytes\n", move.what, move.step, move.bytes);
    EXPECT_EQ(bytes_of_all(moves), received) << pattern.name << "\n" << list;

    options.kept = plan;
    const FoundFront front = search(program, ir::MeshId(0), options);
    ASSERT_FALSE(front.plans.empty()) << pattern.name;
    for (const FoundPlan& found : front.plans)
      EXPECT_TRUE(found.predicted.traffic == received || priced_roughly.contains(pattern.name))
          << pattern.name << ": " << found.predicted.traffic << ", not " << received;
  }
}

// Which devices a few positions stand for.
TEST(MovedBytes, OnLargeMeshes) {
  const std::string text =
      "program p(X: f32[65536]) -> (Y: f32[65536]) {\n  Z[i] = X[i] * 2\n"
      "  Y[i] = Z[i - 100 else 0] + Z[i + 20 else 0] + Z[65535 - i] for i in 0..65536\n}\n";
  const passes::PlannedShardings planned = passes::shardings_of_plan(
      passes::test::lowered("mesh m = [x: 1024]\n" + text),
      std::get<ir::Plan>(
          ir::parse_plan("plan 2\nsplit Z dim i into 1024 over m.x\nsplit Y dim i into 1024 over m.x\n")));
  EXPECT_EQ(bytes_of_all(passes::moves_of(planned.program, planned.sites)), 4 * (64 + 120));
}

}  // namespace
}  // namespace tap::cost
