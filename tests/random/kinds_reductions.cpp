// Statements that reduce: over some dims, in prefixes, by monoids of their own.
#include <limits>

#include "tests/random/generator.h"

namespace tap::random {
namespace {

void window(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size()), from = i;
  if (i.empty() || x.shape.back() < 3) return;
  from.back() = i.back() + " + u";
  Shape shape = x.shape;
  shape.back() -= 2;
  std::string name = g.fresh();
  g.line(fmt::format("{}[{}] = {}[u in 0..3] {} for {} in 0..{}", name, joined(i), g.choose(2) ? "sum" : "max",
                     at(x, from), i.back(), shape.back()));
  g.define(name, x.type, shape);
}

// By a stride and with a dilation, from before the first cell to behind the last one; weighted or not.
void strided_window(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size()), from = i, over, offsets, ranges;
  if (i.empty()) return;
  Shape shape = x.shape, window;
  for (std::size_t a = i.size() < 2 ? 0 : i.size() - 1 - static_cast<std::size_t>(g.choose(2)); a < i.size(); ++a) {
    const std::int64_t size = 1 + g.choose(4), step = 1 + g.choose(3), dilation = 1 + g.choose(2), pad = g.choose(4);
    offsets.push_back(fmt::format("u{}", a));
    from[a] = shift(fmt::format("{}*{} + {}*{}", step, i[a], dilation, offsets.back()), -pad);
    over.push_back(fmt::format("{} in 0..{}", offsets.back(), size));
    window.push_back(size);
    shape[a] = (x.shape[a] + pad) / step + g.choose(2);
    ranges.push_back(fmt::format("{} in 0..{}", i[a], shape[a]));
  }
  if (element_count(shape) * element_count(window) > most_points) return;
  const std::string fill = g.choose(3) ? literal(x, g.choose(3)) : x.type + ".max";
  std::string term = fmt::format("{}[{} else {}]", x.name, joined(from), fill);
  const bool weighted = g.choose(2);
  if (weighted) term += " * " + at(g.input(x.type, window), offsets);
  std::string name = g.fresh();
  g.line(fmt::format("{}[{}] = {}[{}] {} for {}", name, joined(i), weighted || g.choose(2) ? "sum" : "max",
                     joined(over), term, joined(ranges)));
  g.define(name, x.type, shape);
}

// Each row reduces a range of its own, of a value of which a group needs no more than that.
void ragged_rows(Generator& g) {
  auto x = g.pick_if([](const Known& k) {
    return k.shape.size() == 2 && k.shape[0] > 0 && k.shape[0] * k.shape[0] * k.shape[1] <= most_points;
  });
  if (!x) return;
  auto y = g.pick_if([&](const Known& k) {
    return k.shape.size() == 2 && k.type == x->type && k.shape[0] == x->shape[1] && k.shape[1] <= 33;
  });
  const std::int64_t n = x->shape[0], m = x->shape[1];
  Names ranges = {fmt::format("i..{}", m), fmt::format("i + 1..{}", m), fmt::format("0..{} - i", m)};
  if (n <= m) ranges.insert(ranges.end(), {"0..i + 1", "0..i", "i..i + 1"});
  if (n + 2 <= m) ranges.push_back("i + 1..i + 3");
  const auto any = [&] { return ranges[static_cast<std::size_t>(g.choose(static_cast<std::int64_t>(ranges.size())))]; };
  const std::string range = any(), greatest = g.fresh(), rest = g.fresh(), total = g.fresh(), name = g.fresh();
  const std::string difference = fmt::format("{}[i, k] - {}[i]", x->name, greatest);
  g.line(fmt::format("{}[i] = max[k in {}] {}[i, k]", greatest, range, x->name));
  g.line(
      fmt::format(fmt::runtime(x->is_float() ? "{}[i, k] = max(min({}, 8), -8)" : "{}[i, k] = {}"), rest, difference));
  g.line(fmt::format("{}[i] = sum[k in {}] {}[i, k]", total, g.choose(3) ? range : any(), rest));
  const std::string other = y ? at(*y, {"k", "c"}) : at(*x, {"c", "k"});
  g.line(fmt::format("{}[i, c] = sum[k in {}] {}[i, k] * {}", name, g.choose(3) ? range : any(), rest, other));
  g.define(total, x->type, {n});
  g.define(name, x->type, {n, y ? y->shape[1] : n});
}

void reduction(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size()), kept = i;
  if (i.empty()) return;
  std::size_t a = static_cast<std::size_t>(g.choose(static_cast<std::int64_t>(i.size())));
  kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(a));
  Shape shape = x.shape;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(a));
  const char* monoids[] = {"sum", "max", "min"};
  std::string name = g.fresh();
  g.line(fmt::format("{}[{}] = {}[{}] ({})", name, joined(kept), monoids[g.choose(3)], i[a], g.around(x, at(x, i), i)));
  g.define(name, x.type, shape);
}

void hoisted_reduction(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size()), k = i;
  if (i.empty()) return;
  k.back() = "k";
  std::string name = g.fresh();
  g.line(fmt::format("{}[{}] = {} - (max[k] {})", name, joined(i), at(x, i), at(x, k)));
  g.define(name, x.type, x.shape);
}

void contraction(Generator& g) {
  auto x = g.pick_if([](const Known& k) { return k.shape.size() == 2; });
  if (!x) return;
  auto y =
      g.pick_if([&](const Known& k) { return k.shape.size() == 2 && k.type == x->type && k.shape[0] == x->shape[1]; });
  std::string name = g.fresh();
  const std::int64_t points = x->shape[0] * x->shape[1] * (y ? y->shape[1] : x->shape[0]);
  if (points > most_points) return;
  if (y) {
    g.line(fmt::format("{}[i, j] = sum[k] {}[i, k] * {}[k, j]", name, x->name, y->name));
    g.define(name, x->type, {x->shape[0], y->shape[1]});
  } else {
    g.line(fmt::format("{}[i, j] = sum[k] {}[i, k] * {}[j, k]", name, x->name, x->name));
    g.define(name, x->type, {x->shape[0], x->shape[0]});
  }
}

// In another order it takes fewer operations.
// Of few cells: what it sums over is their third power, or their second.
void product_of_three(Generator& g) {
  auto x = g.pick_if([](const Known& k) {
    const std::size_t rank = k.shape.size();
    return (rank == 1 || rank == 2) && element_count(k.shape) <= (rank == 1 ? 20 : 100) && k.exact_products(3);
  });
  if (!x) return;
  if (x->is_float() && g.special()) return;  // another order of the factors assumes that all are finite
  const bool vector = x->shape.size() == 1;
  Names a = vector ? Names{"i"} : Names{"i", "j"}, b = vector ? Names{"j"} : Names{"l", "j"},
        c = vector ? Names{"k"} : Names{"l", "k"};
  std::string name = g.fresh(), over = vector ? "j, k" : "j, k, l";
  const char* form = g.choose(3) ? "{}[i] = sum[{}] {} * {} * {}" : "{}[i] = max[{}] min(min({}, {}), {})";
  g.line(fmt::format(fmt::runtime(form), name, over, at(*x, a), at(*x, b), at(*x, c)));
  g.define(name, x->type, {x->shape[0]});
}

void scan(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size()), k = i;
  if (i.empty()) return;
  k[0] = "k";
  std::string name = g.fresh(), range;
  switch (g.choose(4)) {
    case 0: range = fmt::format("k in 0..{} + 1", i[0]); break;
    case 1: range = fmt::format("k in 0..{}", i[0]); break;
    case 2: range = fmt::format("k in {} + 1..{}", i[0], x.shape[0]); break;
    default: range = fmt::format("k in {}..{}", i[0], x.shape[0]);
  }
  g.line(fmt::format("{}[{}] = {}[{}] {} for {} in 0..{}", name, joined(i), g.choose(2) ? "sum" : "max", range,
                     at(x, k), i[0], x.shape[0]));
  g.define(name, x.type, x.shape);
}

void scatter(Generator& g) {
  auto x = g.pick_if([](const Known& k) { return k.shape.size() == 1 && k.is_int(); });
  if (!x) return;
  std::string name = g.fresh();
  std::int64_t cells = 1 + g.choose(4);
  g.line(fmt::format("{}[v] = sum[t] (if {} == v then {}[t] else 0) for v in 0..{}", name, as_type(*x, "i64", {"t"}),
                     x->name, cells));
  g.define(name, x->type, {cells});
}

// The greatest and where it stands; or affine maps one after another, which do not commute.
const char* const top_monoid =
    "monoid top(v: T, at: i64) where T: number {\n    identity (T.min, i64.max)\n    combine (a, b) = if b.v > a.v or "
    "(b.v == a.v and b.at < a.at) then b else a\n}\n";
const char* const recurrence_monoid =
    "monoid recurrence(a: T, b: T) where T: int {\n    identity (1, 0)\n    combine (f, g) = (f.a * g.a, f.b * g.a + "
    "g.b)\n}\n";

void user_monoid(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size()), kept(i.begin(), i.end());
  if (i.empty()) return;
  const std::size_t left = i.size() > 1 && g.choose(2) ? i.size() - 2 : i.size() - 1;
  const Names over(i.begin() + static_cast<std::ptrdiff_t>(left), i.end());
  kept.resize(left);
  const Shape shape(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(left));
  std::string value = g.fresh(), position = g.fresh();
  if (g.choose(2) || x.is_float()) {
    g.declare(top_monoid);
    g.line(fmt::format("({}[{}], {}[{}]) = top[{}] ({}, {})", value, joined(kept), position, joined(kept), joined(over),
                       at(x, i), i.back()));
    g.define(position, "i64", shape);
  } else {
    g.declare(recurrence_monoid);
    g.line(fmt::format("({}[{}], {}[{}]) = recurrence[{}] ({}, {} + 1)", value, joined(kept), position, joined(kept),
                       joined(over), at(x, i), at(x, i)));
    g.define(position, x.type, shape);
  }
  g.define(value, x.type, shape, std::numeric_limits<double>::infinity());
}

void user_monoid_scan(Generator& g) {
  auto x = g.pick_if([](const Known& k) { return k.shape.size() == 1 && k.is_int(); });
  if (!x) return;
  g.declare(recurrence_monoid);
  std::string a = g.fresh(), b = g.fresh(), n = std::to_string(x->shape[0]);
  const std::string ranges[] = {"k in 0..i + 1", "k in 0..i", "k in i..{}", "k in i + 1..{}"};
  g.line(fmt::format("({}[i], {}[i]) = recurrence[{}] ({}[k], {}[k] - 1) for i in 0..{}", a, b,
                     fmt::format(fmt::runtime(ranges[g.choose(4)]), n), x->name, x->name, n));
  g.define(a, x->type, x->shape);
  g.define(b, x->type, x->shape);
}

// Of one cell, used by every cell.
void to_a_cell(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size());
  if (i.empty() || x.is_float()) return;
  std::string cell = g.fresh(), name = g.fresh();
  g.line(fmt::format("{}[] = {}[{}] {}", cell, g.choose(2) ? "sum" : "min", joined(i), at(x, i)));
  g.line(fmt::format("{}[{}] = {} + ({}[] % 5)", name, joined(i), at(x, i), cell));
  g.define(name, x.type, x.shape);
}

void any_or_all(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size()), kept = i;
  if (i.empty()) return;
  kept.pop_back();
  std::string name = g.fresh();
  g.line(fmt::format("{}[{}] = if {}[{}] ({} < {}) then {}(3) else 1", name, joined(kept), g.choose(2) ? "any" : "all",
                     i.back(), at(x, i), literal(x, 2), x.type));
  x.shape.pop_back();
  g.define(name, x.type, x.shape);
}

void product(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size()), kept = i;
  if (i.empty() || (x.is_float() && x.shape[0] > 20)) return;  // of a float: 2 to the 20th at most
  kept.erase(kept.begin());
  std::string name = g.fresh();
  g.line(fmt::format(fmt::runtime(x.is_float() ? "{}[{}] = prod[{}] max(min({}, 2), -2)" : "{}[{}] = prod[{}] {}"),
                     name, joined(kept), i[0], at(x, i)));
  x.shape.erase(x.shape.begin());
  g.define(name, x.type, x.shape);
}

void over_two_dims(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size());
  if (i.size() < 2) return;
  Names over(i.begin(), i.begin() + 2), kept(i.begin() + 2, i.end());
  std::string name = g.fresh();
  g.line(fmt::format("{}[{}] = {}[{}] {}", name, joined(kept), g.choose(2) ? "sum" : "max", joined(over), at(x, i)));
  g.define(name, x.type, Shape(x.shape.begin() + 2, x.shape.end()));
}

// A block of a reduction at once, by a reduction of another monoid.
void monoid_with_fold(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size()), kept = i;
  if (i.empty()) return;
  kept.pop_back();
  g.declare(
      "monoid range(lo: T, hi: T) where T: number {\n    identity (T.max, T.min)\n    combine (a, b) = (min(a.lo, "
      "b.lo), "
      "max(a.hi, b.hi))\n    fold[j] (u, v) = (min[j] u[j], max[j] v[j])\n}\n");
  std::string low = g.fresh(), high = g.fresh();
  g.line(fmt::format("({}[{}], {}[{}]) = range[{}] ({}, {})", low, joined(kept), high, joined(kept), i.back(), at(x, i),
                     at(x, i)));
  x.shape.pop_back();
  g.define(low, x.type, x.shape, std::numeric_limits<double>::infinity());
  g.define(high, x.type, x.shape, std::numeric_limits<double>::infinity());
}

// What a block shares among the cells of a row is computed once for them: the fold leaves a contraction. How often the
// greatest stands in a row, and the sum of what stands beside it: integers.
void contracting_fold(Generator& g) {
  auto t = g.pick_if([](const Known& k) { return k.shape.size() == 2; });
  if (!t || t->shape[0] * t->shape[1] * t->shape[0] > most_points) return;
  auto v =
      g.pick_if([&](const Known& k) { return k.shape.size() == 2 && k.shape[0] == t->shape[1] && k.shape[1] <= 9; });
  g.declare(
      "monoid tally(m: T, s: i64, o: i64) where T: number {\n    identity (T.min, 0, 0)\n    combine (a, b) = let m = "
      "max(a.m, "
      "b.m), "
      "p = if a.m == m then 1 else 0, q = if b.m == m then 1 else 0\n                     in (m, a.s * p + b.s * q, "
      "a.o * p "
      "+ b.o * q)\n    fold[j] (t, w, v) = let m = max[j] t[j], e[j] = if t[j] == m then 1 else 0\n                    "
      "    "
      "in (m, sum[j] e[j] * w[j], sum[j] e[j] * v[j])\n}\n");
  // Where no tensor has a row for each of its columns: its own, with rows and columns exchanged.
  const std::string values = v ? as_type(*v, "i64", {"j", "c"}) : as_type(*t, "i64", {"c", "j"}) + " + 1";
  const Shape shape{t->shape[0], v ? v->shape[1] : t->shape[0]};
  std::string greatest = g.fresh(), count = g.fresh(), sum = g.fresh();
  g.line(fmt::format("({}[i], {}[i], {}[i, c]) = tally[j] ({}[i, j], 1, {})", greatest, count, sum, t->name, values));
  g.define(greatest, t->type, {t->shape[0]}, std::numeric_limits<double>::infinity());
  g.define(count, "i64", {t->shape[0]});
  g.define(sum, "i64", shape);
}

}  // namespace

std::span<const StatementKind> kinds_of_reductions() {
  static constexpr StatementKind table[] = {
      {"halo", window},
      {"strided window", strided_window},
      {"strided window", strided_window},
      {"ragged rows", ragged_rows},
      {"ragged rows", ragged_rows},
      {"reduction", reduction},
      {"reduction", reduction},
      {"hoisted reduction", hoisted_reduction},
      {"contraction", contraction},
      {"contraction", contraction},
      {"contraction", contraction},
      {"scan", scan},
      {"scan", scan},
      {"scatter", scatter},
      {"scatter", scatter},
      {"scatter", scatter},
      {"user monoid", user_monoid},
      {"user monoid", user_monoid},
      {"scan by a user monoid", user_monoid_scan},
      {"scan by a user monoid", user_monoid_scan},
      {"scan by a user monoid", user_monoid_scan},
      {"scan by a user monoid", user_monoid_scan},
      {"0-d tensor", to_a_cell},
      {"0-d tensor", to_a_cell},
      {"any, all", any_or_all},
      {"product", product},
      {"product", product},
      {"several dims", over_two_dims},
      {"several dims", over_two_dims},
      {"fold", monoid_with_fold},
      {"fold", monoid_with_fold},
      {"fold", monoid_with_fold},
      {"contracting fold", contracting_fold},
      {"contracting fold", contracting_fold},
      {"contracting fold", contracting_fold},
      {"product of three", product_of_three},
      {"product of three", product_of_three},
      {"product of three", product_of_three},
      {"product of three", product_of_three},
  };
  return table;
}

}  // namespace tap::random
