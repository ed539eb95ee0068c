// Convolutions by oneDNN, NCHW in and out: layouts of oneDNN's own are reached by reorders that are timed; the weights' is not.
#pragma once

#include "bench/peers/native/rival.h"

namespace rivals {

struct Convolution {
  long n, c, h, w, o, window, stride, groups;
  long pad() const { return window / 2; }
  long rows() const { return (h + 2 * pad() - window) / stride + 1; }
  long columns() const { return (w + 2 * pad() - window) / stride + 1; }
};

inline void convolution(const Convolution& v) {
  using dnnl::convolution_forward;
  const auto cells = static_cast<std::size_t>(v.n * v.o * v.rows() * v.columns());
  const long count = v.o * (v.c / v.groups) * v.window * v.window;
  float *x = peers::filled(v.n * v.c * v.h * v.w, 1), *k = peers::filled(count, 2);
  memory::desc source({v.n, v.c, v.h, v.w}, f32, Tag::nchw), result({v.n, v.o, v.rows(), v.columns()}, f32, Tag::nchw);
  memory::dims grouped{v.groups, v.o / v.groups, v.c / v.groups, v.window, v.window};
  memory::dims whole{v.o, v.c, v.window, v.window};
  memory::desc weights = v.groups > 1 ? memory::desc(grouped, f32, Tag::goihw) : memory::desc(whole, f32, Tag::oihw);
  auto make = [&](const char* name, Tag inner, dnnl::algorithm by) {
    memory::desc s({v.n, v.c, v.h, v.w}, f32, inner), r({v.n, v.o, v.rows(), v.columns()}, f32, inner);
    memory::desc any(v.groups > 1 ? grouped : whole, f32, Tag::any);
    convolution_forward::primitive_desc chosen;
    try {
      chosen = {{dnnl::prop_kind::forward_inference,
                 by,
                 s,
                 any,
                 r,
                 {v.stride, v.stride},
                 {v.pad(), v.pad()},
                 {v.pad(), v.pad()}},
                engine()};
    } catch (const dnnl::error&) { return; }  // not for this processor
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
  make("onednn_plain", Tag::nchw, dnnl::algorithm::convolution_direct);
  make("onednn", Tag::any, dnnl::algorithm::convolution_direct);
}

// N x C x H x W x O
inline void conv(const std::vector<long>& s) { convolution({s[0], s[1], s[2], s[3], s[4], 3, 1, 1}); }
inline void conv_1x1(const std::vector<long>& s) { convolution({s[0], s[1], s[2], s[3], s[4], 1, 1, 1}); }
inline void conv_7x7(const std::vector<long>& s) { convolution({s[0], s[1], s[2], s[3], s[4], 7, 2, 1}); }
// N x C x H x W
inline void depthwise(const std::vector<long>& s) { convolution({s[0], s[1], s[2], s[3], s[1], 3, 1, s[1]}); }

}  // namespace rivals
