// Times of parts of the compiler, in CPU time so that other work on the machine does not count: legality proofs on
// hard cases, written and random, and the outline of the standard library.
//
//   bench_compiler [RANDOM_CASES [SEED]]        prints one line per measurement:   12.34 ms  what
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <random>
#include <sstream>

#include "compiler/frontend/proofs/legality.h"
#include "compiler/frontend/syntax/parse.h"
#include "ir/graph.h"
#include "ir/text.h"
#include "tests/frontend/legality_cases.h"

namespace tap {
namespace {

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

enum class Verdict { legal, illegal, undecided };
constexpr const char* names[] = {"legal", "illegal", "undecided"};

struct Measured {
  double ms;
  Verdict verdict;
};

// Reads of all writers and the writes, with an empty cache.
Measured measure(const Shape& shape, const std::vector<ir::Operator>& ops) {
  Legality legality;
  std::vector<Writer> writers;
  for (const ir::Operator& op : ops) writers.push_back({&op, 0});
  double begin = cpu_ms();
  Verdict verdict = Verdict::legal;
  try {
    for (const ir::Operator& op : ops)
      if (legality.check_reads(op)) verdict = Verdict::illegal;
    if (legality.check_writes(shape, writers)) verdict = Verdict::illegal;
  } catch (const Undecided&) { verdict = Verdict::undecided; }
  return {cpu_ms() - begin, verdict};
}

// A case by chance, of up to ten dims: reads with any coefficients, whose tensors are just large enough or one too small;
// a result in which groups of dims are flattened, some of them reversed, now and then split among two writers along a
// diagonal; constraints between dims.
class RandomCase {
 public:
  explicit RandomCase(std::uint64_t seed) : rng_(seed) {
    std::size_t dims = 1 + pick(10);
    for (std::size_t d = 0; d < dims; ++d) extents_.push_back(random_extent());
    bool diagonal = dims >= 2 && pick(3) == 0;
    std::int64_t shift = static_cast<std::int64_t>(pick(7)) - 3;
    make_write();
    for (int side = diagonal ? 1 : 0; side >= 0; --side) {
      testing::OperatorBuilder b;
      for (std::size_t d = 0; d < dims; ++d) b.parallel(0, extents_[d]);
      if (diagonal) {
        std::int64_t sign = side == 0 ? 1 : -1;
        b.at_least_zero(testing::OperatorBuilder::at({{0, sign}, {1, -sign}}, side == 0 ? shift : -shift - 1));
      }
      if (pick(6) == 0 && dims >= 3)  // leaves holes
        b.at_least_zero(testing::OperatorBuilder::at({{2, 2}, {static_cast<std::uint32_t>(pick(dims)), -3}}, 5));
      b.write(shape, rows_);
      for (std::size_t n = 1 + pick(3); n > 0; --n) b.value(make_read(b));
      auto op = b.build();
      std::get<ir::MapBody>(op.body).values.resize(1);
      ops.push_back(std::move(op));
    }
  }

  Shape shape;
  std::vector<ir::Operator> ops;

 private:
  std::size_t pick(std::size_t n) { return static_cast<std::size_t>(rng_() % n); }
  std::int64_t random_extent() {
    constexpr std::int64_t choices[] = {1, 2, 3, 5, 7, 16, 30, 64};
    return choices[pick(std::size(choices))];
  }

  // Each axis of the result takes a few of the dims, the first of them slowest.
  void make_write() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t d = 0; d < extents_.size(); ++d) order.push_back(d);
    std::shuffle(order.begin(), order.end(), rng_);
    bool wrong = pick(4) == 0;
    for (std::size_t at = 0; at < order.size();) {
      std::size_t group = std::min(1 + pick(4), order.size() - at);
      testing::OperatorBuilder::Terms terms;
      std::int64_t stride = 1, offset = 0;
      for (std::size_t k = 0; k < group; ++k) {
        std::uint32_t d = order[at + k];
        bool reversed = pick(4) == 0;
        terms.push_back({d, reversed ? -stride : stride});
        if (reversed) offset += stride * (extents_[d] - 1);
        stride *= extents_[d];
      }
      if (wrong && at == 0 && terms.size() > 1) terms.back().second += pick(2) == 0 ? 1 : -1;
      rows_.push_back(testing::OperatorBuilder::at(terms, offset));
      shape.push_back(stride);
      at += group;
    }
  }

  ir::CellId make_read(testing::OperatorBuilder& b) {
    constexpr std::int64_t coefficients[] = {0, 0, 1, 1, 1, -1, 2, -2, 3, 5, 16, -100};
    std::vector<ir::AffineExpr> rows;
    Shape sizes;
    for (std::size_t axis = 1 + pick(4); axis > 0; --axis) {
      testing::OperatorBuilder::Terms terms;
      std::int64_t lo = 0, hi = 0;
      for (std::uint32_t d = 0; d < extents_.size(); ++d) {
        std::int64_t c = coefficients[pick(std::size(coefficients))];
        if (c == 0) continue;
        terms.push_back({d, c});
        (c < 0 ? lo : hi) += c * (extents_[d] - 1);
      }
      rows.push_back(testing::OperatorBuilder::at(terms, -lo));
      sizes.push_back(hi - lo + (pick(8) == 0 ? 0 : 1));
    }
    return b.read(sizes, rows);
  }

  std::mt19937_64 rng_;
  std::vector<std::int64_t> extents_;
  std::vector<ir::AffineExpr> rows_;
};

void random_cases(std::uint64_t count, std::uint64_t seed) {
  std::vector<double> times;
  int verdicts[3] = {0, 0, 0};
  double worst = -1;
  std::uint64_t worst_seed = 0;
  for (std::uint64_t k = 0; k < count; ++k) {
    RandomCase c(seed + k);
    Measured m = measure(c.shape, c.ops);
    ++verdicts[static_cast<int>(m.verdict)];
    times.push_back(m.ms);
    if (m.ms > worst) worst = m.ms, worst_seed = seed + k;
  }
  std::sort(times.begin(), times.end());
  auto quantile = [&](double q) { return times[static_cast<std::size_t>(q * static_cast<double>(times.size() - 1))]; };
  std::printf("%10.2f ms  legality, %zu random cases from seed %zu (%d legal, %d illegal, %d undecided): median\n",
              quantile(0.5), times.size(), static_cast<std::size_t>(seed), verdicts[0], verdicts[1], verdicts[2]);
  std::printf("%10.2f ms  legality, random cases: 99 of 100\n", quantile(0.99));
  std::printf("%10.2f ms  legality, random cases: the slowest, seed %zu\n", worst,
              static_cast<std::size_t>(worst_seed));
}

double cached_ms() {
  auto cases = testing::legality_cases();
  Legality legality;
  double begin = 0;
  constexpr int rounds = 1000;
  for (int round = 0; round <= rounds; ++round) {
    if (round == 1) begin = cpu_ms();
    legality.check_reads(cases[0].ops[0]);
    legality.check_writes(cases[0].shape, {{&cases[0].ops[0], 0}});
  }
  return (cpu_ms() - begin) / rounds;
}

double outline_ms() {
  std::ifstream stream(TAP_SOURCE_DIR "/lib/std.tap", std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  SourceMap sources;
  FileId file = sources.add("std.tap", text.str());
  constexpr int rounds = 100;
  double begin = cpu_ms();
  for (int round = 0; round < rounds; ++round) outline(sources, file);
  return (cpu_ms() - begin) / rounds;
}

}  // namespace
}  // namespace tap

int main(int argc, char** argv) {
  using namespace tap;
  std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  if (argc > 2 && count == 1) {  // one case, to look at
    for (const ir::Operator& op : RandomCase(seed).ops) {
      ir::Program program;
      program.operators.push_back(op);
      std::printf("%s\n", print(program, op).c_str());
    }
  }
  std::printf("%10.2f ms  outline of lib/std.tap\n", outline_ms());
  for (const auto& c : testing::legality_cases()) {
    Measured m = measure(c.shape, c.ops);
    std::printf("%10.2f ms  legality, %s (%s)\n", m.ms, c.name.c_str(), names[static_cast<int>(m.verdict)]);
  }
  std::printf("%10.3f ms  legality, asked again (cached)\n", cached_ms());
  if (count > 0) random_cases(count, seed);
  return 0;
}
