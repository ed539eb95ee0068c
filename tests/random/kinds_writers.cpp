// Values that several equations write, in regions that are no boxes and by reductions beside maps; and what is stored in a
// narrower type than it is computed in.
#include <algorithm>

#include "tests/random/generator.h"

namespace tap::random {
namespace {

// Y[i, j] = x[i, j] for j in 0..i + 1        Y[i, j] = -x[i, j] for j in i + 1..n
// Not without rows: of a local that nothing writes, every axis has size 0.
void triangular_writers(Generator& g) {
  auto x = g.pick_if([](const Known& k) { return k.shape.size() == 2 && k.shape[0] > 0 && k.shape[0] <= k.shape[1]; });
  if (!x) return;
  const std::string name = g.fresh(), n = std::to_string(x->shape[1]);
  const std::string above = g.around(*x, at(*x, {"i", "j"}), {"i", "j"});
  if (g.choose(2)) {
    g.line(fmt::format("{}[i, j] = {}[i, j] for i in 0..{}, j in 0..i + 1", name, x->name, x->shape[0]));
    g.line(fmt::format("{}[i, j] = {} for i in 0..{}, j in i + 1..{}", name, above, x->shape[0], n));
  } else {
    g.line(fmt::format("{}[i, j] = {} for i in 0..{}, j in 0..i", name, above, x->shape[0]));
    g.line(fmt::format("{}[i, i] = {} for i in 0..{}", name, literal(*x, 3), x->shape[0]));
    g.line(fmt::format("{}[i, j] = {}[i, j] for i in 0..{}, j in i + 1..{}", name, x->name, x->shape[0], n));
  }
  g.define(name, x->type, x->shape, grown(*x));
}

// One triangle of a product, which is its own mirror image.
void triangular_product(Generator& g) {
  auto x = g.pick_if([](const Known& k) {
    return k.shape.size() == 2 && k.shape[0] > 0 && k.shape[0] * k.shape[0] * k.shape[1] <= most_points;
  });
  if (!x) return;
  const std::string name = g.fresh();
  g.line(fmt::format("{0}[i, j] = sum[k] {1}[i, k] * {1}[j, k] for i in 0..{2}, j in 0..i + 1", name, x->name,
                     x->shape[0]));
  g.line(fmt::format("{0}[i, j] = {3} for i in 0..{2}, j in i + 1..{2}", name, x->name, x->shape[0],
                     literal(*x, g.choose(3))));
  g.define(name, x->type, {x->shape[0], x->shape[0]});
}

// Y[2*i] = x[i, 0]        Y[2*i + 1] = sum[k] x[i, k]
void map_next_to_reduction(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size());
  if (i.size() < 2 || x.shape.back() == 0 || x.shape[0] == 0) return;
  Names first = i, left(i.begin(), i.end() - 1), to = left, other = left;
  first.back() = "0";
  const bool interleaved = g.choose(2);
  to[0] = interleaved ? "2*" + i[0] : i[0];
  other[0] = interleaved ? "2*" + i[0] + " + 1" : fmt::format("{} + {}", i[0], x.shape[0]);
  const std::string name = g.fresh();
  g.line(fmt::format("{}[{}] = {} for {} in 0..{}", name, joined(to), at(x, first), i[0], x.shape[0]));
  g.line(fmt::format("{}[{}] = {}[{}] {} for {} in 0..{}", name, joined(other), g.choose(2) ? "sum" : "max", i.back(),
                     at(x, i), i[0], x.shape[0]));
  Shape shape(x.shape.begin(), x.shape.end() - 1);
  shape[0] *= 2;
  g.define(name, x.type, shape);
}

// A sum of one point, of a read that may lie outside.
void one_point_reduction(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size()), from = i;
  if (i.empty()) return;
  const bool moves = g.choose(2);
  from[0] = shift(i[0], g.choose(3) - 1) + (moves ? " + u" : "");
  const std::string name = g.fresh(), fill = literal(x, g.choose(4));
  x.shape[0] += g.choose(3);
  g.line(fmt::format("{}[{}] = {}[u in 0..1] {}[{} else {}] for {} in 0..{}", name, joined(i),
                     g.choose(2) ? "sum" : "max", x.name, joined(from), fill, i[0], x.shape[0]));
  g.define(name, x.type, x.shape, x.bound + 4);
}

// Neighbours compared, in every direction.
void comparison(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size()), left = i, right = i;
  if (i.empty()) return;
  left[0] = i[0] + " - 1", right[0] = i[0] + " + 1";
  const char* directions[] = {"<", ">", "<=", ">=", "==", "!="};
  const std::string flags = g.fresh(), name = g.fresh(), index = joined(i);
  g.line(fmt::format("{}[{}] = {}[{} else {}] {} {}[{} else {}] for {} in 0..{}", flags, index, x.name, joined(left),
                     literal(x, 7), directions[g.choose(6)], x.name, joined(right), literal(x, 4), i[0], x.shape[0]));
  if (g.choose(2)) {
    g.result(flags, "bool", x.shape);
    return;
  }
  const std::string type = g.number_type();
  g.line(fmt::format("{}[{}] = {}({}[{}])", name, index, type, flags, index));
  g.define(name, type, x.shape, 1);
}

// Y: bf16[m, n] = sum[k] x[i, k] * w[k, j], with a vector and what is left of it in a row; read again as it was stored.
void stored_narrow(Generator& g) {
  auto x = g.pick_if([](const Known& k) { return k.shape.size() == 2 && k.shape[1] <= 33; });
  if (!x) return;
  static const std::int64_t columns[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33};
  const std::int64_t n = columns[g.choose(12)];
  if (x->shape[0] * n > most_cells || x->shape[0] * x->shape[1] * n > most_points) return;
  const Known w = g.input(x->type, {x->shape[1], n});
  const char* floats[] = {"bf16", "f16", "f32"};
  const char* integers[] = {"i8", "u8", "i16", "i32"};
  const char* wide = x->is_float() ? (x->type == "f64" ? "f64" : "f32") : (g.choose(2) ? "i32" : "i64");
  const std::string narrow = x->is_float() ? floats[g.choose(3)] : integers[g.choose(4)];
  const std::string name = g.fresh(), sums = g.fresh();
  g.line(fmt::format("{0}[i, j] = {1}(sum[k] {2}({3}[i, k]) * {2}({4}[k, j]))", name, narrow, wide, x->name, w.name));
  if (g.choose(2)) {
    g.line(fmt::format("{}[i] = sum[j] {}({}[i, j])", sums, wide, name));
    g.result(name, narrow, {x->shape[0], n});
    g.define(sums, wide, {x->shape[0]}, narrow == "f16" ? 1e9 : 1e8);
  } else {
    g.define(name, narrow, {x->shape[0], n});
  }
}

void no_number(Generator& g) {
  Known x = g.pick();
  if (!x.is_float()) return;
  Names i = indices(x.shape.size());
  const std::string name = g.fresh(), cell = at(x, i);
  const char* forms[] = {"if isnan({0}) then 3 else {0}", "if isinf({0}) then -2 else {0}",
                         "max(floor(1 / {0}), -4)",       "if {0} != {0} then {1}(1) else 0",
                         "min({0}, {1}.max) - 1",         "if isnan({0}) or isinf({0}) then 0 else {0}"};
  g.line(fmt::format("{}[{}] = {}", name, joined(i), fmt::format(fmt::runtime(forms[g.choose(6)]), cell, x.type)));
  g.define(name, x.type, x.shape);
}

void extreme(Generator& g) {
  Known x = g.pick();
  if (x.is_float()) return;
  Names i = indices(x.shape.size());
  const std::string name = g.fresh(), cell = at(x, i);
  const char* forms[] = {"{0} + {1}.max",
                         "{0} - {1}.min",
                         "{0} * {1}.max",
                         "max({0}, {1}.min)",
                         "abs({0} + {1}.min)",
                         "{0} / ({1}.max)",
                         "if {0} == {1}.min then {1}.max else {0}",
                         "bitnot({0})",
                         "shr({0}, 3)",
                         "{1}.min / ({0} * 2 + 1)",
                         "{1}.min % ({0} * 2 + 1)"};
  g.line(fmt::format("{}[{}] = {}", name, joined(i), fmt::format(fmt::runtime(forms[g.choose(11)]), cell, x.type)));
  g.define(name, x.type, x.shape);
}

// Sums inside an iterate; mostly a few turns, sometimes none.
void iterated_reduction(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size()), kept = i, over = i;
  if (i.empty() || element_count(x.shape) * (x.shape.back() + 1) > most_points) return;
  kept.pop_back(), over.back() = "k";
  const std::string name = g.fresh();
  g.line(fmt::format(
      "{} = iterate t in {}..{} (s = {}) {{ m[{}] = {}[k] s[{}]; r[{}] = max(min(s[{}] - m[{}] + {}(t), 8), 1); r }}",
      name, g.choose(2), g.choose(4), x.name, joined(kept), g.choose(2) ? "sum" : "min", joined(over), joined(i),
      joined(i), joined(kept), x.type));
  g.define(name, x.type, x.shape, std::max(x.bound, 8.0));
}

}  // namespace

std::span<const StatementKind> kinds_of_writers() {
  static constexpr StatementKind table[] = {
      {"triangular writers", triangular_writers},
      {"triangular writers", triangular_writers},
      {"triangular product", triangular_product},
      {"triangular product", triangular_product},
      {"map beside reduction", map_next_to_reduction},
      {"map beside reduction", map_next_to_reduction},
      {"reduction of one point", one_point_reduction},
      {"comparison of neighbours", comparison},
      {"comparison of neighbours", comparison},
      {"stored narrow", stored_narrow},
      {"stored narrow", stored_narrow},
      {"stored narrow", stored_narrow},
      {"no number", no_number},
      {"no number", no_number},
      {"extreme integers", extreme},
      {"extreme integers", extreme},
      {"iterate, reduction", iterated_reduction},
      {"iterate, reduction", iterated_reduction},
  };
  return table;
}

}  // namespace tap::random
