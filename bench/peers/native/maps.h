// Maps and rows: element by element, and along the last axis. Loops that g++ vectorises, and oneDNN.
#pragma once

#include <omp.h>

#include "bench/peers/native/loops.h"

namespace rivals {

// y = 2 max(1.5 x + 0.25, 0)
inline void elementwise(const std::vector<long>& size) {
  const long n = size[0];
  float *x = peers::filled(n, 1), *y = peers::zeros(n);
  offer("loop", y, n, [=] {
#pragma omp parallel for simd
    for (long i = 0; i < n; ++i) y[i] = 2 * std::max(1.5f * x[i] + 0.25f, 0.0f);
  });
}

// x / 2 · (1 + erf(x / √2))
inline void gelu(const std::vector<long>& size) {
  const long n = size[0];
  float *x = peers::filled(n, 1), *y = peers::zeros(n), *z = peers::zeros(n);
  offer("loop", y, n, [=] {
#pragma omp parallel for simd
    for (long i = 0; i < n; ++i) y[i] = 0.5f * x[i] * (1 + std::erf(x[i] * 0.70710678f));
  });
  memory::desc type({n}, f32, Tag::a);
  dnnl::eltwise_forward::primitive_desc chosen(
      {dnnl::prop_kind::forward_inference, dnnl::algorithm::eltwise_gelu_erf, type, 0, 0}, engine());
  offer("onednn", z, n, [=, run = dnnl::eltwise_forward(chosen), in = over(type, x), out = over(type, z)] {
    execute(run, {{DNNL_ARG_SRC, in}, {DNNL_ARG_DST, out}});
  });
}

inline void sum(const std::vector<long>& size) {
  const long n = size[0];
  float *x = peers::filled(n, 1), *y = peers::zeros(1), *z = peers::zeros(1);
  for (long i = 0; i < n; ++i) x[i] += 0.5f;
  offer("loop", y, 1, [=] { *y = total_of(x, n); });
  if (n % 8192) return;
  memory::desc from({8192, n / 8192}, f32, Tag::ab), to({1, 1}, f32, Tag::ab);
  dnnl::reduction::primitive_desc chosen({dnnl::algorithm::reduction_sum, from, to, 0, 0}, engine());
  offer("onednn", z, 1, [=, run = dnnl::reduction(chosen), in = over(from, x), out = over(to, z)] {
    execute(run, {{DNNL_ARG_SRC, in}, {DNNL_ARG_DST, out}});
  });
}

// rows x columns, along the columns
inline void softmax(const std::vector<long>& size) {
  const long rows = size[0], n = size[1];
  const auto cells = static_cast<std::size_t>(rows * n);
  float *x = peers::filled(cells, 1), *y = peers::zeros(cells), *z = peers::zeros(cells);
  offer("loop", y, cells, [=] {
#pragma omp parallel for
    for (long r = 0; r < rows; ++r) {
      const float* in = x + r * n;
      float *out = y + r * n, greatest = in[0], total = 0;
      for (long i = 0; i < n; ++i) greatest = std::max(greatest, in[i]);
      for (long i = 0; i < n; ++i) total += out[i] = std::exp(in[i] - greatest);
      for (long i = 0; i < n; ++i) out[i] /= total;
    }
  });
  memory::desc type({rows, n}, f32, Tag::ab);
  dnnl::softmax_forward::primitive_desc chosen({dnnl::prop_kind::forward_inference, type, 1}, engine());
  offer("onednn", z, cells, [=, run = dnnl::softmax_forward(chosen), in = over(type, x), out = over(type, z)] {
    execute(run, {{DNNL_ARG_SRC, in}, {DNNL_ARG_DST, out}});
  });
}

// rows x columns; gain and offset by column; eps 1e-5
inline void layernorm(const std::vector<long>& size) {
  const long rows = size[0], n = size[1];
  const auto cells = static_cast<std::size_t>(rows * n);
  float *x = peers::filled(cells, 1), *gain = peers::filled(n, 2), *offset = peers::filled(n, 3);
  float *y = peers::zeros(cells), *z = peers::zeros(cells);
  offer("loop", y, cells, [=] {
#pragma omp parallel for
    for (long r = 0; r < rows; ++r) {
      const float* in = x + r * n;
      float *out = y + r * n, mean = 0, variance = 0;
      for (long i = 0; i < n; ++i) mean += in[i];
      mean /= static_cast<float>(n);
      for (long i = 0; i < n; ++i) variance += (in[i] - mean) * (in[i] - mean);
      float scale = 1 / std::sqrt(variance / static_cast<float>(n) + 1e-5f);
      for (long i = 0; i < n; ++i) out[i] = (in[i] - mean) * scale * gain[i] + offset[i];
    }
  });
  using dnnl::layer_normalization_forward;
  memory::desc type({rows, n}, f32, Tag::ab), column({n}, f32, Tag::a);
  layer_normalization_forward::primitive_desc chosen(
      {dnnl::prop_kind::forward_inference, type, 1e-5f,
       dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift},
      engine());
  offer("onednn", z, cells,
        [=, run = layer_normalization_forward(chosen), in = over(type, x), out = over(type, z), g = over(column, gain),
         b = over(column, offset)] {
          execute(run, {{DNNL_ARG_SRC, in}, {DNNL_ARG_DST, out}, {DNNL_ARG_SCALE, g}, {DNNL_ARG_SHIFT, b}});
        });
}

// rows x columns; gain by column; eps 1e-5
inline void rmsnorm(const std::vector<long>& size) {
  const long rows = size[0], n = size[1];
  const auto cells = static_cast<std::size_t>(rows * n);
  float *x = peers::filled(cells, 1), *gain = peers::filled(n, 2), *y = peers::zeros(cells);
  offer("loop", y, cells, [=] {
#pragma omp parallel for
    for (long r = 0; r < rows; ++r) {
      const float* in = x + r * n;
      float *out = y + r * n, energy = 0;
      for (long i = 0; i < n; ++i) energy += in[i] * in[i];
      const float scale = 1 / std::sqrt(energy / static_cast<float>(n) + 1e-5f);
      for (long i = 0; i < n; ++i) out[i] = in[i] * scale * gain[i];
    }
  });
}

// images x channels x rows x columns; gain and offset by channel; y = max(gain x + offset, 0)
inline void scaled_images(const std::vector<long>& size) {
  const long channels = size[1], n = size[2] * size[3], planes = size[0] * channels;
  const auto cells = static_cast<std::size_t>(planes * n);
  float *x = peers::filled(cells, 1), *gain = peers::filled(channels, 2), *offset = peers::filled(channels, 3),
        *y = peers::zeros(cells);
  offer("loop", y, cells, [=] {
#pragma omp parallel for
    for (long p = 0; p < planes; ++p) {
      const float *in = x + p * n, a = gain[p % channels], b = offset[p % channels];
      float* out = y + p * n;
      for (long i = 0; i < n; ++i) out[i] = std::max(a * in[i] + b, 0.0f);
    }
  });
}

// rows x columns, few columns; y = x + bias by column
inline void narrow_bias(const std::vector<long>& size) {
  const long rows = size[0], n = size[1];
  const auto cells = static_cast<std::size_t>(rows * n);
  float *x = peers::filled(cells, 1), *bias = peers::filled(n, 2), *y = peers::zeros(cells);
  offer("loop", y, cells, [=] {
#pragma omp parallel for
    for (long r = 0; r < rows; ++r)
      for (long i = 0; i < n; ++i) y[r * n + i] = x[r * n + i] + bias[i];
  });
}

// rows x columns, few columns; y = 2 x + 1
inline void narrow_affine(const std::vector<long>& size) {
  const long rows = size[0], n = size[1];
  const auto cells = static_cast<std::size_t>(rows * n);
  float *x = peers::filled(cells, 1), *y = peers::zeros(cells);
  offer("loop", y, cells, [=] {
#pragma omp parallel for
    for (std::size_t i = 0; i < cells; ++i) y[i] = 2 * x[i] + 1;
  });
}

// y[j] = sum over i of x[i, j]
inline void column_sums(const std::vector<long>& size) {
  const long rows = size[0], n = size[1];
  float *x = peers::filled(rows * n, 1), *y = peers::zeros(n);
  offer("loop", y, n, [=] {
#pragma omp parallel
    {
      const long threads = omp_get_num_threads(), t = omp_get_thread_num();
      const long lo = n * t / threads, hi = n * (t + 1) / threads;
      for (long j = lo; j < hi; ++j) y[j] = 0;
      for (long i = 0; i < rows; ++i)
        for (long j = lo; j < hi; ++j) y[j] += x[i * n + j];
    }
  });
}

}  // namespace rivals
