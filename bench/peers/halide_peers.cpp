// Halide 14, compiled in this process, with hand-written schedules: halide_peers WORKLOAD SIZE THREADS. The number of
// threads is HL_NUM_THREADS. Sizes that a schedule's tiles do not divide are not offered.
#include <halide14/Halide.h>

#include <algorithm>
#include <map>

#include "bench/peers/protocol.h"

namespace {

using namespace Halide;

std::vector<peers::Peer> offered;
void offer(Func f, Buffer<float> out) {
  Pipeline pipeline(f);
  pipeline.compile_jit(get_host_target());
  offered.push_back({"halide", [=]() mutable { pipeline.realize(out); },
                     [=] { return std::pair<const float*, std::size_t>(out.data(), out.number_of_elements()); }});
}
Buffer<float> input(std::size_t count, std::uint32_t seed, std::vector<int> extents) {
  return Buffer<float>(peers::filled(count, seed), extents);
}
Buffer<float> output(std::size_t count, std::vector<int> extents) {
  return Buffer<float>(peers::zeros(count), extents);
}

void matmul(const std::vector<long>& size) {
  const int m = size[0], n = size[1], k = size[2];
  if (m % 32 || n % 64 || k % 2) return;
  auto a = input(size_t(m) * k, 1, {k, m}), b = input(size_t(k) * n, 2, {n, k}), c = output(size_t(m) * n, {n, m});
  Var column, row, inner, block, in_block, tile;
  Func products, result;
  RDom along(0, k);
  products(column, row) += a(along, row) * b(column, along);
  result(column, row) = products(column, row);
  result.bound(column, 0, n).bound(row, 0, m);
  result.tile(column, row, inner, block, 64, 32).fuse(column, row, tile).parallel(tile);
  result.split(block, block, in_block, 4).vectorize(inner, 16).unroll(inner).unroll(in_block);
  products.compute_at(result, block).vectorize(column, 16).unroll(row);
  products.update().reorder(column, row, along).vectorize(column, 16).unroll(column).unroll(row).unroll(along, 2);
  offer(result, c);
}

void elementwise(const std::vector<long>& size) {
  const int n = size[0];
  auto x = input(n, 1, {n}), y = output(n, {n});
  Var i, block;
  Func f;
  f(i) = 2.0f * max(1.5f * x(i) + 0.25f, 0.0f);
  f.bound(i, 0, n).split(i, block, i, std::min(n, 65536)).parallel(block).vectorize(i, 16).unroll(i, 4);
  offer(f, y);
}

// Sixteen lanes of sums over blocks of 65536 cells, then across. Other sizes are not offered.
void sum(const std::vector<long>& size) {
  if (size[0] % 65536 != 0) return;
  const int blocks = size[0] / 65536;
  float* cells = peers::filled(size[0], 1);
  for (long i = 0; i < size[0]; ++i) cells[i] += 0.5f;
  Buffer<float> x(cells, std::vector<int>{16, 4096, blocks}), y = output(1, {1});
  Var lane, block, at;
  Func lanes, partial, total;
  RDom along(0, 4096), across(0, 16), all(0, blocks);
  lanes(lane, block) += x(lane, along, block);
  partial(block) += lanes(across, block);
  total(at) += partial(all);
  lanes.compute_at(partial, block).vectorize(lane, 16);
  lanes.update().reorder(lane, along).vectorize(lane, 16).unroll(along, 8);
  partial.compute_root().parallel(block).update().parallel(block);
  offer(total, y);
}

void softmax(const std::vector<long>& size) {
  const int rows = size[0], n = size[1];
  if (n % 64) return;
  auto x = input(size_t(rows) * n, 1, {n, rows}), y = output(size_t(rows) * n, {n, rows});
  Var i, r, lane;
  Func most, greatest, power, sums, total, result;
  RDom along(0, n / 16), across(0, 16);
  most(lane, r) = Float(32).min();
  most(lane, r) = max(most(lane, r), x(along * 16 + lane, r));
  greatest(r) = maximum(most(across, r));
  power(i, r) = fast_exp(x(i, r) - greatest(r));
  sums(lane, r) += power(along * 16 + lane, r);
  total(r) = Halide::sum(sums(across, r));
  result(i, r) = power(i, r) * (1.0f / total(r));
  result.bound(i, 0, n).bound(r, 0, rows).parallel(r, 16).vectorize(i, 16);
  power.compute_at(result, r).vectorize(i, 16);
  greatest.compute_at(result, r);
  total.compute_at(result, r);
  for (Func* f : {&most, &sums}) {
    f->compute_at(result, r).vectorize(lane, 16);
    f->update().reorder(lane, along).vectorize(lane, 16).unroll(along, 4);
  }
  offer(result, y);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::map<std::string, void (*)(const std::vector<long>&)> workloads{
      {"matmul", matmul}, {"elementwise", elementwise}, {"sum", sum}, {"softmax", softmax}};
  auto found = workloads.find(argv[1]);
  if (found != workloads.end()) found->second(peers::extents(argv[2]));
  return peers::serve(offered);
}
