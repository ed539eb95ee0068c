// Running sums, transposes and stencils as loops that g++ vectorises.
#pragma once

#include <omp.h>

#include <algorithm>
#include <limits>

#include "bench/peers/native/rival.h"

namespace rivals {

inline void cumsum_rows(const std::vector<long>& size) {
  const long rows = size[0], n = size[1];
  const auto cells = static_cast<std::size_t>(rows * n);
  float *x = peers::filled(cells, 1), *y = peers::zeros(cells);
  offer("loop", y, cells, [=] {
#pragma omp parallel for
    for (long r = 0; r < rows; ++r) {
      float total = 0;
      for (long i = 0; i < n; ++i) y[r * n + i] = total += x[r * n + i];
    }
  });
}

inline void cumsum_columns(const std::vector<long>& size) {
  const long rows = size[0], n = size[1];
  const auto cells = static_cast<std::size_t>(rows * n);
  float *x = peers::filled(cells, 1), *y = peers::zeros(cells);
  offer("loop", y, cells, [=] {
    for (long j = 0; j < n; ++j) y[j] = x[j];
    for (long r = 1; r < rows; ++r)
      for (long j = 0; j < n; ++j) y[r * n + j] = y[(r - 1) * n + j] + x[r * n + j];
  });
}

// In tiles of 16 x 16.
inline void transpose(const std::vector<long>& size) {
  const long rows = size[0], n = size[1], tile = 16;
  const auto cells = static_cast<std::size_t>(rows * n);
  float *x = peers::filled(cells, 1), *y = peers::zeros(cells);
  offer("loop", y, cells, [=] {
#pragma omp parallel for
    for (long r = 0; r < rows; r += tile)
      for (long c = 0; c < n; c += tile)
        for (long j = c; j < std::min(c + tile, n); ++j)
          for (long i = r; i < std::min(r + tile, rows); ++i) y[j * rows + i] = x[i * n + j];
  });
}

// The sum of 3 x 3 neighbours, zeros outside.
inline void box3x3(const std::vector<long>& size) {
  const long rows = size[0], n = size[1];
  const auto cells = static_cast<std::size_t>(rows * n);
  float *x = peers::filled(cells, 1), *y = peers::zeros(cells), *zeros = peers::zeros(n);
  offer("loop", y, cells, [=] {
#pragma omp parallel for
    for (long r = 0; r < rows; ++r) {
      const float *b = x + r * n, *a = r ? b - n : zeros, *c = r + 1 < rows ? b + n : zeros;
      float* to = y + r * n;
      auto column = [&](long j) { return j < 0 || j >= n ? 0 : a[j] + b[j] + c[j]; };
      to[0] = column(0) + column(1);
      for (long j = 1; j + 1 < n; ++j)
        to[j] = a[j - 1] + a[j] + a[j + 1] + b[j - 1] + b[j] + b[j + 1] + c[j - 1] + c[j] + c[j + 1];
      to[n - 1] = n > 1 ? column(n - 2) + column(n - 1) : column(0);
    }
  });
}

// The greatest of 3 x 3 neighbours at every second row and column.
inline void max_pool(const std::vector<long>& size) {
  const long planes = size[0], rows = size[1], n = size[2], to_rows = (rows + 1) / 2, to_n = (n + 1) / 2;
  const auto cells = static_cast<std::size_t>(planes * to_rows * to_n);
  float *x = peers::filled(planes * rows * n, 1), *y = peers::zeros(cells);
  offer("loop", y, cells, [=] {
#pragma omp parallel for
    for (long k = 0; k < planes; ++k)
      for (long i = 0; i < to_rows; ++i) {
        float* to = y + (k * to_rows + i) * to_n;
        std::fill(to, to + to_n, -std::numeric_limits<float>::max());
        for (long r = std::max(2 * i - 1, 0L); r < std::min(2 * i + 2, rows); ++r) {
          const float* from = x + (k * rows + r) * n;
          to[0] = std::max({to[0], from[0], n > 1 ? from[1] : from[0]});
          for (long j = 1; 2 * j + 1 < n; ++j) to[j] = std::max({to[j], from[2 * j - 1], from[2 * j], from[2 * j + 1]});
          if (n % 2 == 1 && n > 1) to[to_n - 1] = std::max({to[to_n - 1], from[n - 2], from[n - 1]});
        }
      }
  });
}

// Of complex numbers, whose parts lie side by side.
inline void magnitudes(const std::vector<long>& size) {
  const long n = size[0];
  float *x = peers::filled(2 * n, 1), *y = peers::zeros(n);
  offer("loop", y, static_cast<std::size_t>(n), [=] {
#pragma omp parallel for
    for (long i = 0; i < n; ++i) y[i] = x[2 * i] * x[2 * i] + x[2 * i + 1] * x[2 * i + 1];
  });
}

// The sum of 3 x 3 x 3 neighbours, inside only.
inline void stencil27(const std::vector<long>& size) {
  const long a = size[0], b = size[1], c = size[2];
  const auto cells = static_cast<std::size_t>((a - 2) * (b - 2) * (c - 2));
  float *x = peers::filled(a * b * c, 1), *y = peers::zeros(cells);
  offer("loop", y, cells, [=] {
#pragma omp parallel for
    for (long i = 0; i < a - 2; ++i)
      for (long j = 0; j < b - 2; ++j) {
        float* to = y + (i * (b - 2) + j) * (c - 2);
        for (long k = 0; k < c - 2; ++k) {
          float total = 0;
          for (long u = 0; u < 9; ++u) {
            const float* from = x + ((i + u / 3) * b + j + u % 3) * c + k;
            total += from[0] + from[1] + from[2];
          }
          to[k] = total;
        }
      }
  });
}

// N x N, steps; the border stays. In wavefronts of ten steps, whose rows stay in the cache.
inline void jacobi(const std::vector<long>& size) {
  const long n = size[0], steps = size[1];
  const auto cells = static_cast<std::size_t>(n * n);
  float* x = peers::filled(cells, 1);
  float* planes[2] = {peers::filled(cells, 1), peers::filled(cells, 1)};
  float *even = planes[0], *odd = planes[1];
  auto row = [=](const float* from, float* to, long i) {
    const float *u = from + (i - 1) * n, *m = from + i * n, *l = from + (i + 1) * n;
    float* o = to + i * n;
    for (long j = 1; j < n - 1; ++j) o[j] = 0.2f * (m[j] + m[j - 1] + m[j + 1] + u[j] + l[j]);
  };
  auto final = steps % 2 ? odd : even;
  offer("loop", final, cells, [=] {
    std::memcpy(even, x, cells * sizeof(float));
    for (long s = 0; s < steps; ++s) {
      const float* from = s % 2 ? odd : even;
      float* to = s % 2 ? even : odd;
#pragma omp parallel for
      for (long i = 1; i < n - 1; ++i) row(from, to, i);
    }
  });
  offer("time_tiles", final, cells, [=] {
    std::memcpy(even, x, cells * sizeof(float));
    constexpr long tile = 10;
    for (long s0 = 0; s0 < steps; s0 += tile) {
      const long t = std::min(tile, steps - s0);
      for (long wave = 1; wave < n - 1 + t; ++wave)
        for (long s = 0; s < t; ++s) {
          const long i = wave - s;
          if (i >= 1 && i < n - 1) row((s0 + s) % 2 ? odd : even, (s0 + s) % 2 ? even : odd, i);
        }
    }
  });
}

// Several independent sums, so that the additions do not wait for each other.
inline float total_of(const float* x, long n) {
  float total = 0;
#pragma omp parallel reduction(+ : total)
  {
    const long threads = omp_get_num_threads(), t = omp_get_thread_num();
    const long lo = n * t / threads, hi = n * (t + 1) / threads;
    constexpr long lanes = 64;
    float sums[lanes] = {};
    long i = lo;
    for (; i + lanes <= hi; i += lanes)
      for (long l = 0; l < lanes; ++l) sums[l] += x[i + l];
    for (; i < hi; ++i) total += x[i];
    for (float sum : sums) total += sum;
  }
  return total;
}

// Limits of the machine, of N cells: reads, copies, and multiply-adds in registers.
inline void limits(const std::vector<long>& size) {
  const long n = size[0];
  float *x = peers::filled(n, 1), *y = peers::zeros(n), *r = peers::zeros(64);
  offer("read", r, 1, [=] { r[0] = total_of(x, n); });
  offer("copy", y, n, [=] {
#pragma omp parallel for simd
    for (long i = 0; i < n; ++i) y[i] = x[i];
  });
  offer("multiply_add", r, 1, [=] {
    float total = 0;
#pragma omp parallel reduction(+ : total)
    {
      constexpr int lanes = 16, chains = 10;  // enough to hide the latency of two units
      float state[chains][lanes];
      std::memcpy(state, x, sizeof state);
      for (long i = 0; i < n / (lanes * chains); ++i)
        for (auto& chain : state)
#pragma omp simd
          for (int l = 0; l < lanes; ++l) chain[l] = chain[l] * 0.999f + 1e-3f;
      for (auto& chain : state)
        for (float cell : chain) total += cell;
    }
    r[0] = total;
  });
}

}  // namespace rivals
