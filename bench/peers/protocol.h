// The code that all C++ peer processes share: the data, the clock, and the protocol to run.py.
//
//   peer → run.py    offers openblas onednn           once, when its data are ready
//   run.py → peer    openblas 0.1                     call it for about 0.1 s, once to warm up first
//   peer → run.py    {"wall": [0.0021, …], "cpu": [0.0020, …], "probes": [0.25, …], "norm": 13.5, "peak": 73400320}
//
// wall and cpu: seconds of each call, by the steady clock and by the CPU time of the process, of short calls the mean of several; probes: cells spread
// over the result; norm: the mean of |cell|; peak: the peak memory of the process.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace peers {

struct Peer {
  std::string name;
  std::function<void()> call;
  std::function<std::pair<const float*, std::size_t>()> result;  // after a call
};

// The same values in [-0.5, 0.5) in every language, without a pattern that a product could cancel.
inline float value_at(std::uint32_t at, std::uint32_t seed) {
  std::uint32_t x = at * 0x9E3779B1u + seed * 0x85EBCA77u;
  x ^= x >> 15;
  x *= 0x2C1B3C6Du;
  x ^= x >> 13;
  return static_cast<float>(x >> 8) / 16777216.0f - 0.5f;
}
inline void fill(float* to, std::size_t count, std::uint32_t seed) {
  for (std::size_t i = 0; i < count; ++i) to[i] = value_at(static_cast<std::uint32_t>(i), seed);
}

inline float* zeros(std::size_t count) {
  constexpr std::size_t huge_page = 1 << 21;
  auto* cells = static_cast<float*>(
      std::aligned_alloc(huge_page, (count * sizeof(float) + huge_page - 1) / huge_page * huge_page));
  for (std::size_t i = 0; i < count; ++i) cells[i] = 0;
  return cells;
}
inline float* filled(std::size_t count, std::uint32_t seed) {
  float* cells = zeros(count);
  fill(cells, count, seed);
  return cells;
}

// 32x64x56x56 → 32, 64, 56, 56
inline std::vector<long> extents(const char* text) {
  std::vector<long> numbers;
  for (char* end = nullptr; *text; text = *end ? end + 1 : end) numbers.push_back(std::strtol(text, &end, 10));
  return numbers;
}

struct Clocks {
  double wall, cpu;
  static Clocks now() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    auto wall = std::chrono::steady_clock::now().time_since_epoch();
    return {std::chrono::duration<double>(wall).count(),
            static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec)};
  }
};

inline void print_list(const char* key, const std::vector<double>& values) {
  std::printf("\"%s\": [", key);
  for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.9g", i ? ", " : "", values[i]);
  std::printf("], ");
}

// Reading the clocks takes more than a microsecond, so that short calls are timed together. The first call warms up.
inline int calls_together(const Peer& peer) {
  constexpr double least = 50e-6, surely = 1e-3;  // seconds
  const double first = Clocks::now().wall;
  peer.call();
  if (Clocks::now().wall - first >= surely) return 1;
  for (int calls = 1;; calls *= 2) {
    const double before = Clocks::now().wall;
    for (int k = 0; k < calls; ++k) peer.call();
    if (Clocks::now().wall - before >= least) return calls;
  }
}

// At least one time is taken, at most 1000.
inline void answer(const Peer& peer, double budget) {
  Clocks start = Clocks::now();
  const int calls = calls_together(peer);
  std::vector<double> wall, cpu;
  while (wall.empty() || (Clocks::now().wall - start.wall < budget && wall.size() < 1000)) {
    Clocks before = Clocks::now();
    for (int k = 0; k < calls; ++k) peer.call();
    Clocks after = Clocks::now();
    wall.push_back((after.wall - before.wall) / calls);
    cpu.push_back((after.cpu - before.cpu) / calls);
  }
  auto [cells, count] = peer.result();
  double norm = 0;
  for (std::size_t i = 0; i < count; ++i) norm += std::fabs(cells[i]);
  std::vector<double> probes;
  for (std::size_t k = 0; k < 64; ++k) probes.push_back(cells[(k * count / 64 + 7 * k) % count]);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::printf("{");
  print_list("wall", wall);
  print_list("cpu", cpu);
  print_list("probes", probes);
  std::printf("\"norm\": %.9g, \"peak\": %ld}\n", norm / static_cast<double>(count), used.ru_maxrss * 1024);
  std::fflush(stdout);
}

inline int serve(const std::vector<Peer>& peers) {
  std::printf("offers");
  for (const Peer& peer : peers) std::printf(" %s", peer.name.c_str());
  std::printf("\n");
  std::fflush(stdout);
  std::string name;
  double budget = 0;
  while (std::cin >> name >> budget)
    for (const Peer& peer : peers)
      if (peer.name == name) answer(peer, budget);
  return 0;
}

}  // namespace peers
