// Statements that reduce: over some dims, in prefixes, by monoids of their own.
#include "tests/random/generator.h"

namespace tap::random {
namespace {

void window(Generator& g) {
  Known x = g.some();
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

void reduction(Generator& g) {
  Known x = g.some();
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
  Known x = g.some();
  Names i = indices(x.shape.size()), k = i;
  if (i.empty()) return;
  k.back() = "k";
  std::string name = g.fresh();
  g.line(fmt::format("{}[{}] = {} - (max[k] {})", name, joined(i), at(x, i), at(x, k)));
  g.define(name, x.type, x.shape);
}

void contraction(Generator& g) {
  auto x = g.some_where([](const Known& k) { return k.shape.size() == 2 && k.type != "f64"; });
  if (!x) return;
  auto y = g.some_where(
      [&](const Known& k) { return k.shape.size() == 2 && k.type == x->type && k.shape[0] == x->shape[1]; });
  std::string name = g.fresh();
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
  auto x = g.some_where([](const Known& k) {
    const std::size_t rank = k.shape.size();
    return (rank == 1 || rank == 2) && element_count(k.shape) <= (rank == 1 ? 40 : 256) && k.type != "f64";
  });
  if (!x) return;
  const bool vector = x->shape.size() == 1;
  Names a = vector ? Names{"i"} : Names{"i", "j"}, b = vector ? Names{"j"} : Names{"l", "j"},
        c = vector ? Names{"k"} : Names{"l", "k"};
  std::string name = g.fresh(), over = vector ? "j, k" : "j, k, l";
  const char* form = g.choose(3) ? "{}[i] = sum[{}] {} * {} * {}" : "{}[i] = max[{}] min(min({}, {}), {})";
  g.line(fmt::format(fmt::runtime(form), name, over, at(*x, a), at(*x, b), at(*x, c)));
  g.define(name, x->type, {x->shape[0]});
}

void scan(Generator& g) {
  Known x = g.some();
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
  auto x = g.some_where([](const Known& k) { return k.shape.size() == 1 && k.type == "i64"; });
  if (!x) return;
  std::string name = g.fresh();
  std::int64_t cells = 1 + g.choose(4);
  g.line(fmt::format("{}[v] = sum[t] (if {}[t] == v then {}[t] else 0) for v in 0..{}", name, x->name, x->name, cells));
  g.define(name, "i64", {cells});
}

void user_monoid(Generator& g) {
  Known x = g.some();
  Names i = indices(x.shape.size()), kept(i.begin(), i.end());
  if (i.empty() || x.type != "i64") return;
  const std::size_t left = i.size() > 1 && g.choose(2) ? i.size() - 2 : i.size() - 1;
  const Names over(i.begin() + static_cast<std::ptrdiff_t>(left), i.end());
  kept.resize(left);
  const Shape shape(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(left));
  std::string value = g.fresh(), place = g.fresh();
  if (g.choose(2)) {
    g.declare(
        "monoid top(v: i64, at: i64) {\n    identity (i64.min, i64.max)\n    combine (a, b) = if b.v > a.v or "
        "(b.v == a.v and b.at < a.at) then b else a\n}\n");
    g.line(fmt::format("({}[{}], {}[{}]) = top[{}] ({}, {})", value, joined(kept), place, joined(kept), joined(over),
                       at(x, i), i.back()));
  } else {
    g.declare(
        "monoid recurrence(a: i64, b: i64) {\n    identity (1, 0)\n    combine (f, g) = (f.a * g.a, f.b * g.a + "
        "g.b)\n}\n");
    g.line(fmt::format("({}[{}], {}[{}]) = recurrence[{}] ({}, {} + 1)", value, joined(kept), place, joined(kept),
                       joined(over), at(x, i), at(x, i)));
  }
  g.define(place, "i64", shape);
  g.define(value, "i64", shape);
}

void user_monoid_scan(Generator& g) {
  auto x = g.some_where([](const Known& k) { return k.shape.size() == 1 && k.type == "i64"; });
  if (!x) return;
  g.declare(
      "monoid recurrence(a: i64, b: i64) {\n    identity (1, 0)\n    combine (f, g) = (f.a * g.a, f.b * g.a + "
      "g.b)\n}\n");
  std::string a = g.fresh(), b = g.fresh();
  g.line(fmt::format("({}[i], {}[i]) = recurrence[k in 0..i + 1] ({}[k], {}[k] - 1) for i in 0..{}", a, b, x->name,
                     x->name, x->shape[0]));
  g.define(a, "i64", x->shape);
  g.define(b, "i64", x->shape);
}

// Of one cell, used by every cell.
void to_a_cell(Generator& g) {
  Known x = g.some();
  Names i = indices(x.shape.size());
  if (i.empty() || x.type == "f64") return;
  std::string cell = g.fresh(), name = g.fresh();
  g.line(fmt::format("{}[] = {}[{}] {}", cell, g.choose(2) ? "sum" : "min", joined(i), at(x, i)));
  g.line(fmt::format("{}[{}] = {} + ({}[] % 5)", name, joined(i), at(x, i), cell));
  g.define(name, x.type, x.shape);
}

void any_or_all(Generator& g) {
  Known x = g.some();
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
  Known x = g.some();
  Names i = indices(x.shape.size()), kept = i;
  if (i.empty() || x.type == "f64") return;
  kept.erase(kept.begin());
  std::string name = g.fresh();
  g.line(fmt::format("{}[{}] = prod[{}] {}", name, joined(kept), i[0], at(x, i)));
  x.shape.erase(x.shape.begin());
  g.define(name, x.type, x.shape);
}

void over_two_dims(Generator& g) {
  Known x = g.some();
  Names i = indices(x.shape.size());
  if (i.size() < 2) return;
  Names over(i.begin(), i.begin() + 2), kept(i.begin() + 2, i.end());
  std::string name = g.fresh();
  g.line(fmt::format("{}[{}] = {}[{}] {}", name, joined(kept), g.choose(2) ? "sum" : "max", joined(over), at(x, i)));
  g.define(name, x.type, Shape(x.shape.begin() + 2, x.shape.end()));
}

// A block of a reduction at once, by a reduction of another monoid.
void monoid_with_fold(Generator& g) {
  Known x = g.some();
  Names i = indices(x.shape.size()), kept = i;
  if (i.empty() || x.type != "i64") return;
  kept.pop_back();
  g.declare(
      "monoid range(lo: i64, hi: i64) {\n    identity (i64.max, i64.min)\n    combine (a, b) = (min(a.lo, b.lo), "
      "max(a.hi, b.hi))\n    fold[j] (u, v) = (min[j] u[j], max[j] v[j])\n}\n");
  std::string low = g.fresh(), high = g.fresh();
  g.line(fmt::format("({}[{}], {}[{}]) = range[{}] ({}, {})", low, joined(kept), high, joined(kept), i.back(), at(x, i),
                     at(x, i)));
  x.shape.pop_back();
  g.define(low, "i64", x.shape);
  g.define(high, "i64", x.shape);
}

// What a block shares among the cells of a row is computed once for them: the fold leaves a contraction. How often the
// greatest stands in a row, and the sum of what stands beside it: whole numbers.
void contracting_fold(Generator& g) {
  auto t = g.some_where([](const Known& k) { return k.shape.size() == 2 && k.type == "i64"; });
  if (!t) return;
  auto v =
      g.some_where([&](const Known& k) { return k.shape.size() == 2 && k.type == "i64" && k.shape[0] == t->shape[1]; });
  g.declare(
      "monoid tally(m: i64, s: i64, o: i64) {\n    identity (i64.min, 0, 0)\n    combine (a, b) = let m = max(a.m, "
      "b.m), "
      "p = if a.m == m then 1 else 0, q = if b.m == m then 1 else 0\n                     in (m, a.s * p + b.s * q, "
      "a.o * p "
      "+ b.o * q)\n    fold[j] (t, w, v) = let m = max[j] t[j], e[j] = if t[j] == m then 1 else 0\n                    "
      "    "
      "in (m, sum[j] e[j] * w[j], sum[j] e[j] * v[j])\n}\n");
  // Where no tensor has a row for each of its columns: its own, with rows and columns exchanged.
  const std::string beside = v ? v->name + "[j, c]" : fmt::format("{}[c, j] + 1", t->name);
  const Shape shape{t->shape[0], v ? v->shape[1] : t->shape[0]};
  std::string greatest = g.fresh(), count = g.fresh(), sum = g.fresh();
  g.line(fmt::format("({}[i], {}[i], {}[i, c]) = tally[j] ({}[i, j], 1, {})", greatest, count, sum, t->name, beside));
  g.define(greatest, "i64", {t->shape[0]});
  g.define(count, "i64", {t->shape[0]});
  g.define(sum, "i64", shape);
}

}  // namespace

std::span<const StatementKind> kinds_of_reductions() {
  static constexpr StatementKind table[] = {
      {"halo", window},
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
