// Statements that call, repeat, and say how they are to be split.
#include "tests/random/generator.h"

namespace tap::random {
namespace {

void iteration(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size()), left = i;
  if (i.empty()) return;
  left[0] = i[0] + " - 1";
  std::string name = g.fresh();
  std::string step = g.choose(2) ? fmt::format("s[{}] + s[{} else 1]", joined(i), joined(left))
                                 : fmt::format("s[{}] + {}(t)", joined(i), x.type);
  g.line(
      fmt::format("{} = iterate t in 0..{} (s = {}) {{ r[{}] = {}; r }}", name, g.choose(6), x.name, joined(i), step));
  g.define(name, x.type, x.shape, 64 * (x.bound + 1));
}

void call(Generator& g) {
  Known x = g.pick();
  g.declare("op twice(x: T[d..]) -> (y: T[d..]) where T: number {\n    y[i..] = x[i..] + x[i..]\n}\n");
  std::string name = g.fresh();
  g.line(fmt::format("{} = twice({})", name, x.name));
  g.define(name, x.type, x.shape, 2 * x.bound);
}

void call_in_cells(Generator& g) {
  Known x = g.pick();
  g.declare("op one_less(x: T[]) -> (y: T[]) where T: number {\n    y[] = x[] - 1\n}\n");
  Names i = indices(x.shape.size());
  std::string name = g.fresh();
  g.line(fmt::format("{}[{}] = one_less({}) + {}", name, joined(i), at(x, i), literal(x, 2)));
  g.define(name, x.type, x.shape, x.bound + 1);
}

void several_states(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size());
  std::string a = g.fresh(), b = g.fresh(), index = joined(i);
  g.line(fmt::format("({}, {}) = iterate {} (a = {}, b = {}) {{ c[{}] = a[{}] + b[{}]; (b, c) }}", a, b, g.choose(4),
                     x.name, x.name, index, index, index));
  g.define(a, x.type, x.shape);
  g.define(b, x.type, x.shape);
}

void nested_iteration(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size());
  std::string name = g.fresh(), index = joined(i);
  g.line(
      fmt::format("{} = iterate t in 0..{} (s = {}) {{ u = iterate r in 0..{} (v = s) {{ w[{}] = v[{}] + {}(r); w }}; "
                  "z[{}] = u[{}] - {}(t); z }}",
                  name, g.choose(3), x.name, g.choose(3), index, index, x.type, index, index, x.type));
  g.define(name, x.type, x.shape);
}

void call_with_parameter(Generator& g) {
  Known x = g.pick();
  g.declare(
      "op scaled<by: int = 3>(x: T[d..]) -> (y: T[d..]) where T: number {\n    y[i..] = x[i..] * T(by) + T(by)\n}\n");
  std::string name = g.fresh();
  g.line(g.choose(2) ? fmt::format("{} = scaled({})", name, x.name)
                     : fmt::format("{} = scaled<{}>({})", name, g.choose(5), x.name));
  g.define(name, x.type, x.shape);
}

void call_with_several_results(Generator& g) {
  Known x = g.pick();
  g.declare(
      "op parts(x: T[d..]) -> (low: T[d..], high: T[d..]) where T: number {\n    low[i..] = min(x[i..], 1)\n    "
      "high[i..] = max(x[i..], 1)\n}\n");
  std::string low = g.fresh(), high = g.fresh();
  g.line(fmt::format("({}, {}) = parts({})", low, high, x.name));
  g.define(low, x.type, x.shape, x.bound);
  g.define(high, x.type, x.shape, x.bound);
}

void broadcast(Generator& g) {
  Known x = g.pick();
  if (x.shape.empty() || std::count(x.shape.begin(), x.shape.end(), 0) > 0) return;
  auto y = g.pick_if([&](const Known& k) {
    return k.type == x.type && k.shape.size() < x.shape.size() &&
           std::equal(k.shape.rbegin(), k.shape.rend(), x.shape.rbegin());
  });
  std::string name = g.fresh();
  if (y) {
    g.line(fmt::format("{} = add({}, {})", name, x.name, y->name));
  } else {
    std::string one = g.fresh();
    g.line(fmt::format("{}[i] = {}[{}] for i in 0..1", one, x.name, joined(Names(x.shape.size(), "0"))));
    g.line(fmt::format("{} = sub({}, {})", name, x.name, one));
  }
  g.define(name, x.type, x.shape, y ? x.bound + y->bound : 2 * x.bound);
}

void linear_index(Generator& g) {
  Known x = g.pick();
  g.declare("op flat(x: T[d..]) -> (y: T[size(d)]) where T: any {\n    y[(i..)] = x[i..]\n}\n");
  std::string name = g.fresh();
  g.line(fmt::format("{} = flat({})", name, x.name));
  std::int64_t size = 1;
  for (std::int64_t extent : x.shape) size *= extent;
  g.define(name, x.type, {size}, x.bound);
}

void split_in_the_program(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size());
  if (i.empty()) return;
  std::string name = g.fresh();
  const char* over[] = {"", " over threads", " over sequential"};
  g.line(fmt::format("{}[{}] = {}", name, joined(i), g.around(x, at(x, i), i)));
  std::size_t axis = static_cast<std::size_t>(g.choose(static_cast<std::int64_t>(i.size())));
  std::int64_t blocks = std::clamp<std::int64_t>(1 + g.choose(4), 1, std::max<std::int64_t>(x.shape[axis], 1));
  g.line(fmt::format("split {} on axis {} into {}{}", name, axis, blocks, over[g.choose(3)]));
  g.define(name, x.type, x.shape, grown(x));
}

}  // namespace

std::span<const StatementKind> kinds_of_calls() {
  static constexpr StatementKind table[] = {
      {"iterate", iteration},
      {"iterate", iteration},
      {"iterate, several states", several_states},
      {"iterate, several states", several_states},
      {"iterate, nested", nested_iteration},
      {"iterate, nested", nested_iteration},
      {"call", call},
      {"call in cells", call_in_cells},
      {"parameter", call_with_parameter},
      {"several results", call_with_several_results},
      {"broadcast", broadcast},
      {"broadcast", broadcast},
      {"linear index", linear_index},
      {"linear index", linear_index},
      {"split in the program", split_in_the_program},
      {"split in the program", split_in_the_program},
  };
  return table;
}

}  // namespace tap::random
