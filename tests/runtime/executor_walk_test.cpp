// Programs of many tiny batches, written as tables by hand: threads that go on from batch to batch give the results of one thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runtime/executor.h"
#include "support/portions.h"

namespace tap::executor {
namespace {

using namespace tables;
using Words = std::vector<std::int64_t>;

constexpr std::int64_t cells = 96, buffers = 6;

// One buffer from two, each cell of all cells with numbers that are the same modulo 3, or of those near it: a read too early or a
// write too late shows. box: the cells, what to add, whether to fail at a cell, and how far it reads; -1: all.
std::int32_t mix(const std::int64_t* box, void* const* at, const std::int64_t*, void*, std::int64_t first,
                 std::int64_t end, KernelError* error) {
  const auto *a = static_cast<const std::int64_t*>(at[0]), *b = static_cast<const std::int64_t*>(at[1]);
  auto* to = static_cast<std::int64_t*>(at[2]);
  const std::int64_t parts = box[1] - box[0];
  for (std::int64_t tile = first; tile < end; ++tile) {
    for (volatile std::int64_t wait = tile * box[2] % 7 * 60; wait > 0;) wait = wait - 1;  // tiles take different times
    for (std::int64_t k = cells * tile / parts; k < cells * (tile + 1) / parts; ++k) {
      std::uint64_t sum = static_cast<std::uint64_t>(box[2] * 7 + k);
      const bool reads_all = box[6] < 0;
      const std::int64_t begin = reads_all ? k % 3 : std::max<std::int64_t>(k - box[6], 0);
      const std::int64_t past = reads_all ? cells : std::min(k + box[6] + 1, cells);
      for (std::int64_t c = begin; c < past; c += reads_all ? 3 : 1)
        sum = sum * 31 + static_cast<std::uint64_t>(a[c] ^ (b[c] >> 1));
      to[k] = static_cast<std::int64_t>(sum);
      if (box[4] != k) continue;
      error->point[0] = k;
      error->section = 0;
      return static_cast<std::int32_t>(KernelFailure::division_by_zero);
    }
  }
  return 0;
}

// Tables of a program with an input, an output, and buffers in the arena between them.
class Tables {
 public:
  Tables() : words_(sizeof(Head) / 8) {
    head_.magic = magic;
    head_.version = version;
    head_.preparation = -1;
    head_.most_arguments = 3;
    head_.kernels = 1;
    const List extents = put(Words{cells});
    const Text name = {put(Words{'X'}).at, 1};
    head_.inputs = head_.outputs = {put(words_of(Tensor{name, 0, 8, extents, 0})).at, 1};
    Words all;
    for (std::int64_t b = 0; b < buffers; ++b) {
      const Place place = b == 0 ? is_input : b == 1 ? is_output : in_arena;
      append(all, Buffer{place, place == in_arena ? (b - 2) * cells * 8 : 0, cells * 8, -1});
    }
    head_.buffers = {put(all).at, buffers};
    head_.arena_bytes = (buffers - 2) * cells * 8;
    head_.operations = {put(words_of(Operation{name, name, {put(words_of(Dim{name, 0})).at, 1}, {0, 0}})).at, 1};
  }
  // A batch: `to` from two others.
  struct Call {
    std::int64_t a, b, to, tiles;
    std::int64_t level = -1;     // of the trip that is added; -1: none
    std::int64_t fails_at = -1;  // a cell
    std::int64_t near = -1;      // reads cells that are no further away; -1: all
    std::int64_t apart = 0;
  };
  Batch batch(const Call& call) {
    KernelCall task{};
    task.kind = kernel_call;
    task.tiles = task.kernel_tiles = call.tiles;
    task.repeats = 1;
    task.box =
        put(Words{0, call.tiles, call.to, call.to + 1, call.fails_at, call.fails_at + 1, call.near, call.near + 1});
    task.box_step = put(Words(8)).at;
    Words arguments;
    for (std::int64_t b : {call.a, call.b, call.to}) append(arguments, Argument{b, 0});
    task.arguments = {put(arguments).at, 3};
    task.argument_steps = put(Words(6)).at;
    task.strides = put(Words{1, 1, 1}).at;
    if (call.level >= 0) task.counters = {put(words_of(Counter{1, call.level})).at, 1};
    const Tiles sharing = call.tiles > 1 ? Tiles::any_work : Tiles::one_thread;
    return {{put(Words{put(words_of(task)).at}).at, 1}, call.tiles, static_cast<std::int64_t>(sharing), call.apart};
  }
  Batch loop(std::int64_t trips, std::int64_t body, std::int64_t now, std::int64_t next) {
    Iteration task{};
    task.kind = iteration;
    task.tiles = 1;
    task.end = trips;
    task.body = body;
    task.states = {put(words_of(State{now, next})).at, 1};
    return {{put(Words{put(words_of(task)).at}).at, 1}, 1, 0};
  }
  Words finish(const std::vector<std::vector<Batch>>& sequences, std::int64_t depth) {
    Words lists;
    for (const auto& sequence : sequences) {
      Words all;
      for (const Batch& one : sequence) append(all, one);
      append(lists, Sequence{{put(all).at, static_cast<std::int64_t>(sequence.size())}});
    }
    head_.sequences = {put(lists).at, static_cast<std::int64_t>(sequences.size())};
    head_.depth = depth;
    head_.words = static_cast<std::int64_t>(words_.size());
    std::memcpy(words_.data(), &head_, sizeof head_);
    return words_;
  }

 private:
  template <class T>
  static Words words_of(const T& record) {
    Words words(sizeof(T) / 8);
    std::memcpy(words.data(), &record, sizeof(T));
    return words;
  }
  template <class T>
  static void append(Words& to, const T& record) {
    const Words words = words_of(record);
    to.insert(to.end(), words.begin(), words.end());
  }
  List put(const Words& list) {
    const auto at = static_cast<std::int64_t>(words_.size());
    words_.insert(words_.end(), list.begin(), list.end());
    return {at, static_cast<std::int64_t>(list.size())};
  }
  Head head_{};
  Words words_;
};

// Whether a tile of one batch accesses a cell that a tile of the other writes, by looking at each.
bool meet(const Tables::Call& a, std::int64_t i, const Tables::Call& b, std::int64_t j) {
  auto writes = [](const Tables::Call& call, std::int64_t tile, std::int64_t buffer, std::int64_t cell) {
    return buffer == call.to && cells * tile / call.tiles <= cell && cell < cells * (tile + 1) / call.tiles;
  };
  auto reads = [&](const Tables::Call& call, std::int64_t tile, std::int64_t buffer, std::int64_t cell) {
    if (buffer != call.a && buffer != call.b) return false;
    if (call.near < 0) return true;
    for (std::int64_t by = -call.near; by <= call.near; ++by)
      if (writes(call, tile, call.to, cell + by)) return true;
    return false;
  };
  for (std::int64_t buffer = 0; buffer < buffers; ++buffer)
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      const bool a_writes = writes(a, i, buffer, cell), b_writes = writes(b, j, buffer, cell);
      if ((a_writes && (b_writes || reads(b, j, buffer, cell))) || (b_writes && reads(a, i, buffer, cell))) return true;
    }
  return false;
}
std::int64_t apart(const Tables::Call& before, const Tables::Call& call) {
  std::int64_t most = -1;
  if (before.tiles != call.tiles) return 0;
  for (std::int64_t i = 0; i < call.tiles; ++i)
    for (std::int64_t j = 0; j < call.tiles; ++j)
      if (meet(call, i, before, j)) most = std::max(most, std::abs(i - j));
  return most + 1 < call.tiles ? std::max<std::int64_t>(most + 1, 1) : 0;
}
// As the call was in the trip before.
Tables::Call exchanged(Tables::Call call, std::int64_t now, std::int64_t next) {
  for (std::int64_t* buffer : {&call.a, &call.b, &call.to})
    *buffer = *buffer == now ? next : *buffer == next ? now : *buffer;
  return call;
}

// Two nested loops between batches, with random operands and numbers of tiles; many of one tile. `fails`: in one of ten batches.
Words random_program(unsigned seed, bool fails) {
  std::mt19937 random(seed);
  auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(n)); };
  Tables tables;
  auto some = [&](std::int64_t count, std::int64_t levels) {
    std::vector<Tables::Call> all;
    for (std::int64_t k = 0; k < count; ++k) {
      Tables::Call call{below(buffers), below(buffers), 1 + below(buffers - 1), 1};
      while (call.a == call.to) call.a = below(buffers);
      while (call.b == call.to) call.b = below(buffers);
      if (below(3) > 0) call.tiles = k > 0 && below(3) > 0 ? all.back().tiles : 2 + below(12);
      if (below(4) > 0) call.near = below(10);
      call.level = levels > 0 ? below(levels) : -1;
      if (fails && below(10) == 0) call.fails_at = below(cells);
      if (k > 0) call.apart = apart(all.back(), call);
      all.push_back(call);
    }
    return all;
  };
  std::vector<std::vector<Batch>> sequences(3);
  auto append = [&](std::vector<Batch>& to, const std::vector<Tables::Call>& calls) {
    for (const Tables::Call& call : calls) to.push_back(tables.batch(call));
  };
  std::vector<Tables::Call> inner = some(1 + below(4), 2), first = some(below(3), 1), last = some(below(3), 1);
  inner[0].apart = apart(exchanged(inner.back(), 2, 3), inner[0]);
  if (!first.empty() && !last.empty()) first[0].apart = apart(exchanged(last.back(), 4, 5), first[0]);
  append(sequences[2], inner);
  append(sequences[1], first);
  sequences[1].push_back(tables.loop(below(6), 2, 2, 3));
  append(sequences[1], last);
  for (std::int64_t to = 1; to < buffers; ++to) sequences[0].push_back(tables.batch({0, 0, to, 1 + below(4)}));
  append(sequences[0], some(below(6), 0));
  sequences[0].push_back(tables.loop(below(6), 1, 4, 5));
  append(sequences[0], some(1 + below(6), 0));
  return tables.finish(sequences, 2);
}

struct Outcome {
  Status status = Status::done;
  std::string message;
  Words cells;
  bool operator==(const Outcome&) const = default;
};
const KernelFunction kernels[] = {mix};

Outcome run(Executor& executor) {
  Words input(cells), output(cells, -1);
  for (std::int64_t k = 0; k < cells; ++k) input[static_cast<std::size_t>(k)] = k * k;
  const TensorView in{input.data(), nullptr}, out{output.data(), nullptr};
  Message message;
  Outcome outcome;
  outcome.status = executor.run(&in, &out, message);
  outcome.message = message.text();
  if (outcome.status == Status::done) outcome.cells = output;
  return outcome;
}
Outcome run(const Words& tables, std::int64_t threads) {
  Executor executor;
  EXPECT_EQ(executor.start({tables.data(), kernels}, threads), Status::done);
  Outcome outcome = run(executor);
  executor.stop();
  return outcome;
}

#if defined(__SANITIZE_THREAD__)
constexpr unsigned programs = 60;
#else
constexpr unsigned programs = 300;
#endif

TEST(ExecutorWalk, ThreadsGiveTheResultsOfOne) {
  for (unsigned seed = 0; seed < programs; ++seed) {
    const Words tables = random_program(seed, false);
    const Outcome expected = run(tables, 1);
    ASSERT_EQ(expected.status, Status::done);
    for (std::int64_t threads : {2, 3, 7}) ASSERT_EQ(run(tables, threads), expected) << seed << " on " << threads;
  }
}

TEST(ExecutorWalk, TheSameFailureIsReported) {
  unsigned failed = 0;
  for (unsigned seed = 0; seed < programs; ++seed) {
    const Words tables = random_program(seed, true);
    const Outcome expected = run(tables, 1);
    failed += expected.status == Status::failed;
    for (std::int64_t threads : {2, 5}) ASSERT_EQ(run(tables, threads), expected) << seed << " on " << threads;
  }
  EXPECT_GT(failed, programs / 4);
  EXPECT_LT(failed, programs);
}

// One executor again and again, also from two callers at a time, one of which has no workers.
TEST(ExecutorWalk, RunsFollowOneAnother) {
  const Words tables = random_program(3, false);
  const Outcome expected = run(tables, 1);
  Executor executor;
  ASSERT_EQ(executor.start({tables.data(), kernels}, 3), Status::done);
  auto many = [&] {
    for (int k = 0; k < 300; ++k) ASSERT_EQ(run(executor), expected);
  };
  std::thread other(many);
  many();
  other.join();
  executor.stop();
}

// A batch of one long tile: the others sleep meanwhile, and wake up.
std::int32_t sleep(const std::int64_t*, void* const*, const std::int64_t*, void*, std::int64_t, std::int64_t,
                   KernelError*) {
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  return 0;
}
TEST(ExecutorWalk, WhoWaitsLongSleeps) {
  Tables made;
  const Words tables = made.finish(
      {{made.batch({0, 0, 1, 4}), made.batch({0, 0, 1, 1}), made.batch({0, 0, 1, 4}), made.batch({0, 0, 1, 1})}}, 0);
  Executor executor;
  const KernelFunction slow[] = {sleep};
  ASSERT_EQ(executor.start({tables.data(), slow}, 4), Status::done);
  const std::clock_t before = std::clock();
  EXPECT_EQ(run(executor).status, Status::done);
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.2);
  executor.stop();
}

}  // namespace
}  // namespace tap::executor
