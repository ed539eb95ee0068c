// Rivals with a C++ interface: OpenBLAS, oneDNN 2, and plain loops that g++ vectorises.
//
//   native_peers matmul 256x256x256 1 openblas        one library a process where its settings come from the environment
#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include <dnnl.hpp>
#include "bench/peers/protocol.h"

namespace {

using dnnl::memory;
using Tag = memory::format_tag;
constexpr auto f32 = memory::data_type::f32;

std::vector<peers::Peer> offered;
void offer(const char* name, const float* result, std::size_t count, std::function<void()> call) {
  offered.push_back({name, std::move(call), [=] { return std::pair(result, count); }});
}

dnnl::engine& engine() {
  static dnnl::engine one(dnnl::engine::kind::cpu, 0);
  return one;
}
dnnl::stream& stream() {
  static dnnl::stream one(engine());
  return one;
}
memory over(const memory::desc& type, const float* cells) { return memory(type, engine(), const_cast<float*>(cells)); }
void execute(const dnnl::primitive& primitive, const std::unordered_map<int, memory>& arguments) {
  primitive.execute(stream(), arguments);
  stream().wait();
}
// The same cells in the layout that a primitive requests; the same memory where it is that one already.
memory laid_out(memory from, const memory::desc& target) {
  if (from.get_desc() == target) return from;
  memory to(target, engine());
  dnnl::reorder(from, to).execute(stream(), from, to);
  stream().wait();
  return to;
}

void product(long m, long n, long k, const float* a, const float* b, float* c) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k),
              1, a, static_cast<int>(k), b, static_cast<int>(n), 0, c, static_cast<int>(n));
}

// M x N x K, all row-major.
void matmul(const std::vector<long>& size) {
  const long m = size[0], n = size[1], k = size[2];
  const auto cells = static_cast<std::size_t>(m * n);
  float *a = peers::filled(m * k, 1), *b = peers::filled(k * n, 2);
  float* c = peers::zeros(cells);
  offer("openblas", c, cells, [=] { product(m, n, k, a, b, c); });
  float* d = peers::zeros(cells);
  offer("onednn", d, cells, [=] { dnnl_sgemm('N', 'N', m, n, k, 1, a, k, b, n, 0, d, n); });
}

// N x C x H x W x O, 3x3 windows, stride 1, padding 1, NCHW in and out: layouts of oneDNN's own are reached by reorders
// that are timed; the weights' is not.
void conv(const std::vector<long>& size) {
  const long n = size[0], c = size[1], h = size[2], w = size[3], o = size[4];
  const auto cells = static_cast<std::size_t>(n * o * h * w);
  float *x = peers::filled(n * c * h * w, 1), *k = peers::filled(o * c * 9, 2);
  memory::desc source({n, c, h, w}, f32, Tag::nchw), weights({o, c, 3, 3}, f32, Tag::oihw),
      result({n, o, h, w}, f32, Tag::nchw);
  auto make = [&](const char* name, Tag inner) {
    using dnnl::convolution_forward;
    memory::desc s({n, c, h, w}, f32, inner), r({n, o, h, w}, f32, inner), any({o, c, 3, 3}, f32, Tag::any);
    convolution_forward::primitive_desc chosen(
        {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, s, any, r, {1, 1}, {1, 1}, {1, 1}},
        engine());
    float* y = peers::zeros(cells);
    memory given = over(source, x), output = over(result, y);
    memory own = laid_out(over(weights, k), chosen.weights_desc());
    bool reorder_in = chosen.src_desc() != source, reorder_out = chosen.dst_desc() != result;
    memory in = reorder_in ? memory(chosen.src_desc(), engine()) : given;
    memory out = reorder_out ? memory(chosen.dst_desc(), engine()) : output;
    dnnl::reorder before(given, in), after(out, output);
    offer(name, y, cells, [=, run = convolution_forward(chosen)] {
      if (reorder_in) execute(before, {{DNNL_ARG_FROM, given}, {DNNL_ARG_TO, in}});
      execute(run, {{DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, own}, {DNNL_ARG_DST, out}});
      if (reorder_out) execute(after, {{DNNL_ARG_FROM, out}, {DNNL_ARG_TO, output}});
    });
  };
  make("onednn_plain", Tag::nchw);
  make("onednn", Tag::any);
}

// y = 2 max(1.5 x + 0.25, 0)
void elementwise(const std::vector<long>& size) {
  const long n = size[0];
  float *x = peers::filled(n, 1), *y = peers::zeros(n);
  offer("loop", y, n, [=] {
#pragma omp parallel for simd
    for (long i = 0; i < n; ++i) y[i] = 2 * std::max(1.5f * x[i] + 0.25f, 0.0f);
  });
}

// x / 2 · (1 + erf(x / √2))
void gelu(const std::vector<long>& size) {
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

void sum(const std::vector<long>& size) {
  const long n = size[0];
  float *x = peers::filled(n, 1), *y = peers::zeros(1), *z = peers::zeros(1);
  for (long i = 0; i < n; ++i) x[i] += 0.5f;
  offer("loop", y, 1, [=] {
    float total = 0;
#pragma omp parallel for simd reduction(+ : total)
    for (long i = 0; i < n; ++i) total += x[i];
    *y = total;
  });
  memory::desc from({8192, n / 8192}, f32, Tag::ab), to({1, 1}, f32, Tag::ab);
  dnnl::reduction::primitive_desc chosen({dnnl::algorithm::reduction_sum, from, to, 0, 0}, engine());
  offer("onednn", z, 1, [=, run = dnnl::reduction(chosen), in = over(from, x), out = over(to, z)] {
    execute(run, {{DNNL_ARG_SRC, in}, {DNNL_ARG_DST, out}});
  });
}

// rows x columns, along the columns
void softmax(const std::vector<long>& size) {
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
void layernorm(const std::vector<long>& size) {
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

// heads x length x depth: a block of rows of the scores at a time, which stays in the cache, by OpenBLAS
void attention(const std::vector<long>& size) {
  const long heads = size[0], n = size[1], d = size[2], block = std::min(128L, n);
  const auto cells = static_cast<std::size_t>(heads * n * d);
  float *q = peers::filled(cells, 1), *k = peers::filled(cells, 2), *v = peers::filled(cells, 3);
  float *y = peers::zeros(cells), *scores = peers::zeros(block * n);
  const float scale = 1 / std::sqrt(static_cast<float>(d));
  offer("openblas", y, cells, [=] {
    for (long h = 0; h < heads; ++h)
      for (long first = 0; first < n; first += block) {
        const long rows = std::min(block, n - first), at = (h * n + first) * d;
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, n, d, scale, q + at, d, k + h * n * d, d, 0, scores,
                    n);
        for (long r = 0; r < rows; ++r) {
          float *row = scores + r * n, greatest = row[0], total = 0;
          for (long i = 0; i < n; ++i) greatest = std::max(greatest, row[i]);
          for (long i = 0; i < n; ++i) total += row[i] = std::exp(row[i] - greatest);
          for (long i = 0; i < n; ++i) row[i] /= total;
        }
        product(rows, d, n, scores, v + h * n * d, y + at);
      }
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::map<std::string, void (*)(const std::vector<long>&)> workloads{
      {"matmul", matmul}, {"conv", conv},       {"elementwise", elementwise}, {"gelu", gelu},
      {"sum", sum},       {"softmax", softmax}, {"layernorm", layernorm},     {"attention", attention}};
  const int threads = std::atoi(argv[3]);
  omp_set_num_threads(threads);
  openblas_set_num_threads(threads);
  auto found = workloads.find(argv[1]);
  if (found != workloads.end()) found->second(peers::extents(argv[2]));
  if (argc > 4) std::erase_if(offered, [&](const peers::Peer& peer) { return peer.name != argv[4]; });
  return peers::serve(offered);
}
