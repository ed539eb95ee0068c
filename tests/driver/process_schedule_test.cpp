// Schedules of which several processes run a part each. Here the processes are threads, and their messages stay in memory.
#include "backend/schedule/process_schedule.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "backend/compiled_program.h"
#include "backend/llvm/executable.h"
#include "ir/block_program.h"
#include "runtime/tensors/tensor_part.h"
#include "tests/check/certified.h"
#include "tests/driver/certified.h"
#include "tests/ir/parse_plan.h"
#include "tests/passes/lowered.h"

namespace tap::driver {
namespace {

class Mail {
 public:
  void put(std::int64_t from, std::int64_t to, const void* data, std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    boxes_[{from, to}].emplace_back(static_cast<const char*>(data), static_cast<std::size_t>(bytes));
    arrived_.notify_all();
  }
  std::string take(std::int64_t from, std::int64_t to) {
    std::unique_lock lock(mutex_);
    auto& box = boxes_[{from, to}];
    arrived_.wait(lock, [&] { return !box.empty(); });
    std::string message = std::move(box.front());
    box.pop_front();
    return message;
  }
  bool empty() {
    for (const auto& [who, box] : boxes_)
      if (!box.empty()) return false;
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::deque<std::string>> boxes_;
};

// A process's end of the messages: receives when it waits, in the order in which it started.
struct Process {
  Mail& mail;
  std::int64_t rank;
  struct Started {
    std::int64_t from;
    void* data;
    std::int64_t bytes;
  };
  std::vector<Started> started = {};

  // One of `ranks` processes.
  backend::ExecuteOptions options(backend::BufferFacts facts, std::int64_t ranks, std::int64_t devices,
                                  const std::int64_t* map) {
    backend::ExecuteOptions options;
    options.among = executor::Distribution{rank, ranks, devices, {this, send, receive, wait}, nullptr, map};
    options.facts = std::move(facts);
    return options;
  }

  static std::int32_t send(void* self, std::int64_t to, const void* data, std::int64_t bytes) {
    auto& own = *static_cast<Process*>(self);
    own.mail.put(own.rank, to, data, bytes);
    return 0;
  }
  static std::int32_t receive(void* self, std::int64_t from, void* data, std::int64_t bytes) {
    static_cast<Process*>(self)->started.push_back({from, data, bytes});
    return 0;
  }
  static std::int32_t wait(void* self) {
    auto& own = *static_cast<Process*>(self);
    for (const Started& one : std::exchange(own.started, {})) {
      const std::string message = own.mail.take(one.from, own.rank);
      if (static_cast<std::int64_t>(message.size()) != one.bytes) return 1;
      std::memcpy(one.data, message.data(), message.size());
    }
    return 0;
  }
};

TensorPart part_of_box(const ir::Box& box) {
  TensorPart part{{}, box.shape()};
  for (const ir::Range& range : box.dims) part.begin.push_back(range.lo);
  return part;
}

struct Scheduled {
  pipeline::Compilation made;
  backend::BufferFacts facts;
};
Scheduled scheduled(const ir::Program& program) {
  Scheduled result;
  pipeline::Options how;
  how.begin = pipeline::Stage::sharded;
  how.stop = pipeline::Stage::schedule;
  how.scheduling.facts = &result.facts;
  how.scheduling.shared = true;
  result.made = pipeline::compile(program, how);
  return result;
}

ir::Program sharded(const std::string& text, const std::string& plan = "") {
  auto outcome = tap::test::compile_text(text);
  EXPECT_TRUE(outcome.compiled) << outcome.messages;
  return std::move(
      test::certified(outcome.compiled->program, std::get<ir::Plan>(ir::parse_plan("plan 2\n" + plan))).stages.back());
}

// Every cell of a result is in one part of one process, and all processes agree.
void expect_each_cell_once(const std::vector<std::vector<backend::HeldPart>>& results, const ir::Program& program) {
  const ir::Graph& main = program[program.main];
  for (std::size_t k = 0; k < main.outputs.size(); ++k) {
    const Shape& shape = main[main.outputs[k]].type.shape;
    Tensor count(ElementType::i32, shape);
    for (const auto& process : results)
      for (const backend::HeldPart& part : process)
        if (part.tensor == k) {
          Tensor cells = cut(count, part_of_box(part.box));
          for (std::int64_t c = 0; c < cells.size(); ++c) cells.store_i64(c, cells.load_i64(c) + 1);
          paste(count, part_of_box(part.box), cells);
        }
    for (std::int64_t c = 0; c < count.size(); ++c) ASSERT_EQ(count.load_i64(c), 1) << "result " << k;
  }
}

std::vector<Tensor> run_in(std::int64_t ranks, std::int64_t devices, const std::int64_t* map,
                           const ir::Program& program, const std::vector<Tensor>& inputs) {
  const ir::Graph& main = program[program.main];
  std::vector<Tensor> all;
  for (ir::ValueId v : main.outputs) all.emplace_back(main[v].type.element, main[v].type.shape);
  Mail mail;
  std::mutex gathering;
  auto process = [&](std::int64_t rank) {
    Process own{mail, rank};
    Scheduled one = scheduled(program);
    backend::ExecuteOptions options = own.options(one.facts, ranks, devices, map);
    backend::Executable executable(std::move(*one.made.lowered), std::move(*one.made.schedule), options);
    std::vector<Tensor> parts, found;
    for (const backend::HeldPart& part : executable.input_parts())
      parts.push_back(cut(inputs[part.tensor], part_of_box(part.box)));
    executable.run(parts, found);
    const std::lock_guard lock(gathering);
    if (rank == 0) expect_each_cell_once(executable.result_parts(), program);
    const auto& results = executable.result_parts()[static_cast<std::size_t>(rank)];
    ASSERT_EQ(found.size(), results.size());
    for (std::size_t k = 0; k < found.size(); ++k) paste(all[results[k].tensor], part_of_box(results[k].box), found[k]);
  };
  std::vector<std::thread> threads;
  for (std::int64_t rank = 0; rank < ranks; ++rank) threads.emplace_back(process, rank);
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(mail.empty());
  return all;
}

// In one process and in several.
void expect_same_bits(const ir::Program& program, std::int64_t devices, const std::vector<std::int64_t>& map = {}) {
  const std::vector<Tensor> inputs = passes::test::sample_inputs(program);
  Scheduled whole = scheduled(program);
  backend::Executable alone(std::move(*whole.made.lowered), std::move(*scheduled(program).made.schedule), {});
  const std::vector<Tensor> expected = alone.run(inputs);
  for (std::int64_t ranks = 1; ranks <= devices + 1; ++ranks) {
    if (!map.empty() && ranks <= *std::max_element(map.begin(), map.end())) continue;
    const std::vector<Tensor> found = run_in(ranks, devices, map.empty() ? nullptr : map.data(), program, inputs);
    for (std::size_t k = 0; k < expected.size(); ++k)
      EXPECT_TRUE(std::memcmp(found[k].data(), expected[k].data(), expected[k].byte_size()) == 0)
          << "result " << k << " in " << ranks << " processes";
  }
}

const char* const layers = R"(
  mesh pod = [data: 2, model: 2]
  program main(X: f32[8, 12] @ pod[{data}, {}], W: f32[12, 8] @ pod[{}, {model}], V: f32[8, 5] @ pod[{model}, {}])
          -> (Y: f32[8, 5], s: f32[], h: f32[8, 8]) {
      h[i, o] = sum[k] X[i, k] * W[k, o]
      Y[i, o] = sum[k] exp(h[i, k] / 64) * V[k, o]
      s[] = sum[i, o] Y[i, o]
  })";

TEST(ProcessSchedule, Layers) { expect_same_bits(sharded(layers), 4); }

TEST(ProcessSchedule, MapsOfDevices) {
  for (const std::vector<std::int64_t>& map : {std::vector<std::int64_t>{0, 1, 0, 1}, {1, 1, 1, 1}, {2, 0, 1, 0}})
    expect_same_bits(sharded(layers), 4, map);
}

TEST(ProcessSchedule, HalosOfAnIterate) {
  const char* text = R"(
    program main(x: f32[40, 6]) -> (y: f32[40, 6], z: f32[6]) {
        y = iterate 7 (u = x) { v[i, j] = (u[i - 1, j else 0] + u[i, j] * 2 + u[i + 1, j else 1]) / 4; v }
        z[j] = sum[i] y[i, j]
    })";
  expect_same_bits(sharded(text, "mesh grid = [x: 3]\nsplit y/v dim i into 3 over axis grid.x\n"), 3);
}

TEST(ProcessSchedule, ResultsThatAreReadOrGivenTwiceOrAreInputs) {
  const char* text = R"(
    mesh m = [x: 2]
    program main(x: i32[8, 6] @ m[{x}, {}]) -> (y: i32[8, 6], z: i32[8], w: i32[8, 6], v: i32[8, 6]) {
        y[i, j] = x[i, j] + i32(i)
        z[i] = sum[j] x[i, j] * y[i, j]
        w = y
        v = x
    })";
  expect_same_bits(sharded(text), 2);
}

// Two operations write every second cell, so that only both together fill a part; the others' parts arrive beside it. In the
// second program, devices exchange parts in rows of copies that read other cells of each.
TEST(ProcessSchedule, WritesThatLeaveGapsBesideCopies) {
  const char* text = R"(
    program main(a: f32[16], b: f32[16]) -> (z: f32[16]) {
        y[2 * i] = a[i] + 1 for i in 0..16
        y[2 * i + 1] = b[i] * 2 for i in 0..16
        z[i] = y[i] * y[i + 16]
    })";
  const std::vector<std::pair<std::string, std::int64_t>> meshes = {{"x: 2", 2}, {"x: 4", 4}, {"x: 2, w: 3", 6}};
  for (const auto& [mesh, devices] : meshes) {
    std::string plan = "mesh m = [" + mesh + "]\n";
    for (const char* part : {"y@0", "y@1", "z"})
      plan += std::string("split ") + part + " dim i into " + mesh.substr(3, 1) + " over axis m.x\n";
    const ir::Program program = sharded(text, plan);
    expect_same_bits(program, devices);
    const ir::Schedule schedule = *scheduled(program).made.schedule;
    for (std::size_t b = 0; b < schedule.sequences[0].size(); ++b)
      for (std::size_t t = 0; t < schedule.sequences[0][b].size(); ++t) {
        ir::Schedule without = schedule;
        without.sequences[0][b].erase(without.sequences[0][b].begin() + static_cast<std::ptrdiff_t>(t));
        EXPECT_NE(check::test::refusal_of(program, without), "") << mesh << ", batch " << b << ", task " << t;
      }
  }
}

// A device receives slices of partials into the memory in which it has computed its own, and sends from there. That is proved,
// and refused if a slice is missing or arrives twice.
TEST(ProcessSchedule, SlicesArriveBesideTheOwnPartial) {
  const ir::Program program = sharded(R"(
    mesh m = [x: 2]
    program main(X: f32[4, 2100] @ m[{x}, {}], w: f32[2100, 2]) -> (Z: f32[4, 2]) {
        Y[j] = sum[d] X[d, j]
        Z[i, k] = sum[j] Y[j] * X[i, j] * w[j, k]
    })");  // Y has more bytes than an all-reduce in rounds
  expect_same_bits(program, 2);
  const ir::Schedule schedule = *scheduled(program).made.schedule;
  EXPECT_EQ(check::test::refusal_of(program, schedule), "");
  int copies = 0;
  for (std::size_t b = 0; b < schedule.sequences[0].size(); ++b)
    for (std::size_t t = 0; t < schedule.sequences[0][b].size(); ++t) {
      const auto* copy = std::get_if<ir::CopyBox>(&schedule.sequences[0][b][t].what);
      if (!copy || copy->from.id != copy->to.id) continue;
      for (const ir::CopyBox& one : ir::members(*copy)) EXPECT_NE(one.from.number, one.to.number);
      ++copies;
      ir::Schedule without = schedule, twice = schedule;
      without.sequences[0][b].erase(without.sequences[0][b].begin() + static_cast<std::ptrdiff_t>(t));
      EXPECT_NE(check::test::refusal_of(program, without), "");
      twice.sequences[0][b].push_back(twice.sequences[0][b][t]);
      EXPECT_NE(check::test::refusal_of(program, twice), "");
    }
  EXPECT_GT(copies, 0);
}

// What each process compiled, cached and received, of nodes of two processes each. Processors by process, if given.
struct Compiled {
  std::vector<backend::KernelCounts> counts;
  std::vector<backend::DifferentSchedules> refused;
};
Compiled compile_in_nodes(const ir::Program& program, std::int64_t ranks, const std::vector<std::string>& processors) {
  Compiled found;
  found.counts.resize(static_cast<std::size_t>(ranks));
  Mail mail;
  std::mutex gathering;
  auto process = [&](std::int64_t rank) {
    Process own{mail, rank};
    Scheduled one = scheduled(program);
    backend::ExecuteOptions options = own.options(one.facts, ranks, 4, nullptr);
    options.processor = processors[static_cast<std::size_t>(rank)];
    for (std::int64_t other = rank / 2 * 2; other < std::min(rank / 2 * 2 + 2, ranks); ++other)
      options.node.push_back(other);
    try {
      const backend::Executable made(std::move(*one.made.lowered), std::move(*one.made.schedule), options);
      found.counts[static_cast<std::size_t>(rank)] = made.kernel_counts();
    } catch (const backend::DifferentSchedules& different) {
      const std::lock_guard lock(gathering);
      found.refused.push_back(different);
    }
  };
  std::vector<std::thread> threads;
  for (std::int64_t rank = 0; rank < ranks; ++rank) threads.emplace_back(process, rank);
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(mail.empty());
  return found;
}

TEST(ProcessSchedule, KernelsAreCompiledOncePerNode) {
  const ir::Program program = sharded(layers);  // all devices call the same kernels
  const Compiled alone = compile_in_nodes(program, 1, {"p"});
  const std::size_t all = alone.counts[0].compiled;
  EXPECT_GE(all, 3u);
  for (std::int64_t ranks : {2, 3, 4}) {
    const Compiled found = compile_in_nodes(program, ranks, {"p", "p", "p", "p"});
    for (std::size_t rank = 0; rank < found.counts.size(); ++rank)
      EXPECT_EQ(found.counts[rank].compiled + found.counts[rank].received, all) << rank << " of " << ranks;
    for (std::size_t node = 0; node < found.counts.size(); node += 2) {
      std::size_t compiled = found.counts[node].compiled;
      if (node + 1 < found.counts.size()) {
        EXPECT_LT(compiled, all);  // each has a share
        compiled += found.counts[node + 1].compiled;
      }
      EXPECT_EQ(compiled, all) << "node " << node / 2 << " of " << ranks << " processes";
    }
  }
}

TEST(ProcessSchedule, OtherProcessorsAreRefused) {
  const Compiled found = compile_in_nodes(sharded(layers), 3, {"x86 znver4", "x86 znver4", "x86 skylake"});
  ASSERT_EQ(found.refused.size(), 3u);
  for (const backend::DifferentSchedules& one : found.refused) {
    EXPECT_TRUE(one.by_processor);
    EXPECT_TRUE(one.process == 2 || one.process == 0);
  }
}

// Each of four processes needs a fourth of the memory, and a row more of the input on each side.
TEST(ProcessSchedule, MemoryOfOneProcess) {
  const ir::Program program = sharded(R"(
    mesh m = [x: 4]
    program main(X: f32[64, 16] @ m[{x}, {}]) -> (Y: f32[64, 16]) {
        H[i, j] = sum[k] X[i, k] * X[i, j]
        Y[i, j] = H[i - 1, j else 0] + sum[k] H[i, k]
    })");
  Scheduled whole = scheduled(program);
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    const backend::ProcessSchedule own = backend::process_schedule(
        *whole.made.schedule, whole.facts, whole.made.lowered->blocks.program, {rank, 4, 4, {}, nullptr, nullptr});
    EXPECT_LE(own.schedule.arena_bytes, whole.made.schedule->arena_bytes / 4 + 1024);
    ASSERT_EQ(own.inputs.size(), 1u);
    EXPECT_EQ(own.inputs[0].box, (ir::Box{{{16 * rank, 16 * rank + 16}, {0, 16}}}));
    ASSERT_EQ(own.results[static_cast<std::size_t>(rank)].size(), 1u);
    EXPECT_EQ(own.results[static_cast<std::size_t>(rank)][0].box, (ir::Box{{{16 * rank, 16 * rank + 16}, {0, 16}}}));
  }
}

}  // namespace
}  // namespace tap::driver
