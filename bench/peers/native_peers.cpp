// Rivals with a C++ interface: OpenBLAS, oneDNN 2, LIBXSMM, and plain loops that g++ vectorises.
//
//   native_peers matmul 256x256x256 1 openblas        one library a process where its settings come from the environment
#include <omp.h>

#include <map>

#include "bench/peers/native/convolutions.h"
#include "bench/peers/native/loops.h"
#include "bench/peers/native/maps.h"
#include "bench/peers/native/products.h"

int main(int argc, char** argv) {
  using namespace rivals;
  if (argc < 4) return 2;
  const std::map<std::string, void (*)(const std::vector<long>&)> workloads{
      {"matmul", matmul},
      {"matmul_const", matmul_const},
      {"batched", batched},
      {"mlp", mlp},
      {"minplus", minplus},
      {"attention", attention},
      {"attention_causal", attention_causal},
      {"conv", conv},
      {"conv_1x1", conv_1x1},
      {"conv_7x7", conv_7x7},
      {"depthwise", depthwise},
      {"elementwise", elementwise},
      {"gelu", gelu},
      {"sum", sum},
      {"softmax", softmax},
      {"layernorm", layernorm},
      {"rmsnorm", rmsnorm},
      {"scaled_images", scaled_images},
      {"narrow_bias", narrow_bias},
      {"narrow_affine", narrow_affine},
      {"column_sums", column_sums},
      {"cumsum_rows", cumsum_rows},
      {"cumsum_columns", cumsum_columns},
      {"transpose", transpose},
      {"box3x3", box3x3},
      {"max_pool", max_pool},
      {"magnitudes", magnitudes},
      {"stencil27", stencil27},
      {"jacobi", jacobi},
      {"limits", limits},
  };
  const int threads = std::atoi(argv[3]);
  omp_set_num_threads(threads);
  openblas_set_num_threads(threads);
  auto found = workloads.find(argv[1]);
  if (found != workloads.end()) found->second(peers::extents(argv[2]));
  if (argc > 4) std::erase_if(offered, [&](const peers::Peer& peer) { return peer.name != argv[4]; });
  return peers::serve(offered);
}
