// Programs that were expanded and scheduled, for tests that change what came out; and what the changed ones compute.
#pragma once

#include <random>

#include "backend/compiled_program.h"
#include "ir/block_program.h"
#include "ir/interpret/interpret_blocks.h"
#include "ir/text/plan_text.h"
#include "runtime/executor.h"
#include "tests/check/certified.h"
#include "tests/driver/certified.h"
#include "tests/driver/simulate_schedule.h"
#include "tests/ir/parse_plan.h"
#include "tests/passes/lowered.h"

namespace tap::driver::test {

struct StageCase {
  std::string name;
  ir::BlockProgram blocks;
  ir::Schedule schedule;
  std::vector<Tensor> inputs, expected;
  std::vector<backend::Kernel> kernels = {};
  std::vector<backend::KernelFunction> functions = {};
};

// y[i] = x[i - 1 else 0] + x[i], of f64, in a box.
inline void add_left(const std::int64_t* box, const std::int64_t*, const OutsideRegion* regions) {
  const auto* x = static_cast<const double*>(regions[0].data);
  auto* y = static_cast<double*>(regions[1].data);
  for (std::int64_t k = 0; k < box[1] - box[0]; ++k) y[k] = x[k] + x[k + 1];
}
inline bool add_left_whole(const ir::Operator&, const std::vector<Tensor>& operands, std::vector<Tensor>& results) {
  for (std::int64_t k = 0; k < operands[0].size(); ++k)
    results[0].store_f64(k, (k > 0 ? operands[0].load_f64(k - 1) : 0) + operands[0].load_f64(k));
  return true;
}

inline std::vector<Tensor> result_of(const StageCase& of, const ir::BlockProgram& blocks) {
  return interpret(blocks, of.inputs, {.kernel = add_left_whole}).outputs;
}
// What a schedule's text says, simulated, whatever the order of the tasks of a batch.
inline std::vector<Tensor> result_of(const StageCase& of, const ir::Schedule& schedule) {
  std::vector<Tensor> results = ScheduleSimulator(of.blocks.program, schedule, of.inputs, add_left, false).run();
  passes::test::expect_equal(ScheduleSimulator(of.blocks.program, schedule, of.inputs, add_left, true).run(), results,
                             of.name + " backwards");
  return results;
}
// What native code makes of it.
inline std::vector<Tensor> native_result_of(const StageCase& of, const ir::Schedule& schedule) {
  std::vector<std::int64_t> tables = backend::encode(schedule, of.kernels);
  std::vector<OutsideFunction> outside(schedule.outside.size(), add_left);
  std::vector<Tensor> outputs;
  std::vector<executor::TensorView> in, out;
  for (const Tensor& input : of.inputs) in.push_back({const_cast<std::byte*>(input.data()), nullptr});
  for (const ir::ProgramTensor& t : schedule.outputs) outputs.emplace_back(t.type.element, t.type.shape);
  for (Tensor& output : outputs) out.push_back({output.mutable_data(), nullptr});
  executor::Executor executor;
  executor::Message message;
  EXPECT_EQ(executor.start({tables.data(), of.functions.data(), outside.data()}, 1), executor::Status::done);
  EXPECT_EQ(executor.prepare(in.data(), message), executor::Status::done) << message.text();
  EXPECT_EQ(executor.run(in.data(), out.data(), message), executor::Status::done) << message.text();
  executor.stop();
  return outputs;
}

inline StageCase stage_case(std::string name, const std::string& text, const std::string& lines, backend::Jit& jit) {
  auto outcome = tap::test::compile_text(text);
  EXPECT_TRUE(outcome.compiled) << outcome.messages;
  const ir::Program& program = outcome.compiled->program;
  pipeline::Compilation certified =
      test::certified(program, std::get<ir::Plan>(ir::parse_plan("plan 2\n" + lines)), pipeline::Stage::schedule);
  EXPECT_EQ(check::test::first_refusal(certified.verdict), "") << name;
  std::vector<Tensor> inputs = passes::test::sample_inputs(program);
  StageCase made{std::move(name), *certified.expanded(), *certified.schedule, inputs, {}, {}, {}};
  made.expected = ir::interpret(program, program.main, inputs, {.kernel = add_left_whole}).outputs;
  made.kernels = backend::lower(made.blocks).kernels.kernels;
  made.functions = jit.compile(made.kernels);
  return made;
}

inline std::vector<StageCase> stage_cases(backend::Jit& jit) {
  const std::string mesh = "mesh m = [d: 4]\n";
  const std::string add_left =
      "extern op add_left(x: f64[n]) -> (y: f64[n]) {\n  index [i: n]\n"
      "  read x at [i - 1] shape [2] else 0\n  write y at [i] shape [1]\n"
      "  kernel \"add_left\"\n}\n";
  return {
      stage_case("a product and what is made of it on four devices",
                 mesh + "program p(X: f64[6, 5], W: f64[5, 7]) -> (Y: f64[6, 7], S: f64[6]) {\n"
                        "  H[i, o] = sum[k] X[i, k] * W[k, o]\n  Y[i, o] = max(H[i, o], 0)\n"
                        "  S[i] = sum[o] Y[i, o] + H[i, o]\n}",
                 "split H dim i into 4 over axis m.d\nsplit Y dim o into 4 over axis m.d\nsplit S dim o into 3 over "
                 "threads\n",
                 jit),
      stage_case("neighbours over several steps, on four devices",
                 mesh + "program p(X: f64[13]) -> (Y: f64[13], Z: f64[13]) {\n"
                        "  (Y, Z) = iterate 3 (a = X, b = X) {\n"
                        "    c[i] = a[i-1 else 0] + b[i] + a[i+1 else 0]\n    d[i] = c[i] - b[i]\n    (c, d)\n  }\n}",
                 "split Y/c dim i into 4 over axis m.d\n", jit),
      stage_case("partial sums, one for each device",
                 mesh + "program p(X: f64[10, 3]) -> (S: f64[3]) { S[j] = sum[k] X[k, j] * X[k, j] }",
                 "split S dim k into 4 over axis m.d\n", jit),
      stage_case("two writers that take turns",
                 "program p(A: f64[6], B: f64[6]) -> (Z: f64[12]) {\n"
                 "  Y[2*i] = A[i] + 1\n  Y[2*i + 1] = B[i] * 3\n  Z[i] = Y[i] + Y[11 - i]\n}",
                 "", jit),
      stage_case("an outside kernel and a halo",
                 add_left + mesh +
                     "program p(X: f64[9]) -> (Y: f64[9]) {\n  H[i] = X[i] * 2\n  G = add_left(H)\n"
                     "  Y[i] = G[i] + H[i]\n}",
                 "split G dim i into 4 over axis m.d\n", jit),
      stage_case("a grid of devices: neighbours of both sides, and a product of parts",
                 "mesh g = [a: 3, b: 2]\nprogram p(X: f64[7, 4], W: f64[4, 6]) -> (Y: f64[7, 4], Z: f64[7, 6]) {\n"
                 "  A[i, j] = X[i, j] * 2\n  Y[i, j] = A[i, j] + A[i-1, j else 0] + A[i, j+1 else 0]\n"
                 "  Z[i, o] = sum[k] A[i, k] * W[k, o]\n}",
                 "split A dim i into 3 over axis g.a\nsplit A dim j into 2 over axis g.b\n"
                 "split Y dim i into 3 over axis g.a\nsplit Y dim j into 2 over axis g.b\n"
                 "split Z dim i into 3 over axis g.a\nsplit Z dim o into 2 over axis g.b\n",
                 jit),
      stage_case("a grid of devices that each need parts of both factors, and write parts of one memory",
                 "mesh g = [a: 3, b: 2]\nprogram p(X: f64[6, 3], W: f64[3, 8]) -> (Y: f64[6, 8], Z: f64[12, 8]) {\n"
                 "  A[i, k] = X[i, k] * 2\n  B[k, j] = W[k, j] + 1\n  Y[i, j] = sum[k] A[i, k] * B[k, j]\n"
                 "  Z[2*i, j] = A[i, 0] * B[0, j]\n  Z[2*i + 1, j] = A[i, 1] + B[1, j]\n}",
                 "split A dim i into 3 over axis g.a\nsplit B dim j into 2 over axis g.b\n"
                 "split Y dim i into 3 over axis g.a\nsplit Y dim j into 2 over axis g.b\n"
                 "split Z@0 dim i into 3 over axis g.a\nsplit Z@0 dim j into 2 over axis g.b\n"
                 "split Z@1 dim i into 3 over axis g.a\nsplit Z@1 dim j into 2 over axis g.b\n",
                 jit),
      stage_case(
          "blocks in blocks on devices, with a group and an uneven end",
          mesh + "program p(X: f64[18, 6]) -> (Y: f64[18, 6]) {\n  M[i] = max[j] X[i, j]\n"
                 "  E[i] = sum[j] X[i, j] * M[i]\n  Y[i, j] = sum[k in 0..6] E[i] * X[i, k] + E[17 - i] * X[k, j]\n}",
          "fuse M, E over i\nsplit E dim i into 4 over axis m.d\nsplit E dim i into 3 over threads\n"
          "split Y dim i into 4 over axis m.d\nsplit Y dim j into 3 over threads\nsplit Y dim i into 2 over "
          "threads\n",
          jit),
      stage_case("writers that take turns on devices",
                 "mesh g = [a: 2, b: 2]\nprogram p(A: f64[6, 4], B: f64[6, 4]) -> (Z: f64[12, 4] @ g[{a}, {b}]) {\n"
                 "  Y[2*i, j] = A[i, j] + 1\n  Y[2*i + 1, j] = B[i, j] * 3\n  Z[i, j] = Y[i, j] + 1\n}",
                 "", jit),
      stage_case("an outside kernel on blocks of blocks, and again",
                 add_left + mesh +
                     "program p(X: f64[24]) -> (Y: f64[24]) {\n  H = add_left(X)\n  G = add_left(H)\n"
                     "  Y[i] = G[i] + H[23 - i]\n}",
                 "split H dim i into 4 over axis m.d\nsplit H dim i into 3 over threads\n"
                 "split G dim i into 4 over axis m.d\nsplit Y dim i into 4 over axis m.d\n",
                 jit),
      stage_case("writers that take turns in blocks on devices",
                 mesh + "program p(A: f64[16], B: f64[16]) -> (Z: f64[32]) {\n"
                        "  Y[2*i] = A[i] + 1\n  Y[2*i + 1] = B[i] * 3\n  Z[i] = sum[k in 0..3] Y[i] * A[k]\n}",
                 "split Y@0 dim i into 4 over axis m.d\nsplit Y@0 dim i into 2 over threads\n"
                 "split Y@1 dim i into 4 over axis m.d\nsplit Z dim i into 4 over axis m.d\n",
                 jit),
      stage_case("devices in an order of their own, on a grid",
                 "mesh g = [a: 3, b: 2] devices [4, 0, 2, 5, 1, 3]\n"
                 "program p(X: f64[9, 4]) -> (Y: f64[9, 4], S: f64[4]) {\n"
                 "  A[i, j] = sum[k in 0..4] X[i, j] * X[k, j]\n  Y[i, j] = A[i-1, j else 0] + A[i, 3 - j]\n"
                 "  S[j] = sum[i] Y[i, j]\n}",
                 "split A dim i into 3 over axis g.a\nsplit A dim j into 2 over axis g.b\n"
                 "split Y dim i into 3 over axis g.a\nsplit Y dim j into 2 over axis g.b\n"
                 "split S dim i into 3 over axis g.a\n",
                 jit),
      stage_case("rows and columns of one value, and cells far apart",
                 mesh + "program p(X: f64[16, 16]) -> (Y: f64[16, 16], Z: f64[16, 8]) {\n"
                        "  A[i, j] = sum[k in 0..3] X[i, j] * X[k, j]\n  Y[i, j] = A[i, j] + A[j, i]\n"
                        "  Z[i, j] = A[15 - i, j] - A[i, j + 8]\n}",
                 "split A dim i into 4 over axis m.d\nsplit Y dim i into 4 over axis m.d\n"
                 "split Z dim i into 4 over axis m.d\n",
                 jit),
      stage_case(
          "two triangles, in rows on devices",
          "program p(C: f64[6, 6]) -> (Y: f64[6, 6], Z: f64[6, 6]) {\n"
          "  Y[i, j] = C[i, j] for i in 0..6, j in 0..i + 1\n"
          "  Y[i, j] = -C[i, j] for i in 0..6, j in i + 1..6\n  Z[i, j] = Y[i, j] + Y[j, i]\n}",
          "split Y@0 dim i into 3 over devices {0}, {1}, {2}\nsplit Y@1 dim i into 3 over devices {0}, {1}, {2}\n"
          "split Z dim i into 3 over devices {0}, {1}, {2}\n",
          jit),
      stage_case("a diagonal and both sides of it, in blocks",
                 mesh + "program p(C: f64[8, 8] @ m[{d}, {}]) -> (Y: f64[8, 8] @ m[{d}, {}]) {\n"
                        "  Y[i, i] = C[i, i] * 2\n  Y[i, j] = C[i, j] for i in 0..8, j in 0..i\n"
                        "  Y[i, j] = sum[k] C[i, k] for i in 0..8, j in i + 1..8\n}",
                 "", jit),
      stage_case("partials of a writer that takes turns with a map",
                 "program p(A: f64[3, 4]) -> (Y: f64[6]) {\n  Y[2*i] = A[i, 0]\n  Y[2*i + 1] = sum[k] A[i, k]\n}",
                 "split Y@1 dim k into 2 over devices {0}, {1}\n", jit),
  };
}

// Constants in layouts of their own: two in one layout, and one that two products share.
inline std::vector<StageCase> prepared_cases(backend::Jit& jit) {
  const std::string begin =
      "program p(X: f64[8, 32], const W: f64[32, 32], const V: f64[32, 32]) -> (Y: f64[8, 32], Z: f64[8, 32]) {\n  "
      "Y[i, j] = sum[k] X[i, k] * W[j, k]\n";
  return {
      stage_case("two products by constants", begin + "  Z[i, j] = sum[k] X[i, k] * V[j, k]\n}", "", jit),
      stage_case("two products by one constant", begin + "  Z[i, j] = (sum[k] Y[i, k] * W[j, k]) + V[j, i]\n}", "",
                 jit),
  };
}

}  // namespace tap::driver::test
