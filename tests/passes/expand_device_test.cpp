// One device's part: what expand lists of it, and for a transformer of 96 layers on 1,048,576 devices in seconds.
#include "passes/splits/expand_device.h"

#include <fmt/format.h>

#include <ctime>

#include "ir/block_program.h"
#include "passes/pass_manager.h"
#include "passes/shardings/plan_shardings.h"
#include "passes/shardings/propagate.h"
#include "passes/splits/expand.h"
#include "passes/splits/realise.h"
#include "tests/passes/lowered.h"
#include "tests/passes/random_shardings.h"

namespace tap::passes {
namespace {

constexpr std::string_view block = R"(
dim batch = 4096, seq = 128, heads = 256, head = 48, hidden = 12288, inner = 49152
op rms(x: f32[b, s, d], g: f32[d]) -> (y: f32[b, s, d]) {
    q[i, t] = sum[k] x[i, t, k] * x[i, t, k]
    y[i, t, k] = x[i, t, k] * rsqrt(q[i, t] / f32(d) + 0.00001) * g[k]
}
op block(x: f32[b, s, d], wq: f32[d, n, e], wk: f32[d, n, e], wv: f32[d, n, e], wo: f32[n, e, d],
         w1: f32[d, f], w2: f32[f, d], g1: f32[d], g2: f32[d]) -> (y: f32[b, s, d]) {
    m = rms(x, g1)
    q[i, t, h, c] = sum[k] m[i, t, k] * wq[k, h, c]
    p[i, t, h, c] = sum[k] m[i, t, k] * wk[k, h, c]
    v[i, t, h, c] = sum[k] m[i, t, k] * wv[k, h, c]
    a[i, h, t, u] = (sum[c] q[i, t, h, c] * p[i, u, h, c]) / sqrt(f32(e))
    r[i, h, t] = max[u] a[i, h, t, u]
    w[i, h, t, u] = exp(a[i, h, t, u] - r[i, h, t])
    z[i, h, t] = sum[u] w[i, h, t, u]
    o[i, t, h, c] = (sum[u] w[i, h, t, u] * v[i, u, h, c]) / z[i, h, t]
    l[i, t, k] = x[i, t, k] + (sum[h, c] o[i, t, h, c] * wo[h, c, k])
    m2 = rms(l, g2)
    j[i, t, c] = max(sum[k] m2[i, t, k] * w1[k, c], 0)
    y[i, t, k] = l[i, t, k] + (sum[c] j[i, t, c] * w2[c, k])
}
)";

std::string transformer(int layers, const std::string& mesh) {
  std::string inputs = "X: f32[batch, seq, hidden] @ pod[{data}, {}, {}]", calls;
  for (int n = 0; n < layers; ++n) {
    for (const char* w : {"wq", "wk", "wv"})
      inputs += fmt::format(",\n    {}{}: f32[hidden, heads, head] @ pod[{{}}, {{model}}, {{}}]", w, n);
    inputs += fmt::format(
        ",\n    wo{0}: f32[heads, head, hidden], wa{0}: f32[hidden, inner] @ pod[{{}}, {{model}}], "
        "wb{0}: f32[inner, hidden], ga{0}: f32[hidden], gb{0}: f32[hidden]",
        n);
    calls += fmt::format("    {0} = block({1}, wq{2}, wk{2}, wv{2}, wo{2}, wa{2}, wb{2}, ga{2}, gb{2})\n",
                         n + 1 < layers ? fmt::format("H{}", n) : "Y", n > 0 ? fmt::format("H{}", n - 1) : "X", n);
  }
  return fmt::format("mesh pod = [{}]\n{}program p({}) -> (Y: f32[batch, seq, hidden]) {{\n{}}}\n", mesh, block, inputs,
                     calls);
}

struct Part {
  ir::BlockProgram blocks;
  double seconds = 0;  // of the processor
};

// What the device runs, sends and receives.
Part part_of(const std::string& mesh, std::int64_t device) {
  const ir::Program lowered = run(lowering(), test::lowered(transformer(96, mesh))).program;
  PropagationOptions options;
  options.prepare = false;
  const ShardedPlan sharded = plan_of_shardings(propagate(lowered, options).program);
  EXPECT_TRUE(sharded.left.empty());
  const ir::Program realised = realise(apply_splits(lowered, sharded.plan).program).program;
  const std::clock_t start = std::clock();
  Part part{expand_device(realised, device)};
  part.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return part;
}

std::size_t tasks(const ir::BlockProgram& program) {
  std::size_t count = 0;
  for (const ir::BlockGraph& graph : program.graphs) count += graph.tasks.size();
  return count;
}

// A graph's tasks, with what they hold written out.
std::vector<std::string> written(const ir::Program& program, const ir::BlockGraph& graph) {
  auto held = [&](const ir::HeldMember& one) {
    const ir::Held h = graph[one];
    return fmt::format("{}@{}{}", program[graph.graph][h.value].name, h.device, to_string(h.box));
  };
  std::vector<std::string> list;
  for (const ir::Task& task : graph.tasks) {
    if (auto* move = std::get_if<ir::Move>(&task)) {
      list.push_back(fmt::format("{} {} -> {} {}", move->operation.index(), held(move->from), held(move->to),
                                 to_string(move->box)));
      continue;
    }
    const auto& apply = std::get<ir::Application>(task);
    list.push_back(fmt::format("{} on {} {} x {}", apply.operation.index(), apply.device, to_string(apply.box),
                               count_of(apply.row)));
    for (const ir::HeldMember& one : apply.operands) list.back() += " " + held(one);
    for (const ir::HeldMember& one : apply.results) list.back() += " " + held(one);
  }
  return list;
}

TEST(ExpandDevice, AgreesWithExpand) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  std::size_t moves = 0;
  for (const test::Sample& sample : test::samples) {
    const ir::Program lowered = run(lowering(), test::lowered(sample.text)).program;
    for (int round = 0; round < 10; ++round) {
      ir::Program program = lowered;
      test::shard_at_random(program, random);
      SCOPED_TRACE(fmt::format("{}, seed {}{}", sample.name, seed, test::written(program)));
      const ir::Program realised = realise(apply_splits(program, plan_of_shardings(program).plan).program).program;
      for (std::int64_t device : {std::int64_t{0}, std::int64_t{5}, static_cast<std::int64_t>(random() % 16)}) {
        const ir::BlockProgram expected = expand(realised, device), found = expand_device(realised, device);
        ASSERT_EQ(found.graphs.size(), expected.graphs.size());
        for (std::size_t g = 0; g < expected.graphs.size(); ++g)
          ASSERT_EQ(written(realised, found.graphs[g]), written(realised, expected.graphs[g])) << "device " << device;
        for (const ir::Task& task : found.graphs[realised.main.index()].tasks)
          moves += std::holds_alternative<ir::Move>(task);
      }
    }
  }
  EXPECT_GT(moves, 100u);
}

TEST(ExpandDevice, OneDeviceOfAMillion) {
  const Part many = part_of("data: 4096, model: 256", 777'777), few = part_of("data: 4, model: 2", 5);
  std::printf("one device of 1,048,576: %zu tasks in %.2f s; of 8: %zu in %.2f s\n", tasks(many.blocks), many.seconds,
              tasks(few.blocks), few.seconds);
  EXPECT_LT(many.seconds, 5);
  EXPECT_GT(tasks(many.blocks), 96u * 10u);
}

}  // namespace
}  // namespace tap::passes
