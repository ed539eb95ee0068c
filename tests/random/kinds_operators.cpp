// Calls of the standard operators, and of operators over packs.
#include <algorithm>

#include "tests/random/generator.h"

namespace tap::random {
namespace {

// What a call needs of its argument x, and what it makes of its shape. {0}: x, {1}: a number below the rank, {2}: its type.
struct Callee {
  const char* text;
  std::size_t least_rank, greatest_rank;
  enum Keeps { same, axis_removed, axis_to_one, axis_doubled, axis_extended, swapped, flat, front_removed, none } keeps;
  enum Result { of_x, index, truth } result = of_x;
  double growth = 1;  // of the bound; 0: as large as it likes
  enum Needs { any, floating, integer, filled } needs = any;
};

constexpr Callee callees[] = {
    {"relu({0})", 0, 9, Callee::same},
    {"relu6({0})", 0, 9, Callee::same},
    {"hard_tanh({0})", 0, 9, Callee::same, Callee::of_x, 1, Callee::floating},
    {"clip<-3.0, 5.0>({0})", 0, 9, Callee::same, Callee::of_x, 1, Callee::floating},
    {"neg({0})", 0, 9, Callee::same},
    {"square({0})", 0, 9, Callee::same, Callee::of_x, 0},
    {"ones_like({0})", 0, 9, Callee::same},
    {"maximum({0}, {0})", 0, 9, Callee::same},
    {"squared_difference({0}, {0})", 0, 9, Callee::same, Callee::of_x, 0},
    {"less({0}, {0})", 0, 9, Callee::same, Callee::truth},
    {"greater_equal({0}, {0})", 0, 9, Callee::same, Callee::truth},
    {"not_equal({0}, {0})", 0, 9, Callee::same, Callee::truth},
    {"select(less({0}, neg({0})), {0}, relu({0}))", 0, 9, Callee::same},
    {"cumsum<{1}>({0})", 1, 9, Callee::same, Callee::of_x, 0},
    {"cumsum_exclusive<{1}>({0})", 1, 9, Callee::same, Callee::of_x, 0},
    {"cumsum_reverse<{1}>({0})", 1, 9, Callee::same, Callee::of_x, 0},
    {"cummax<{1}>({0})", 1, 9, Callee::same},
    {"cummin<{1}>({0})", 1, 9, Callee::same},
    {"reverse<{1}>({0})", 1, 9, Callee::same},
    {"concat<{1}>({0}, {0})", 1, 9, Callee::axis_doubled},
    {"tile<{1}, 2>({0})", 1, 9, Callee::axis_doubled},
    {"repeat<{1}, 2>({0})", 1, 9, Callee::axis_doubled},
    {"pad<{1}, 2, 1>({0})", 1, 9, Callee::axis_extended},
    {"pad<{1}, 3>({0})", 1, 9, Callee::axis_extended},
    {"pad_edge<{1}, 1, 2>({0})", 1, 9, Callee::axis_extended, Callee::of_x, 1, Callee::filled},
    {"roll<{1}, 1>({0})", 1, 9, Callee::same, Callee::of_x, 1, Callee::filled},
    {"lower_triangle({0})", 2, 9, Callee::same},
    {"upper_triangle<1>({0})", 2, 9, Callee::same},
    {"transpose({0})", 2, 2, Callee::swapped},
    {"flatten({0})", 0, 9, Callee::flat},
    {"expand<0>({0})", 0, 3, Callee::none},
    {"sum_axis<{1}>({0})", 1, 9, Callee::axis_removed, Callee::of_x, 0},
    {"max_axis<{1}>({0})", 1, 9, Callee::axis_removed, Callee::of_x, 0},
    {"min_axis_keep<{1}>({0})", 1, 9, Callee::axis_to_one, Callee::of_x, 0},
    {"sum_axis_keep<{1}>({0})", 1, 9, Callee::axis_to_one, Callee::of_x, 0},
    {"prod_axis<{1}>({0})", 1, 9, Callee::axis_removed, Callee::of_x, 0, Callee::integer},
    {"argmax_axis<{1}>({0})", 1, 9, Callee::axis_removed, Callee::index},
    {"argmin_axis<{1}>({0})", 1, 9, Callee::axis_removed, Callee::index},
    {"sum_leading<1>({0})", 1, 9, Callee::front_removed, Callee::of_x, 0},
    {"max_leading<1>({0})", 1, 9, Callee::front_removed, Callee::of_x, 0},
};

void standard_operator(Generator& g) {
  Known x = g.pick();
  const Callee& callee = callees[g.choose(static_cast<std::int64_t>(std::size(callees)))];
  const std::size_t rank = x.shape.size();
  const bool filled = std::count(x.shape.begin(), x.shape.end(), 0) == 0;
  if (rank < callee.least_rank || rank > callee.greatest_rank) return;
  if (callee.needs == Callee::floating && !x.is_float()) return;
  if (callee.needs == Callee::integer && x.is_float()) return;
  if (callee.needs == Callee::filled && !filled) return;
  const auto axis = static_cast<std::size_t>(g.choose(std::max<std::int64_t>(static_cast<std::int64_t>(rank), 1)));
  Shape shape = x.shape;
  const auto a = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  switch (callee.keeps) {
    case Callee::same: break;
    case Callee::axis_removed: shape.erase(a); break;
    case Callee::axis_to_one: *a = 1; break;
    case Callee::axis_doubled: *a *= 2; break;
    case Callee::axis_extended: *a += 3; break;
    case Callee::swapped: std::swap(shape[0], shape[1]); break;
    case Callee::flat: shape = {element_count(x.shape)}; break;
    case Callee::front_removed: shape.erase(shape.begin()); break;
    case Callee::none: shape.insert(shape.begin(), 1); break;
  }
  if (element_count(shape) > 2 * most_cells) return;
  // Counted from the end as well, which must name the same axis.
  const std::int64_t written = static_cast<std::int64_t>(axis) - (g.choose(2) ? static_cast<std::int64_t>(rank) : 0);
  const std::string name = g.fresh();
  g.line(fmt::format("{} = {}", name, fmt::format(fmt::runtime(callee.text), x.name, written, x.type)));
  if (callee.result == Callee::truth) g.result(name, "bool", shape);
  else if (callee.result == Callee::index) g.define(name, "i64", shape);
  else g.define(name, x.type, shape, callee.growth == 0 ? 1e9 : std::max(8.0, callee.growth * x.bound));
}

// Products with a further input, whose sizes are of their own.
void standard_product(Generator& g) {
  Known x = g.pick();
  const std::size_t rank = x.shape.size();
  static const std::int64_t sizes[] = {1, 2, 3, 8, 9, 16, 17, 5};
  const std::int64_t n = sizes[g.choose(8)], cells = element_count(x.shape);
  if (rank == 0 || cells * n > most_points) return;
  const std::int64_t in = x.shape.back();
  Shape shape = x.shape;
  shape.back() = n;
  if (element_count(shape) > 2 * most_cells) return;
  const std::string name = g.fresh();
  switch (g.choose(4)) {
    case 0: g.line(fmt::format("{} = matmul({}, {})", name, x.name, g.input(x.type, {in, n}).name)); break;
    case 1: g.line(fmt::format("{} = matmul_transposed({}, {})", name, x.name, g.input(x.type, {n, in}).name)); break;
    case 2: {
      const Known w = g.input(x.type, {in, n}), b = g.input(x.type, {n});
      g.line(fmt::format("{} = relu(linear({}, {}, {}))", name, x.name, w.name, b.name));
      break;
    }
    default: {
      if (rank != 1) return;
      g.line(fmt::format("{} = outer({}, {})", name, x.name, g.input(x.type, {n}).name));
      shape = {in, n};
    }
  }
  g.define(name, x.type, shape);
}

// Convolution and pooling, of one batch.
void windowed(Generator& g) {
  auto x = g.pick_if([](const Known& k) { return k.shape.size() == 2 && k.shape[0] <= 6 && k.shape[1] >= 3; });
  if (!x) return;
  const std::string image = g.fresh(), name = g.fresh();
  const std::int64_t channels = x->shape[0], width = x->shape[1], pad = g.choose(2), stride = 1 + g.choose(2),
                     window = 1 + g.choose(3);
  g.line(fmt::format("{} = expand<0>({})", image, x->name));
  const std::int64_t out = (width + 2 * pad - window) / stride + 1;
  if (g.choose(2)) {
    if (pad >= window) return g.define(image, x->type, {1, channels, width}, x->bound);
    g.line(fmt::format("{} = max_pool1d<window = {}, stride = {}, pad = {}>({})", name, window, stride, pad, image));
    return g.define(name, x->type, {1, channels, out});
  }
  const std::int64_t to = 1 + g.choose(4);
  const Known k = g.input(x->type, {to, channels, window});
  g.line(fmt::format("{} = conv1d<stride = {}, pad = {}>({}, {})", name, stride, pad, image, k.name));
  g.define(name, x->type, {1, to, out});
}

// Two packs in one type, and one that is bound by what is read.
void packs(Generator& g) {
  Known x = g.pick();
  const std::string name = g.fresh();
  if (x.shape.empty()) return;
  if (g.choose(2)) {
    g.declare(
        "op rows_less(x: T[p.., n], z: T[n]) -> (y: T[p.., n]) where T: number {\n    m[i..] = max[k] x[i.., k]\n    "
        "y[i.., j] = x[i.., j] - m[i..] + z[j]\n}\n");
    const Known z = g.input(x.type, {x.shape.back()});
    g.line(fmt::format("{} = rows_less({}, {})", name, x.name, z.name));
    return g.define(name, x.type, x.shape);
  }
  g.declare(
      "op turned<count: int>(x: T[p.., q..]) -> (y: T[q.., p..]) where T: any, rank(p) == count {\n    y[j.., i..] = "
      "x[i.., j..]\n}\n");
  const std::int64_t count = g.choose(static_cast<std::int64_t>(x.shape.size()) + 1);
  g.line(fmt::format("{} = turned<{}>({})", name, count, x.name));
  std::rotate(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(count), x.shape.end());
  g.define(name, x.type, x.shape, x.bound);
}

// Rounded, so that what a processor's own functions give may differ in the last digits: a result that nothing reads.
void function(Generator& g) {
  Known x = g.pick();
  if (!x.is_float()) return;
  Names i = indices(x.shape.size());
  const char* forms[] = {"exp({0})",     "tanh({0})",         "sqrt(abs({0}))", "1 / (1 + exp(-{0}))",
                         "sigmoid({0})", "log(abs({0}) + 1)", "sin({0})",       "erf({0})"};
  const std::string name = g.fresh();
  g.line(fmt::format("{}[{}] = {}", name, joined(i), fmt::format(fmt::runtime(forms[g.choose(8)]), at(x, i))));
  g.rounded_result(name, x.type, x.shape);
}

}  // namespace

std::span<const StatementKind> kinds_of_operators() {
  static constexpr StatementKind table[] = {
      {"standard operator", standard_operator},
      {"standard operator", standard_operator},
      {"standard operator", standard_operator},
      {"standard operator", standard_operator},
      {"standard operator", standard_operator},
      {"standard operator", standard_operator},
      {"standard product", standard_product},
      {"standard product", standard_product},
      {"convolution, pooling", windowed},
      {"convolution, pooling", windowed},
      {"packs", packs},
      {"packs", packs},
      {"rounded function", function},
      {"rounded function", function},
  };
  return table;
}

}  // namespace tap::random
