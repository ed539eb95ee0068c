// Products of matrices: OpenBLAS, oneDNN, LIBXSMM for small ones, loops.
#pragma once

#include <cblas.h>
#include <libxsmm.h>

#include "bench/peers/native/rival.h"

namespace rivals {

inline void product(long m, long n, long k, const float* a, const float* b, float* c) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k),
              1, a, static_cast<int>(k), b, static_cast<int>(n), 0, c, static_cast<int>(n));
}

// relu?(from * weights + bias?), with weights in the layout that oneDNN prefers.
inline std::function<void()> dense(long m, long n, long k, const float* from, const float* weights, const float* bias,
                                   float* to) {
  using dnnl::matmul;
  memory::desc s({m, k}, f32, Tag::ab), any({k, n}, f32, Tag::any), b({1, n}, f32, Tag::ab), d({m, n}, f32, Tag::ab);
  dnnl::primitive_attr attributes;
  if (bias) {
    dnnl::post_ops after;
    after.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
    attributes.set_post_ops(after);
  }
  auto chosen = bias ? matmul::primitive_desc(matmul::desc(s, any, b, d), attributes, engine())
                     : matmul::primitive_desc(matmul::desc(s, any, d), attributes, engine());
  std::unordered_map<int, memory> arguments{
      {DNNL_ARG_SRC, over(s, from)},
      {DNNL_ARG_DST, over(d, to)},
      {DNNL_ARG_WEIGHTS, laid_out(over(memory::desc({k, n}, f32, Tag::ab), weights), chosen.weights_desc())}};
  if (bias) arguments[DNNL_ARG_BIAS] = over(b, bias);
  return [run = matmul(chosen), arguments] { execute(run, arguments); };
}

// M x N x K, all row-major.
inline void matmul(const std::vector<long>& size) {
  const long m = size[0], n = size[1], k = size[2];
  const auto cells = static_cast<std::size_t>(m * n);
  float *a = peers::filled(m * k, 1), *b = peers::filled(k * n, 2);
  float* c = peers::zeros(cells);
  offer("openblas", c, cells, [=] { product(m, n, k, a, b, c); });
  float* d = peers::zeros(cells);
  offer("onednn", d, cells, [=] { dnnl_sgemm('N', 'N', m, n, k, 1, a, k, b, n, 0, d, n); });
}

// The same with a constant right operand.
inline void matmul_const(const std::vector<long>& size) {
  matmul(size);
  const long m = size[0], n = size[1], k = size[2];
  const auto cells = static_cast<std::size_t>(m * n);
  float *a = peers::filled(m * k, 1), *b = peers::filled(k * n, 2), *c = peers::zeros(cells);
  offer("onednn_prepacked", c, cells, dense(m, n, k, a, b, nullptr, c));
}

// B products of M x N x K.
inline void batched(const std::vector<long>& size) {
  const long count = size[0], m = size[1], n = size[2], k = size[3];
  const auto cells = static_cast<std::size_t>(count * m * n);
  float *a = peers::filled(count * m * k, 1), *b = peers::filled(count * k * n, 2);
  float *c = peers::zeros(cells), *d = peers::zeros(cells);
  offer("openblas", c, cells, [=] {
#pragma omp parallel for
    for (long i = 0; i < count; ++i) product(m, n, k, a + i * m * k, b + i * k * n, c + i * m * n);
  });
  const float one = 1, zero = 0;
  const int flags = 0;
  // LIBXSMM is column-major: C' = B' A'.
  auto kernel = libxsmm_smmdispatch(static_cast<int>(n), static_cast<int>(m), static_cast<int>(k), nullptr, nullptr,
                                    nullptr, &one, &zero, &flags, nullptr);
  if (!kernel) return;
  offer("libxsmm", d, cells, [=] {
#pragma omp parallel for
    for (long i = 0; i < count; ++i) kernel(b + i * k * n, a + i * m * k, d + i * m * n);
  });
}

// batch x inputs x hidden x outputs, with biases and relu after both layers
inline void mlp(const std::vector<long>& size) {
  const long batch = size[0], in = size[1], hidden = size[2], out = size[3];
  const auto cells = static_cast<std::size_t>(batch * out);
  float *x = peers::filled(batch * in, 1), *w1 = peers::filled(in * hidden, 2), *b1 = peers::filled(hidden, 3);
  float *w2 = peers::filled(hidden * out, 4), *b2 = peers::filled(out, 5);
  float *h = peers::zeros(batch * hidden), *y = peers::zeros(cells);
  auto first = dense(batch, hidden, in, x, w1, b1, h), second = dense(batch, out, hidden, h, w2, b2, y);
  offer("onednn", y, cells, [=] {
    first();
    second();
  });
}

// C[i, j] = min over k of A[i, k] + B[k, j]
inline void minplus(const std::vector<long>& size) {
  const long m = size[0], n = size[1], depth = size[2];
  const auto cells = static_cast<std::size_t>(m * n);
  float *a = peers::filled(m * depth, 1), *b = peers::filled(depth * n, 2), *c = peers::zeros(cells);
  offer("loop", c, cells, [=] {
#pragma omp parallel for
    for (long i = 0; i < m; ++i) {
      float* to = c + i * n;
      std::fill(to, to + n, INFINITY);
      for (long k = 0; k < depth; ++k) {
        const float add = a[i * depth + k], *from = b + k * n;
        for (long j = 0; j < n; ++j) to[j] = std::min(to[j], add + from[j]);
      }
    }
  });
}

// heads x length x depth: a block of rows of the scores at a time, which stays in the cache, by OpenBLAS
inline void attention_of(const std::vector<long>& size, bool causal) {
  const long heads = size[0], n = size[1], d = size[2], block = std::min(128L, n);
  const auto cells = static_cast<std::size_t>(heads * n * d);
  float *q = peers::filled(cells, 1), *k = peers::filled(cells, 2), *v = peers::filled(cells, 3);
  float *y = peers::zeros(cells), *scores = peers::zeros(block * n);
  const float scale = 1 / std::sqrt(static_cast<float>(d));
  offer("openblas", y, cells, [=] {
    for (long h = 0; h < heads; ++h)
      for (long first = 0; first < n; first += block) {
        const long rows = std::min(block, n - first), at = (h * n + first) * d;
        const long keys = causal ? first + rows : n;
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, keys, d, scale, q + at, d, k + h * n * d, d, 0,
                    scores, keys);
        for (long r = 0; r < rows; ++r) {
          float *row = scores + r * keys, greatest = row[0], total = 0;
          const long visible = causal ? first + r + 1 : n;
          for (long i = 0; i < visible; ++i) greatest = std::max(greatest, row[i]);
          for (long i = 0; i < visible; ++i) total += row[i] = std::exp(row[i] - greatest);
          for (long i = 0; i < visible; ++i) row[i] /= total;
          std::fill(row + visible, row + keys, 0.0f);
        }
        product(rows, d, keys, scores, v + h * n * d, y + at);
      }
  });
}

inline void attention(const std::vector<long>& size) { attention_of(size, false); }
inline void attention_causal(const std::vector<long>& size) { attention_of(size, true); }

}  // namespace rivals
