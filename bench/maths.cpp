// The native math functions over arrays: their errors, and nanoseconds per element.
//
//   bench_maths [--points N] [--all] [FUNCTION …]
//
// For each function, f32 and f64: the greatest error in units in the last place and where it is, against the C library one
// precision up, on N points (a million unless told; --all: every float); nanoseconds for each element of arrays that lie in
// the first-level cache, by scalars and by vectors of 64 bytes, beside the C library's. Fails where an error passes 2 units.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <random>

#include "tests/backend/array_function.h"
#include "tests/backend/maths_oracle.h"
#include "tests/backend/maths_points.h"

namespace {

using namespace tap;
using namespace tap::backend::test;
using ir::CellOp;

struct Worst {
  double ulps = 0, x = 0, y = 0, got = 0;
};

template <class T>
Worst measure(CellOp op, std::uint64_t points, bool all) {
  constexpr std::int64_t block = 4096;
  ArrayFunction f(op, std::is_same_v<T, float> ? ElementType::f32 : ElementType::f64, 64 / sizeof(T));
  std::vector<T> x(block), y(block), r(block);
  Worst worst;
  Points<T> source(op, 1);
  for (std::uint64_t done = 0; done < points; done += block) {
    for (std::int64_t k = 0; k < block; ++k) {
      auto at = static_cast<std::size_t>(k);
      if (all) x[at] = std::bit_cast<T>(static_cast<Pattern<T>>(done + static_cast<std::uint64_t>(k)));
      else std::tie(x[at], y[at]) = source.next();
    }
    f(x.data(), y.data(), r.data(), block);
    for (std::size_t k = 0; k < block; ++k) {
      double error = ulps<T>(r[k], oracle<Wider<T>>(op, x[k], y[k]));
      if (error > worst.ulps) worst = {error, x[k], y[k], r[k]};
    }
  }
  return worst;
}

template <class F>
double nanoseconds(std::int64_t n, const F& f) {
  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  for (int round = 0; round < 15; ++round) {
    auto begin = Clock::now();
    int calls = 20000 / static_cast<int>(n) + 20;
    for (int k = 0; k < calls; ++k) f();
    best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / calls);
  }
  return best / static_cast<double>(n);
}

// Whether it is accurate enough.
template <class T>
bool report(CellOp op, std::uint64_t points, bool all) {
  constexpr bool is_float = std::is_same_v<T, float>;
  constexpr ElementType type = is_float ? ElementType::f32 : ElementType::f64;
  all = all && is_float && op != CellOp::pow;
  Worst worst = measure<T>(op, all ? std::uint64_t{1} << 32 : points, all);
  constexpr std::int64_t n = 1024;
  std::vector<T> x(n), y(n), r(n);
  Points<T> source(op, 2);
  for (std::size_t k = 0; k < n; ++k) std::tie(x[k], y[k]) = source.ordinary();
  ArrayFunction scalar(op, type, 0), vector(op, type, 64 / sizeof(T));
  double by_one = nanoseconds(n, [&] { scalar(x.data(), y.data(), r.data(), n); });
  double by_vector = nanoseconds(n, [&] { vector(x.data(), y.data(), r.data(), n); });
  double by_library = nanoseconds(n, [&] {
    for (std::size_t k = 0; k < n; ++k) r[k] = oracle<T>(op, x[k], y[k]);
    asm volatile("" : : "r"(r.data()) : "memory");
  });
  fmt::print("| {} | {} | {:.3f} | {:.2f} | {:.2f} | {:.2f} | {:a}{} gave {:a}\n", ir::info(op).name,
             is_float ? "f32" : "f64", worst.ulps, by_vector, by_one, by_library, worst.x,
             op == CellOp::pow ? fmt::format(", {:a}", worst.y) : "", worst.got);
  std::fflush(stdout);
  return worst.ulps <= 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t points = 1'000'000;
  bool all = false, fine = true;
  std::vector<std::string> selected;
  for (int k = 1; k < argc; ++k) {
    std::string word = argv[k];
    if (word == "--all") all = true;
    else if (word == "--points" && k + 1 < argc) points = std::stoull(argv[++k]);
    else selected.push_back(word);
  }
  fmt::print(
      "| function | type | worst ulp | ns, vectors | ns, scalars | ns, C library | worst "
      "at\n|---|---|---|---|---|---|---\n");
  for (CellOp op : functions) {
    if (!selected.empty() && std::find(selected.begin(), selected.end(), ir::info(op).name) == selected.end()) continue;
    fine &= report<float>(op, points, all);
    fine &= report<double>(op, points, all);
  }
  return fine ? 0 : 1;
}
