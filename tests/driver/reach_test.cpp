// Which tiles of a batch wait for which of the batch before: distances that are known, and, for many programs, that no tile touches
// a byte which a farther tile of the batch before writes, or the other way round, by a look at each point.
#include "backend/schedule/reach.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <tuple>

#include "backend/schedule/rows_of_calls.h"
#include "backend/schedule/schedule.h"
#include "compiler/pipeline/pipeline.h"
#include "ir/graph.h"
#include "support/tensor.h"
#include "tests/ir/parse_plan.h"
#include "tests/passes/lowered.h"

namespace tap::backend {
namespace {

using Byte = std::tuple<MemorySpace, std::int64_t, std::int64_t>;  // space, number of an input or output, place
struct Bytes {
  std::set<Byte> read, written;
};

template <class Visit>
void for_each_point(const ir::Box& box, const Visit& visit) {
  if (box.empty()) return;
  ir::Point point;
  for (ir::Range range : box.dims) point.push_back(range.lo);
  for (;;) {
    visit(point);
    std::size_t d = point.size();
    while (d > 0 && ++point[d - 1] == box.dims[d - 1].hi) {
      point[d - 1] = box.dims[d - 1].lo;
      --d;
    }
    if (d == 0) return;
  }
}

class Program {
 public:
  Program(const std::string& text, const std::string& plan, std::int64_t parts) {
    auto outcome = tap::test::compile_text(text);
    EXPECT_TRUE(outcome.compiled) << outcome.messages;
    pipeline::Options options;
    options.plan = std::get<ir::Plan>(ir::parse_plan(plan));
    options.stop = pipeline::Stage::schedule;
    options.scheduling.parts = parts;
    options.scheduling.shared = false;
    made_ = pipeline::compile(outcome.compiled->program, options);
    schedule_ = with_rows_of_calls(by_memory(*made_.schedule));
  }

  // By batch of a sequence.
  std::vector<std::int64_t> reaches(std::size_t sequence) const {
    const Reach reach(schedule_, kernels());
    std::vector<std::int64_t> found;
    for (std::size_t b = 0; b < schedule_.sequences[sequence].size(); ++b) found.push_back(reach.of(sequence, b));
    return found;
  }
  // How many batches were compared.
  int compare() const {
    int compared = 0;
    const Reach reach(schedule_, kernels());
    for (std::size_t s = 0; s < schedule_.sequences.size(); ++s)
      for (std::size_t b = 0; b < schedule_.sequences[s].size(); ++b)
        if (const std::int64_t found = reach.of(s, b); found != Reach::all) {
          compared += 1;
          compare(s, b, found);
        }
    return compared;
  }

 private:
  const std::vector<Kernel>& kernels() const { return made_.lowered->kernels.kernels; }

  void compare(std::size_t s, std::size_t b, std::int64_t reach) const {
    const Sequence& sequence = schedule_.sequences[s];
    std::vector<ir::ExchangedState> exchanged;
    for (const Sequence& outer : schedule_.sequences)
      for (const Batch& batch : outer)
        if (const auto* loop = std::get_if<Iteration>(&batch.front().what); b == 0 && loop && loop->body == s)
          exchanged = loop->states;
    const std::vector<Bytes> mine = tiles(sequence[b], {}),
                             before = tiles(sequence[b > 0 ? b - 1 : sequence.size() - 1], exchanged);
    ASSERT_EQ(mine.size(), before.size());
    for (std::size_t i = 0; i < mine.size(); ++i)
      for (std::size_t j = 0; j < before.size(); ++j) {
        if (std::abs(static_cast<std::int64_t>(i) - static_cast<std::int64_t>(j)) <= reach) continue;
        EXPECT_FALSE(meet(mine[i].written, before[j].written) || meet(mine[i].written, before[j].read) ||
                     meet(mine[i].read, before[j].written))
            << "sequence " << s << ", batch " << b << ": tiles " << i << " and " << j << ", reach " << reach;
      }
  }
  static bool meet(const std::set<Byte>& a, const std::set<Byte>& b) {
    return std::any_of(a.begin(), a.end(), [&](const Byte& byte) { return b.contains(byte); });
  }

  std::vector<Bytes> tiles(const Batch& batch, const std::vector<ir::ExchangedState>& exchanged) const {
    std::vector<Bytes> all;
    for (const ScheduledTask& task : batch)
      for (const KernelCall& call : ir::members(std::get<KernelCall>(task.what)))
        for (std::int64_t part = 0; part < task.tiles; ++part)
          all.push_back(touched(call, part_of(call, part, task.tiles), exchanged));
    return all;
  }
  ir::Box part_of(const KernelCall& call, std::int64_t part, std::int64_t parts) const {
    const Kernel& kernel = kernels()[call.kernel];
    ir::Box box = call.box;
    if (!kernel.tile_dim) return box;
    ir::Range& along = box.dims[*kernel.tile_dim];
    auto begin = [&](std::int64_t of) {
      const std::int64_t tile = call.tiles / parts * of + call.tiles % parts * of / parts;
      return std::min(along.hi, along.lo + kernel.grain * tile);
    };
    const ir::Range its{begin(part), begin(part + 1)};
    along = its;
    return box;
  }
  Bytes touched(const KernelCall& call, const ir::Box& box, const std::vector<ir::ExchangedState>& exchanged) const {
    const ir::Operator& op = made_.lowered->blocks.program[schedule_.kernels[call.kernel].computes];
    Bytes all;
    for_each_point(box, [&](const ir::Point& point) {
      for (const ir::Access& read : op.reads)
        add(all.read, call.buffers[read.tensor].id, read.projection.image(point), exchanged);
      for (const ir::Access& write : op.writes)
        add(all.written, call.buffers[op.operands.size() + write.tensor].id, write.projection.image(point), exchanged);
    });
    return all;
  }
  void add(std::set<Byte>& to, BufferId id, const ir::Box& cells,
           const std::vector<ir::ExchangedState>& exchanged) const {
    const ir::Box& held = schedule_.buffers[id.index()].box;
    BufferId now = id;
    for (const ir::ExchangedState& state : exchanged)
      if (id == state.now) now = state.next;
      else if (id == state.next) now = state.now;
    const Buffer& buffer = schedule_.buffers[now.index()];
    if (buffer.space == MemorySpace::prepared) return;
    const bool in_arena = buffer.space == MemorySpace::arena;
    const std::vector<std::int64_t> strides = row_major_strides(held.shape());
    for_each_point(cells, [&](const ir::Point& cell) {
      std::int64_t place = 0;
      for (std::size_t d = 0; d < cell.size(); ++d) {
        if (cell[d] < held.dims[d].lo || cell[d] >= held.dims[d].hi) return;
        place += (cell[d] - held.dims[d].lo) * strides[d];
      }
      const auto size = static_cast<std::int64_t>(size_of(buffer.element));
      for (std::int64_t k = 0; k < size; ++k)
        to.emplace(buffer.space, in_arena ? 0 : buffer.at, place * size + k + (in_arena ? buffer.at : 0));
    });
  }

  pipeline::Compilation made_;
  ir::Schedule schedule_;
};

std::vector<std::int64_t> reaches(const std::string& text, std::size_t sequence, const std::string& plan = "plan 2\n") {
  const Program program(text, plan, 8);
  EXPECT_GT(program.compare(), 0);
  return program.reaches(sequence);
}
using Reaches = std::vector<std::int64_t>;
constexpr std::int64_t all = Reach::all;

TEST(Reach, OfLoops) {
  EXPECT_EQ(reaches("program p(x: f32[64, 8]) -> (y: f32[64, 8]) {\n"
                    "  y = iterate 9 (s = x) { t[i, j] = s[i, j] + s[i - 1, j else 0] + s[i + 1, j else 0]; t }\n}",
                    1),
            Reaches{1});
  EXPECT_EQ(reaches("program p(x: f32[64, 8]) -> (y: f32[64, 8]) {\n"
                    "  y = iterate 9 (s = x) { t[i, j] = s[i, j] * 2; t }\n}",
                    1),
            Reaches{0});
  EXPECT_EQ(reaches("program p(x: f32[64, 8]) -> (y: f32[64, 8]) {\n"
                    "  y = iterate 9 (s = x) { t[i, j] = s[i, j] + s[i - 17, j else 0]; t }\n}",
                    1),
            Reaches{3});
}

// Groups, whose projections have the halos of their inner operations.
TEST(Reach, OfGroups) {
  const char* text =
      "program p(x: f32[64, 8]) -> (y: f32[64, 8]) {\n"
      "  y = iterate 8 (s = x) { t[i, j] = s[i, j] + s[i - 1, j else 0] + s[i + 1, j else 0]; t }\n}";
  for (const std::int64_t parts : {2, 4, 8, 16})
    EXPECT_GT(Program(text, "plan 2\nunroll y 2\nfuse y/t.0, y/t.1 over i\n", parts).compare(), 0);
}

TEST(Reach, OfOperationsOneAfterAnother) {
  const char* rows =
      "program p(x: f32[64, 24], w: f32[24, 24], v: f32[24, 24]) -> (z: f32[64, 24]) {\n"
      "  y[i, o] = sum[k] x[i, k] * w[k, o]\n  z[i, o] = sum[k] y[i, k] * v[k, o]\n}";
  EXPECT_EQ(reaches(rows, 0), (Reaches{all, 0}));
}

// What a batch that failed read must still be there when its tiles run again, to find the first point that fails.
TEST(Reach, NothingFollowsABatchThatMayFailBeforeItIsComplete) {
  const char* text =
      "program p(x: i32[64, 8]) -> (y: i32[64, 8]) {\n"
      "  y = iterate 9 (s = x) { t[i, j] = s[i, j] + 12 / s[i - 1, j else 1]; t }\n}";
  EXPECT_EQ(Program(text, "plan 2\n", 8).reaches(1), Reaches{all});
}

TEST(Reach, IsUnknownWhereTilesNeedEverything) {
  const Program transposed(
      "program p(x: f32[64, 64]) -> (z: f32[64, 64]) {\n"
      "  y[i, j] = exp(x[i, j])\n  z[i, j] = sum[k] y[k, i] * y[k, j]\n}",
      "plan 2\n", 8);
  EXPECT_EQ(transposed.reaches(0), (Reaches{all, all}));
  const Program reversed(
      "program p(x: f32[64, 8]) -> (y: f32[64, 8]) {\n"
      "  y = iterate 9 (s = x) { t[i, j] = s[63 - i, j] + s[i, j]; t }\n}",
      "plan 2\n", 8);
  EXPECT_EQ(reversed.reaches(1), Reaches{all});
}

// Of what was not thought of: any distance, as long as it is true.
TEST(Reach, NoTileTouchesWhatAFartherOneWrites) {
  const char* const programs[] = {
      "program p(x: f32[64, 8]) -> (z: f32[31, 8]) {\n  y[i, j] = x[i, j] + 1\n  z[i, j] = sum[k in 0..4] y[2*i + k, "
      "j] for i in 0..31\n}",
      "program p(x: f32[64], a: i32[64]) -> (z: f32[64]) {\n  y[i] = exp(x[i])\n  z[i] = y[a[i]] + y[i]\n}",
      "program p(x: f32[64, 64]) -> (z: f32[64, 64]) {\n  y[i, j] = x[i, j] + 1\n  z[i, j] = sum[k in 0..i + 1] y[i, "
      "k] * y[j, k]\n}",
      "program p(x: f32[8, 64]) -> (z: f32[8, 64]) {\n  y[i, j] = x[i, j] + 1\n  z[i, j] = sum[k in 0..j + 1] y[i, "
      "k]\n}",
      "program p(x: f32[40, 6], c: f32[40, 6]) -> (y: f32[40, 6], z: f32[40, 6]) {\n"
      "  (y, z) = iterate 5 (s = x, t = c) { u[i, j] = s[i, j] + t[i - 1, j else 0]; v[i, j] = u[i, j] * t[i, j] + u[i "
      "+ 1, j else 1]; (u, v) }\n}",
      "program p(x: f32[40, 6]) -> (y: f32[40, 6]) {\n"
      "  y = iterate 3 (s = x) { r = iterate 4 (q = s) { w[i, j] = q[i, j] + q[i - 1, j else 0]; w }; u[i, j] = r[i, "
      "j] + s[i, j]; u }\n}",
      "program p(x: f32[48, 6]) -> (e: f32[48, 6]) {\n  a[i, j] = exp(x[i, j])\n  b[i, j] = a[i, j] + a[i - 1, j else "
      "0]\n"
      "  c[i, j] = exp(b[i, j])\n  d[i, j] = c[i, j] + c[i + 1, j else 0]\n  e[i, j] = d[i, j] / (1 + b[i, j])\n}",
      "mesh m = [a: 4]\nprogram p(x: f32[48, 6] @ m[{a}, {}]) -> (e: f32[48, 6]) {\n  b[i, j] = exp(x[i, j])\n  c[i, "
      "j] = b[i, j] + b[i - 1, j else 0]\n"
      "  e[i, j] = c[i, j] * b[i, j]\n}",
  };
  int compared = 0;
  for (const char* text : programs)
    for (const std::int64_t parts : {1, 2, 5, 8, 16}) {
      SCOPED_TRACE(text);
      compared += Program(text, "plan 2\n", parts).compare();
    }
  EXPECT_GT(compared, 20);
}

}  // namespace
}  // namespace tap::backend
