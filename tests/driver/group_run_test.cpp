// Groups as they run: on the oracle and on devices of their own with poisoned memory, and natively by tiles, which keep no
// more of the values inside than a tile needs. Of each native kernel what its loops mean is asked, too.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "backend/llvm/executable.h"
#include "backend/llvm/jit.h"
#include "backend/lower/lowered.h"
#include "backend/tiles/group_tiles.h"
#include "ir/block_program.h"
#include "ir/interpret/interpret_blocks.h"
#include "passes/splits/expand.h"
#include "tests/backend/interpret_loops.h"
#include "tests/check/certified.h"
#include "tests/driver/certified.h"
#include "tests/ir/parse_plan.h"
#include "tests/passes/lowered.h"

namespace tap::driver {
namespace {

using passes::test::sample_inputs;

ir::Program compiled(const std::string& text) {
  auto outcome = tap::test::compile_text(text);
  EXPECT_TRUE(outcome.compiled) << outcome.messages;
  return outcome.compiled->program;
}

ir::Plan plan_of(const std::string& lines) { return std::get<ir::Plan>(ir::parse_plan("plan 2\n" + lines)); }

ir::Program planned(const ir::Program& program, const std::string& lines) {
  pipeline::Compilation certified = test::certified(program, plan_of(lines));
  for (const check::Finding& finding : certified.verdict.findings)
    EXPECT_NE(finding.standing, check::Standing::refused) << finding.where << ": " << finding.detail;
  return std::move(certified.stages.back());
}

void expect_same(const std::vector<Tensor>& found, const std::vector<Tensor>& expected, const std::string& where) {
  passes::test::expect_equal(found, expected, where);
}

// The group on its whole box: native, and what its loops mean, which throws at an access beyond the memory for a value
// inside.
void expect_native_is_interpreted(const ir::Program& program, const ir::Operator& group,
                                  const backend::LowerOptions& options = {}) {
  const backend::Kernel kernel = backend::lowered(program, group, options);
  std::vector<Tensor> native, interpreted;
  for (const auto* list : {&group.operands, &group.results})
    for (const ir::TensorType& type : *list) {
      native.emplace_back(type.element, type.shape);
      interpreted.emplace_back(type.element, type.shape);
      for (auto* tensors : {&native, &interpreted})
        for (std::int64_t c = 0; c < tensors->back().size(); ++c) tensors->back().store_i64(c, (7 * c) % 5 + 1);
    }
  auto call_on = [&](std::vector<Tensor>& tensors) {
    backend::Call call;
    for (Tensor& tensor : tensors) call.add({tensor.mutable_data(), row_major_strides(tensor.shape())});
    for (const ir::IndexDim& dim : group.dims)
      for (std::int64_t end : {dim.range.lo, dim.range.hi}) call.box.push_back(end);
    call.end_tile = tile_count(kernel, group.box());
    return call;
  };
  backend::Call plain = call_on(interpreted), call = call_on(native);
  EXPECT_FALSE(backend::test::interpret(kernel, plain)) << print(kernel);
  backend::Jit jit;
  Tensor scratch(ElementType::u8, {static_cast<std::int64_t>(scratch_bytes(kernel)) + 64});
  auto address = (reinterpret_cast<std::uintptr_t>(scratch.mutable_data()) + 63) / 64 * 64;
  call.run(jit.compile({kernel})[0], reinterpret_cast<void*>(address));
  EXPECT_EQ(call.why, 0);
  expect_same(native, interpreted, print(kernel));
}

void expect_native_groups_are_interpreted(const ir::Program& program) {
  for (const ir::Operation& operation : program[program.main].operations) {
    const ir::Operator& op = program[operation.op];
    bool whole = op.region() && op.region()->kind == ir::RegionKind::group;
    for (const ir::Blocking& b : op.blockings) whole = whole && op.dims[b.block_dim].role == ir::DimRole::reduction;
    for (const ir::IndexDim& dim : op.dims) whole = whole && dim.role != ir::DimRole::counter;
    if (whole) expect_native_is_interpreted(program, op);
  }
}

void expect_correct(const std::string& text, const std::string& lines) {
  SCOPED_TRACE(lines);
  ir::Program program = compiled(text), after = planned(program, lines);
  std::vector<Tensor> inputs = sample_inputs(program);
  auto expected = ir::interpret(program, program.main, inputs).outputs;
  expect_same(ir::interpret(after, after.main, inputs).outputs, expected, "as a graph");
  ir::BlockProgram blocks = check::test::certified(passes::expand(after));
  expect_same(ir::interpret(blocks, inputs).outputs, expected, "on devices");
  expect_native_groups_are_interpreted(after);
  for (std::size_t threads : {1, 3}) {
    backend::ExecuteOptions options;
    options.scheduled = check::test::require_certified;
    options.threads = threads;
    expect_same(backend::Executable(blocks, options).run(inputs), expected, std::to_string(threads) + " threads");
  }
}

const char* running = R"(
mesh pod = [data: 2, model: 3]
monoid both(w: f64, v: f64) { identity (-inf, 0)  combine (a, b) = (max(a.w, b.w), a.v + b.v) }
program p(Q: f64[5, 2], K: f64[7, 2], V: f64[7, 3]) -> (Y: f64[5, 3]) {
  t[i, j] = sum[c] Q[i, c] * K[j, c]
  (m[i], o[i, c]) = both[j] (t[i, j], V[j, c])
  Y[i, c] = o[i, c] + m[i]
}
)";

// A component that has fewer indices than another one is combined once, not once for each of them.
TEST(GroupRun, StreamsKeysOfAttention) {
  for (const char* lines : {"fuse t, m over i, j\n", "fuse t, m over i, j\nsplit m dim j into 3 over sequential\n",
                            "fuse t, m over i, j\nsplit m dim j into [0, 0, 2, 7] over sequential\n",
                            ("fuse t, m over i, j\nsplit m dim j into 3 over sequential\nsplit m dim j into 2 over "
                             "sequential\nsplit m dim i into 2 over axis pod.data\n"),
                            "fuse t, m over i, j\nfuse m, Y over i\nsplit Y dim i into [0, 1, 5] over axis pod.data\n"})
    expect_correct(running, lines);
}

TEST(GroupRun, OnDevicesAndInBlocks) {
  const char* text =
      "mesh pod = [data: 2, model: 3]\n"
      "program p(X: f64[9, 8]) -> (Y: f64[9, 8]) {\n"
      "  a[i, j] = X[i-1, j else 0] + X[i, j+1 else 0]\n"
      "  b[i, j] = a[i, j-1 else 3] * a[i+1, j else 1]\n"
      "  Y[i, j] = b[i-1, j else 0] + b[i+1, j+1 else 2] }";
  expect_correct(text, "fuse a, b, Y over i, j\n");
  expect_correct(text, "fuse a, b, Y over i\nsplit Y dim i into 4 over threads\n");
  expect_correct(
      text,
      "fuse a, b, Y over i, j\nsplit Y dim i into [0, 2, 9] over axis pod.data\nsplit Y dim j into 3 over axis "
      "pod.model\n");
  expect_correct(text,
                 "fuse b, Y over i, j\nsplit a dim i into 3 over axis pod.model\nsplit Y dim i into 2 over axis "
                 "pod.data\nsplit Y dim j into 3 over sequential\n");
}

TEST(GroupRun, ResultsAreRoundedOnce) {
  const char* text =
      "program p(X: bf16[4, 300]) -> (S: bf16[4], Y: bf16[4]) {\n"
      "  v[i, k] = X[i, k] * X[i, k]\n"
      "  S[i] = sum[k] v[i, k]\n"
      "  Y[i] = max[k] v[i, k] }";
  expect_correct(text, "fuse v, S, Y over i, k\nsplit Y dim k into 7 over sequential\n");
}

TEST(GroupRun, UnrolledTripsOfAnIterate) {
  const char* text =
      "program p(u: f64[12]) -> (U: f64[12]) {\n"
      "  U = iterate 5 (v = u) { w[i] = v[i-1 else 0] + v[i+1 else 0] for i in 0..12\n w }\n}\n";
  expect_correct(text,
                 "unroll U 2\nfuse \"U.4/w.0\", \"U.4/w.1\" over i\nsplit \"U.4/w.1\" dim i into 3 over threads\n");
  expect_correct(text, "unroll U 5\nfuse \"U.w.0\", \"U.w.1\", \"U.w.2\", \"U.w.3\", U over i\n");
}

// Tiles that overlap are larger than others: rows that are not full vectors, both edges of the grid within one tile, and
// halos of different widths.
TEST(GroupRun, TilesThatOverlap) {
  for (const char* shape : {"1100, 130", "37, 2050", "2100, 33"})
    expect_correct(
        fmt::format("program p(u: i32[{0}]) -> (U: i32[{0}]) {{\n"
                    "  U = iterate 3 (v = u) {{ w[i, j] = v[i-1, j else 1] + v[i, j+2 else 2] - v[i+3, j-1 else 3]\n"
                    "    w }}\n}}\n",
                    shape),
        "unroll U 3\nfuse \"U.w.0\", \"U.w.1\", U over i, j\n");
}

// Rows of inner values begin at whole cache lines of any element type, and vectors of them with a part of one.
TEST(GroupRun, RowsThatBeginWithinACacheLine) {
  for (const char* type : {"i8", "i16", "i64", "f16", "f32", "f64"})
    for (const char* shape : {"9, 517", "70, 1100"})
      expect_correct(
          fmt::format("program p(u: {1}[{0}]) -> (U: {1}[{0}]) {{\n"
                      "  U = iterate 3 (v = u) {{ w[i, j] = v[i-1, j else 1] + v[i, j+3 else 2] - v[i, j-2 else 3]\n"
                      "    w }}\n}}\n",
                      shape, type),
          "unroll U 3\nfuse \"U.w.0\", \"U.w.1\", U over i, j\n");
}

// A group whose result has several writers ends with a copy; the writers write where it would.
TEST(GroupRun, SeveralWritersOfAResult) {
  const std::string jacobi =
      "program p(u: f64[{0}, {1}]) -> (U: f64[{0}, {1}]) {{\n"
      "  U = iterate 3 (v = u) {{\n"
      "    w[i, j] = v[i, j] + v[i, j-1] - v[i, j+1] + v[i-1, j] - v[i+1, j] for i in 1..{0}-1, j in 1..{1}-1\n"
      "    w[i, j] = v[i, j] for i in 0..1, j in 0..{1}\n    w[i, j] = 2 * v[i, j] for i in {0}-1..{0}, j in 0..{1}\n"
      "    w[i, j] = v[i, j] for i in 1..{0}-1, j in 0..1\n    w[i, j] = v[i, j] for i in 1..{0}-1, j in {1}-1..{1}\n"
      "    w }}\n}}\n";
  std::string all;
  for (const char* value : {"U.w.0", "U.w.1", "U"})
    for (int w = 0; w < 5; ++w) all += fmt::format("{}{}@{}", all.empty() ? "" : ", ", value, w);
  for (auto [rows, columns] : {std::pair{2, 2}, {3, 40}, {37, 70}, {150, 5}})
    expect_correct(fmt::format(fmt::runtime(jacobi), rows, columns), "unroll U 3\nfuse " + all + " over i, j\n");
  const std::string text = "mesh d = [x: 2]\n" + fmt::format(fmt::runtime(jacobi), 12, 9);
  expect_correct(text, "unroll U 3\nfuse " + all + " over i\nsplit U dim i into 2 over axis d.x\n");
  expect_correct(text, "unroll U 3\nfuse " + all + " over i, j\nsplit U dim j into [0, 1, 9] over threads\n");
}

// Tiles of maps are whole rows, of sizes that differ little: 6 of 28 rows, not 5 of 32 and 6 rows; not if one is transposed.
TEST(GroupRun, TilesOfMapsAreWholeRows) {
  const std::string border =
      "program p(x: f32[{0}, {1}]) -> (y: f32[{0}, {1}]) {{\n"
      "  y[i, j] = x[i, j] + x[i, j-1] - x[i, j+1] + x[i-1, j] - x[i+1, j] for i in 1..{0}-1, j in 1..{1}-1\n"
      "  y[i, j] = x[i, j] for i in 0..1, j in 0..{1}\n    y[i, j] = x[i, j] for i in {0}-1..{0}, j in 0..{1}\n"
      "  y[i, j] = x[i, j] for i in 1..{0}-1, j in 0..1\n  y[i, j] = x[i, j] for i in 1..{0}-1, j in {1}-1..{1} }}";
  const std::string all = "fuse y@0, y@1, y@2, y@3, y@4 over i, j\n";
  auto points_of = [](const std::string& text, const std::string& plan) {
    const ir::Program fused = planned(compiled(text), plan);
    const ir::Operator& group = fused[fused[fused.main].operations[0].op];
    return backend::tile_points(fused, group, group.box().shape());
  };
  EXPECT_EQ(points_of(fmt::format(fmt::runtime(border), 166, 166), all), (std::vector<std::int64_t>{28, 166}));
  const std::string transposed =
      "program p(x: f32[999, 999]) -> (y: f32[999, 999]) { y[i, j] = x[j, i] for i in 0..9, j in 0..999; y[i, j] = 2 * "
      "x[j, i] for i in 9..999, j in 0..999 }";
  EXPECT_LT(points_of(transposed, "fuse y@0, y@1 over i, j\n")[1], 999);
  for (auto [rows, columns] : {std::pair{2, 2}, {3, 40}, {37, 70}, {166, 166}, {150, 5}, {40, 1100}})
    expect_correct(fmt::format(fmt::runtime(border), rows, columns), all);
  expect_correct(
      "program p(x: f64[6, 40, 50]) -> (y: f64[6, 40, 50], z: f64[6, 40, 50]) { y[h, i, j] = 2 * x[h, i, j] + "
      "x[h, i-1, j else 0]; z[h, i, j] = y[h, i, j] - x[h-1, i, j+1 else 1] }",
      "fuse y, z over h, i, j\n");
}

// One writer is a reduction; one writes from behind; one result has one writer; one value has parts in turns.
TEST(GroupRun, WritersOfSeveralKinds) {
  expect_correct(
      "program p(X: i32[6, 5]) -> (Y: i32[9], Z: i32[9]) {\n"
      "  a[i] = sum[k] X[i, k]\n  Y[i] = a[i] * a[i] for i in 0..6\n  Y[i] = i32(i) - 7 for i in 6..9\n"
      "  Z[i] = Y[i] + 1 }",
      "fuse Y@0, Y@1, Z over i\n");
  expect_correct(
      "program p(X: f64[8, 5]) -> (Y: f64[8]) {\n"
      "  m[i] = max[k] X[i, k]\n  Y[i] = max[k] (2 * X[i, k] - m[i]) for i in 0..3\n  Y[i] = m[i] for i in 3..8 }",
      "fuse m, Y@0, Y@1 over i\n");
  expect_correct(
      "program p(X: f32[7]) -> (Y: f32[14]) {\n"
      "  a[i] = X[i] * 2\n  Y[2 * i] = a[i] for i in 0..7\n  Y[2 * i + 1] = -a[i] for i in 0..7 }",
      "fuse Y@0, Y@1 over i\n");
}

TEST(GroupRun, FailuresNameTheInnerOperation) {
  ir::Program program =
      compiled("program p(X: i64[6]) -> (Y: i64[6]) { a[i] = 6 / X[i]  Y[i] = a[i] + a[i-1 else 0] }");
  ir::Program after = planned(program, "fuse a, Y over i\n");
  std::vector<Tensor> inputs = sample_inputs(program);
  for (std::int64_t c = 0; c < 6; ++c) inputs[0].store_i64(c, c == 3 ? 0 : 1);
  for (std::size_t threads : {1, 4}) {
    backend::ExecuteOptions options;
    options.threads = threads;
    try {
      backend::Executable(passes::expand(after), options).run(inputs);
      ADD_FAILURE() << "no failure";
    } catch (const ir::EvaluationError& error) { EXPECT_EQ(error.message, "division by zero in `a` at i=3"); }
  }
}

const ir::Operator& only_group(const ir::Program& program) {
  EXPECT_EQ(program[program.main].operations.size(), 1u);
  return program[program[program.main].operations[0].op];
}

// Values inside the only group that have memory. On a machine of small caches, too, where a product is packed and done in
// blocks.
std::size_t values_in_memory(const std::string& text, const std::string& lines) {
  expect_correct(text, lines);
  ir::Program after = planned(compiled(text), lines);
  backend::LowerOptions small;
  small.machine.l1_bytes = 1 << 10;
  small.machine.l2_bytes = 1 << 12;
  small.machine.l3_bytes = 1 << 13;
  expect_native_is_interpreted(after, only_group(after), small);
  const backend::Kernel kernel = backend::lowered(after, only_group(after), {});
  return kernel.tensors.size() - kernel.operands - kernel.results;
}

TEST(GroupRun, EpiloguesRunInRegisters) {
  const std::string product =
      "program p(X: f32[19, 700], W: f32[700, 37], c: f32[37], d: f32[19, 37]) -> (Y: f32[19, 37]) {\n"
      "  s[i, j] = sum[k] X[i, k] * W[k, j]\n";
  EXPECT_EQ(values_in_memory(product + "  Y[i, j] = max(s[i, j] + c[j], 0) }", "fuse s, Y over i, j\n"), 0u);
  EXPECT_EQ(values_in_memory(product + "  Y[i, j] = s[i, j] + c[j] * d[i, j] }", "fuse s, Y over i\n"), 0u);
  // The other way round.
  EXPECT_EQ(values_in_memory("program p(X: f32[19, 70], W: f32[70, 37]) -> (Y: f32[37, 19]) {\n"
                             "  s[i, j] = sum[k] X[i, k] * W[k, j]  Y[j, i] = s[i, j] * s[i, j] }",
                             "fuse s, Y over i, j\n"),
            0u);
  // Lanes along the reduction, rounded to what is stored, and several components.
  EXPECT_EQ(values_in_memory("program p(X: bf16[9, 300]) -> (Y: bf16[9]) { s[i] = sum[k] X[i, k]  Y[i] = s[i] * 2 }",
                             "fuse s, Y over i\n"),
            0u);
  EXPECT_EQ(values_in_memory("monoid best(v: f64, w: f64) { identity (-inf, 0)\n"
                             "  combine (a, b) = (max(a.v, b.v), a.w + b.w) }\n"
                             "program p(X: f64[9, 300]) -> (Y: f64[9]) {\n"
                             "  (m[i], w[i]) = best[k] (X[i, k], X[i, k])  Y[i] = m[i] - w[i] }",
                             "fuse m, Y over i\n"),
            0u);
}

// Also where rounding shows: a product of the map rounds by itself, as it does where nothing is fused.
TEST(GroupRun, EpiloguesInRegistersKeepTheBits) {
  const std::string text =
      "program p(X: f32[19, 700], W: f32[700, 37], c: f32[37], d: f32[19, 37]) -> (Y: f32[19, 37]) {\n"
      "  s[i, j] = sum[k] X[i, k] * W[k, j]  Y[i, j] = exp(s[i, j] + c[j] * d[i, j]) / (s[i, j] * s[i, j] + c[j]) }";
  ir::Program program = compiled(text), fused = planned(program, "fuse s, Y over i, j\n");
  std::vector<Tensor> inputs = sample_inputs(program);
  for (Tensor& input : inputs)
    for (std::int64_t c = 0; c < input.size(); ++c) input.store_f64(c, (input.load_f64(c) + 0.1 * (c % 3)) / 37);
  auto expected = backend::Executable(passes::expand(program), {}).run(inputs);
  expect_same(backend::Executable(passes::expand(fused), {}).run(inputs), expected, "fused");
}

TEST(GroupRun, ValuesReadElsewhereAreStored) {
  const std::string text =
      "program p(X: f32[19, 70], W: f32[70, 37]) -> (S: f32[19, 37], Y: f32[19, 37], Z: f32[19]) {\n"
      "  S[i, j] = sum[k] X[i, k] * W[k, j]\n"
      "  Y[i, j] = S[i, j] * 2\n"
      "  Z[i] = sum[j] Y[i, j] }";
  expect_correct(text, "fuse S, Y over i, j\n");
  expect_correct(text, "fuse S, Y, Z over i\n");
}

TEST(GroupRun, NonPointwiseReadersNeedTheStoredRegion) {
  auto text = [](const std::string& map) {
    return "program p(X: i64[19, 12], d: i64[19]) -> (Y: i64[19]) { s[i] = sum[k] X[i, k]  " + map + " }";
  };
  for (const char* map : {"Y[i] = s[i] + s[i-1 else 0]", "Y[i] = s[i] / (d[i] * d[i] + 1)", "Y[i] = s[18 - i]"})
    EXPECT_EQ(values_in_memory(text(map), "fuse s, Y over i\n"), 1u) << map;
}

// Floats that are combined in another order.
void expect_near(const std::vector<Tensor>& found, const std::vector<Tensor>& expected) {
  for (std::int64_t c = 0; c < expected[0].size(); ++c)
    EXPECT_NEAR(found[0].load_f64(c), expected[0].load_f64(c), 1e-4) << c;
}

// The most bytes that a thread has for values inside groups.
std::size_t inner_bytes(const std::string& text, const std::string& lines, std::vector<Tensor>* outputs = nullptr) {
  ir::Program program = planned(compiled(text), lines);
  backend::Executable executable(passes::expand(program), {});
  auto result = executable.run(sample_inputs(program));
  if (outputs) *outputs = std::move(result);
  return executable.inner_bytes();
}

std::string attention(std::int64_t n, std::int64_t m) {
  return fmt::format(
      "use std\n"
      "program p(Q: f32[{0}, 8], K: f32[{1}, 8], V: f32[{1}, 8]) -> (Y: f32[{0}, 8]) {{ Y = attention(Q, K, V) }}\n",
      n, m);
}

// Rows of scores, as many as fit into a tile; never all of them, which would be n * m * 4 bytes.
TEST(GroupRun, AttentionByRowsKeepsRows) {
  const std::int64_t n = 512, m = 2048;
  std::vector<Tensor> whole, rows;
  EXPECT_EQ(inner_bytes(attention(n, m), "choose Y.s 0\n", &whole), 0u);
  std::size_t bytes = inner_bytes(attention(n, m), "fuse \"Y.t.sum\", \"Y.t\", \"Y.mx\", Y over i\n", &rows);
  EXPECT_GE(bytes, 2 * m * 4);
  EXPECT_LE(bytes, 320 << 10);  // with keys that are packed
  expect_near(rows, whole);
}

// One block of keys at a time, as often as there are scores and weights, and the running state so far and a block's: the
// number of keys makes no difference.
TEST(GroupRun, StreamedAttentionKeepsOneBlockOfKeys) {
  auto lines = [](std::int64_t blocks) {
    return fmt::format("fuse \"Y.t.sum\", \"Y.t\", \"Y.mx\" over i, j\nsplit \"Y.s\" dim j into {} over sequential\n",
                       blocks);
  };
  const std::size_t rows = 16, keys = 32, cell = 4;
  const std::size_t scores = 2 * rows * keys * cell, state = 2 * (1 + 1 + 8) * rows * cell;
  const std::size_t packed = (8 + rows) * keys * cell;  // keys and weights
  std::vector<Tensor> whole, streamed;
  inner_bytes(attention(rows, 512), "", &whole);
  const std::size_t bytes = inner_bytes(attention(rows, 512), lines(512 / keys), &streamed);
  EXPECT_GE(bytes, scores);
  EXPECT_LE(bytes, scores + state + packed);
  expect_near(streamed, whole);
  EXPECT_EQ(inner_bytes(attention(rows, 4096), lines(4096 / keys)), bytes);
}

// The same with the fold inside each block of keys: what a block needs is there once for its scores, once for their
// weights, and its own state beside that of all the blocks before; the number of keys makes no difference.
TEST(GroupRun, FoldedAttentionKeepsOneBlockOfKeys) {
  const std::string lines =
      "choose Y.s 3\nfuse \"Y.t.sum\", \"Y.t\", \"Y.s.m\", \"Y.s.e\", \"Y.s.s\", \"Y.s.o\", \"Y.s.y0\" over i, "
      "j_block\n";
  std::vector<Tensor> whole, streamed;
  inner_bytes(attention(64, 1024), "choose Y.s 0\n", &whole);
  inner_bytes(attention(64, 1024), lines, &streamed);
  expect_near(streamed, whole);
  EXPECT_EQ(inner_bytes(attention(64, 4096), lines), inner_bytes(attention(64, 8192), lines));
}

}  // namespace
}  // namespace tap::driver
