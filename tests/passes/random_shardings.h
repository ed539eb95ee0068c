// Small operations of every kind, and random shardings of all their tensors.
#pragma once

#include <random>
#include <string>

#include "ir/graph.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_names.h"

namespace tap::passes::test {

struct Sample {
  const char* name;
  const char* text;
};
constexpr Sample samples[] = {
    {"product", "program p(X: f32[6, 8], W: f32[8, 5]) -> (Y: f32[6, 5]) { Y[i, o] = sum[k] X[i, k] * W[k, o] }"},
    {"batched",
     "program p(X: f32[4, 6, 8], W: f32[4, 8, 5]) -> (Y: f32[4, 6, 5]) {\n"
     "  Y[b, i, o] = sum[k] X[b, i, k] * W[b, k, o] }"},
    {"reshape", "program p(X: f32[8, 6]) -> (Y: f32[4, 12]) { Y[i, 6*j + k] = X[2*i + j, k] for j in 0..2 }"},
    {"transpose", "program p(X: f32[8, 6, 4]) -> (Y: f32[4, 8, 6]) { Y[i, j, k] = X[j, k, i] }"},
    {"largest", "program p(X: f32[8, 6]) -> (Y: f32[6]) { Y[j] = max[i] X[i, j] }"},
    {"reverse", "program p(X: f32[8, 6]) -> (Y: f32[8, 6]) { Y[i, j] = X[7 - i, j] }"},
    {"row", "program p(X: f32[8, 6]) -> (Y: f32[6]) { Y[j] = X[3, j] }"},
    {"outer", "program p(X: f32[8], Z: f32[6]) -> (Y: f32[8, 6]) { Y[i, j] = X[i] * Z[j] }"},
    {"diagonal", "program p(X: f32[8, 8]) -> (Y: f32[8]) { Y[i] = X[i, i] }"},
    {"lookup", "program p(T: f32[8, 6], I: i64[12]) -> (Y: f32[12, 6]) { Y[n, d] = T[I[n], d] }"},
    {"convolution",
     "program p(X: f32[2, 3, 9], W: f32[4, 3, 2]) -> (Y: f32[2, 4, 8]) {\n"
     "  Y[b, o, x] = sum[c, u] X[b, c, x + u] * W[o, c, u] }"},
    {"repeat", "program p(X: f32[6]) -> (Y: f32[24]) { Y[4*i + r] = X[i] for r in 0..4 }"},
};

// Shards every value of the main graph by some axes of a mesh that it gives back, sub-axes and sizes that do not divide
// included.
inline ir::Mesh shard_at_random(ir::Program& program, std::mt19937& random) {
  auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const ir::Mesh meshes[] = {{"m", {{"a", 4}, {"b", 2}, {"c", 2}}, {}}, {"m", {{"a", 6}, {"b", 2}, {"c", 3}}, {}}};
  const ir::Mesh& mesh = meshes[below(2)];
  program.meshes = {mesh};
  for (ir::Value& value : program.graphs[program.main.index()].values) {
    value.sharding.reset();
    if (below(6) == 0) continue;
    ir::Sharding s{ir::MeshId(0), std::vector<ir::DimSharding>(value.type.shape.size()), {}, {}, ""};
    for (int tries = 0; tries < 4 && !s.dims.empty(); ++tries) {
      ir::AxisRef ref{ir::AxisId(below(3)), {}};
      if (mesh[ref.id].size % 4 == 0 && below(2)) ref.sub = ir::SubAxis{below(2) ? 1 : 2, 2};
      if (!overlap(mesh, used_axes(s), {ref})) s.dims[below(s.dims.size())].axes.push_back(ref);
    }
    value.sharding = canonical(mesh, s);
  }
  return mesh;
}

inline std::string written(const ir::Program& program) {
  std::string text;
  for (const ir::Value& value : program[program.main].values)
    text += "\n" + value.name + (value.sharding ? " @ " + to_string(program.meshes, *value.sharding) : "");
  return text;
}

}  // namespace tap::passes::test
