// Random programs of 3 to 8 operations on matrices, and small meshes, for searches.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "ir/shardings/sharding.h"

namespace tap::cost {

// Products, maps, transpositions, reductions of rows, halos and reversals of n x n matrices: m0 and m1 are inputs.
inline std::string random_program(std::mt19937& random) {
  const int n = std::array{32, 240, 1024}[random() % 3];
  std::vector<std::string> matrices = {"m0", "m1"}, rows, names;
  std::string lines;
  auto matrix = [&] { return matrices[matrices.size() - 1 - random() % std::min<std::size_t>(matrices.size(), 3)]; };
  const std::size_t operations = 3 + random() % 6;
  for (std::size_t k = 0; k < operations; ++k) {
    const std::string a = matrix(), b = matrix();
    const std::size_t form = random() % (rows.empty() ? 7 : 8);
    const std::string name = fmt::format("{}{}", form == 6 ? "r" : "m", k + 2);
    names.push_back(name);
    if (form == 6) {
      lines += fmt::format("    {}[i] = max[j] {}[i, j]\n", name, a);
      rows.push_back(name);
      continue;
    }
    const std::string cell = form == 0   ? fmt::format("sum[k] {}[i, k] * {}[k, j]", a, b)
                             : form == 1 ? fmt::format("sum[k] {}[k, i] * {}[k, j]", a, b)
                             : form == 2 ? fmt::format("{}[i, j] + {}[i, j]", a, b)
                             : form == 3 ? fmt::format("{}[i, j] - {}[j, i]", a, b)
                             : form == 4 ? fmt::format("{0}[i, j] + {0}[i - 1, j else 0]", a)
                             : form == 5 ? fmt::format("{}[{} - i, j] * {}[i, j]", a, n - 1, b)
                                         : fmt::format("{}[i, j] * {}[i]", a, rows.back());
    lines += fmt::format("    {}[i, j] = {} for i in 0..{}, j in 0..{}\n", name, cell, n, n);
    matrices.push_back(name);
  }
  // Results: what nothing reads.
  std::string results;
  for (const std::string& name : names)
    if (lines.find(name + "[", lines.find(name + "[") + 1) == std::string::npos)
      results += fmt::format("{}{}: f32[{}]", results.empty() ? "" : ", ", name,
                             name[0] == 'r' ? fmt::to_string(n) : fmt::format("{0}, {0}", n));
  return fmt::format("program p(m0: f32[{0}, {0}], m1: f32[{0}, {0}]) -> ({1}) {{\n{2}}}\n", n, results, lines);
}

inline std::vector<ir::MeshAxis> random_axes(std::mt19937& random) {
  return std::array<std::vector<ir::MeshAxis>, 3>{{{{"x", 2}}, {{"x", 4}}, {{"x", 2}, {"y", 2}}}}[random() % 3];
}

}  // namespace tap::cost
