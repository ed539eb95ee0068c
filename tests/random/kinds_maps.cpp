// Statements whose cells are maps of others: shifts, strides, windows, several writers, other types.
#include <algorithm>

#include "tests/random/generator.h"

namespace tap::random {
namespace {

void map(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size());
  std::string name = g.fresh();
  g.line(fmt::format("{}[{}] = {}", name, joined(i), g.around(x, at(x, i), i)));
  g.define(name, x.type, x.shape, grown(x));
}

void two_operands(Generator& g) {
  Known x = g.pick();
  auto y = g.pick_if([&](const Known& k) { return k.shape == x.shape && k.name != x.name; });
  if (!y) return;
  Names i = indices(x.shape.size());
  std::string name = g.fresh();
  g.line(fmt::format("{}[{}] = {} {} {}", name, joined(i), at(x, i), g.choose(2) ? "+" : "-", as_type(*y, x.type, i)));
  g.define(name, x.type, x.shape, x.bound + std::max(y->bound, 16.0));
}

void transposed(Generator& g) {
  Known x = g.pick();
  if (x.shape.size() < 2) return;
  Names i = indices(x.shape.size()), turned = i;
  Shape shape = x.shape;
  std::swap(turned[0], turned.back());
  std::swap(shape[0], shape.back());
  std::string name = g.fresh();
  g.line(fmt::format("{}[{}] = {}", name, joined(turned), g.around(x, at(x, i), i)));
  g.define(name, x.type, shape, grown(x));
}

void reversed(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size()), from = i;
  if (i.empty()) return;
  std::size_t a = static_cast<std::size_t>(g.choose(static_cast<std::int64_t>(i.size())));
  from[a] = fmt::format("{} - {}", x.shape[a] - 1, i[a]);
  std::string name = g.fresh(), ranges;
  g.line(fmt::format("{}[{}] = {} for {} in 0..{}", name, joined(i), at(x, from), i[a], x.shape[a]));
  g.define(name, x.type, x.shape, x.bound);
}

void shifted_with_fill(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size()), from = i;
  if (i.empty()) return;
  std::size_t a = static_cast<std::size_t>(g.choose(static_cast<std::int64_t>(i.size())));
  from[a] = shift(i[a], g.choose(5) - 2);
  std::string name = g.fresh();
  g.line(fmt::format("{}[{}] = {}[{} else {}] for {} in 0..{}", name, joined(i), x.name, joined(from),
                     literal(x, g.choose(3)), i[a], x.shape[a]));
  g.define(name, x.type, x.shape, std::max(x.bound, 2.0));
}

void stencil(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size()), left = i, right = i;
  if (i.empty()) return;
  left[0] = i[0] + " - 1", right[0] = i[0] + " + 1";
  std::string name = g.fresh();
  g.line(fmt::format("{}[{}] = {}[{} else 0] + {} + {}[{} else 0]", name, joined(i), x.name, joined(left), at(x, i),
                     x.name, joined(right)));
  g.define(name, x.type, x.shape, 3 * x.bound);
}

void strided(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size()), from = i;
  if (i.empty() || x.shape[0] < 2) return;
  from[0] = fmt::format("2*{} + {}", i[0], g.choose(2));
  Shape shape = x.shape;
  shape[0] /= 2;
  std::string name = g.fresh();
  g.line(fmt::format("{}[{}] = {} for {} in 0..{}", name, joined(i), at(x, from), i[0], shape[0]));
  g.define(name, x.type, shape, x.bound);
}

void triangle(Generator& g) {
  auto x = g.pick_if([](const Known& k) { return k.shape.size() == 2; });
  if (!x) return;
  std::string name = g.fresh();
  g.line(fmt::format("{}[i, j] = if j <= i then {}[i, j] else 0", name, x->name));
  g.define(name, x->type, x->shape, x->bound);
}

void several_writers(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size()), first = i, second = i;
  if (i.empty()) return;
  Shape shape = x.shape;
  shape[0] *= 2;
  if (g.choose(2)) {
    second[0] = fmt::format("{} + {}", i[0], x.shape[0]);
  } else {
    first[0] = "2*" + i[0];
    second[0] = "2*" + i[0] + " + 1";
  }
  std::string name = g.fresh();
  g.line(fmt::format("{}[{}] = {} for {} in 0..{}", name, joined(first), at(x, i), i[0], x.shape[0]));
  g.line(fmt::format("{}[{}] = {} for {} in 0..{}", name, joined(second), g.around(x, at(x, i), i), i[0], x.shape[0]));
  g.define(name, x.type, shape, grown(x));
}

void flattened(Generator& g) {
  auto x = g.pick_if([](const Known& k) { return k.shape.size() == 2; });
  if (!x) return;
  std::string name = g.fresh();
  g.line(fmt::format("{}[{}*i + j] = {}[i, j]", name, x->shape[1], x->name));
  g.define(name, x->type, {x->shape[0] * x->shape[1]}, x->bound);
}

// Every type to every other: what is wide wraps, saturates and rounds in what is narrow.
void converted(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size());
  std::string name = g.fresh(), to = g.number_type();
  g.line(fmt::format("{}[{}] = {}", name, joined(i), as_type(x, to, i)));
  g.define(name, to, x.shape, std::max(x.bound, 16.0));
}

// Cells of other types in between.
void narrowed(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size());
  const char* whole[] = {"i8", "i16", "u8"};
  const char* floating[] = {"f32", "f16", "bf16", "i32", "i8", "u8"};
  std::string name = g.fresh(), to = x.is_float() ? floating[g.choose(6)] : whole[g.choose(3)];
  g.line(fmt::format("{}[{}] = {}({}({}))", name, joined(i), x.type, to, at(x, i)));
  g.define(name, x.type, x.shape, to == "u8" ? 256 : x.bound);
}

// Kept in a narrow type, which rounds, before it is used again: a tenth is no float.
void kept_narrow(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size());
  std::string narrow = g.fresh(), name = g.fresh(), index = joined(i);
  if (x.is_float()) {
    const char* types[] = {"f32", "f16", "bf16"};
    g.line(fmt::format("{}[{}] = {}({}) / 10", narrow, index, types[g.choose(3)], at(x, i)));
    g.line(fmt::format("{}[{}] = floor(f64({}[{}]) * 100000000)", name, index, narrow, index));
    g.define(name, "f64", x.shape);
  } else {
    const char* types[] = {"i8", "i16", "u8"};
    g.line(fmt::format("{}[{}] = {}({})", narrow, index, types[g.choose(3)], at(x, i)));
    g.line(fmt::format("{}[{}] = {}({}[{}]) * 2", name, index, x.type, narrow, index));
    g.define(name, x.type, x.shape);
  }
}

// The left side turns round, or starts elsewhere.
void written_elsewhere(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size()), to = i, from = i;
  if (i.empty()) return;
  std::string name = g.fresh();
  if (g.choose(2)) {
    to[0] = fmt::format("{} - {}", x.shape[0] - 1, i[0]);
    g.line(fmt::format("{}[{}] = {} for {} in 0..{}", name, joined(to), g.around(x, at(x, i), i), i[0], x.shape[0]));
  } else {
    to[0] = from[0] = i[0] + " - 2";
    g.line(fmt::format("{}[{}] = {} for {} in 2..{}", name, joined(to), at(x, from), i[0], x.shape[0] + 2));
  }
  g.define(name, x.type, x.shape, grown(x));
}

void truth(Generator& g) {
  Known x = g.pick();
  Names i = indices(x.shape.size());
  std::string flags = g.fresh(), name = g.fresh();
  g.line(fmt::format("{}[{}] = {} < {} {} not ({} == {})", flags, joined(i), at(x, i), literal(x, g.choose(4)),
                     g.choose(2) ? "and" : "or", at(x, i), literal(x, g.choose(3))));
  g.line(fmt::format("{}[{}] = if {}[{}] then {} else {}", name, joined(i), flags, joined(i), at(x, i),
                     literal(x, g.choose(5))));
  g.define(name, x.type, x.shape, std::max(x.bound, 4.0));
}

void bits_and_division(Generator& g) {
  Known x = g.pick();
  if (x.is_float()) return;
  Names i = indices(x.shape.size());
  std::string name = g.fresh();
  const char* forms[] = {"bitand({}, 5)", "({}) / 3", "bitxor({}, 6)", "shl({}, 2)", "({}) % 4"};
  g.line(fmt::format("{}[{}] = {}", name, joined(i), fmt::format(fmt::runtime(forms[g.choose(5)]), at(x, i))));
  g.define(name, x.type, x.shape);
}

void whole_tensor_function(Generator& g) {
  Known x = g.pick();
  std::string name = g.fresh();
  g.line(fmt::format("{} = {}({})", name, g.choose(2) ? "abs" : "sign", x.name));
  g.define(name, x.type, x.shape, x.bound);
}

// A coordinate out of the data, kept inside by arithmetic.
void gather(Generator& g) {
  auto ids = g.pick_if([](const Known& k) { return k.shape.size() == 1 && k.is_int(); });
  Known x = g.pick();
  if (!ids || x.shape.empty() || x.shape[0] == 0) return;
  Names i = indices(x.shape.size()), from = i;
  std::string name = g.fresh();
  if (g.choose(2)) {
    from[0] = fmt::format("{}[{}]", ids->name, i[0]);
    g.line(fmt::format("{}[{}] = {}[{} else 1]", name, joined(i), x.name, joined(from)));
  } else {
    from[0] = fmt::format("i64({}[{}]) % {}", ids->name, i[0], x.shape[0]);
    g.line(fmt::format("{}[{}] = {}", name, joined(i), at(x, from)));
  }
  x.shape[0] = ids->shape[0];
  g.define(name, x.type, x.shape, x.bound);
}

}  // namespace

std::span<const StatementKind> kinds_of_maps() {
  static constexpr StatementKind table[] = {
      {"map", map},
      {"two operands", two_operands},
      {"two operands", two_operands},
      {"transpose", transposed},
      {"transpose", transposed},
      {"reverse", reversed},
      {"reverse", reversed},
      {"shift with fill", shifted_with_fill},
      {"halo", stencil},
      {"stride", strided},
      {"stride", strided},
      {"triangle", triangle},
      {"triangle", triangle},
      {"several writers", several_writers},
      {"flatten", flattened},
      {"flatten", flattened},
      {"cast", converted},
      {"cast", converted},
      {"cast, rounded", narrowed},
      {"small types", kept_narrow},
      {"written elsewhere", written_elsewhere},
      {"written elsewhere", written_elsewhere},
      {"bool", truth},
      {"bits, division", bits_and_division},
      {"bits, division", bits_and_division},
      {"function of a tensor", whole_tensor_function},
      {"gather", gather},
      {"gather", gather},
      {"gather", gather},
  };
  return table;
}

}  // namespace tap::random
