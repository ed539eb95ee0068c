// Steps that copy operations, find equal ones, simplify cells and compose maps.
#pragma once

#include "passes/simplify/compose_maps.h"
#include "support/check.h"
#include "tests/check/case.h"

namespace tap::check::cases {

inline Case copied() {
  Case c = chain("copied");
  BuildGraph g{c.before, {}};
  auto x = g.input("x", i64, {n}), z = g.input("z", i64, {n});
  auto a = g.add(scaled(3), {x})[0], dead = g.add(scaled(5), {x})[0], b = g.add(neighbours(), {a})[0];
  (void)dead;
  finish(c.before, g, g.add(sum_of_two(), {b, z}));
  BuildGraph h{c.after, {}};
  auto x2 = h.input("x", i64, {n}), z2 = h.input("z", i64, {n});
  auto a2 = h.add(scaled(3), {x2})[0], b2 = h.add(neighbours(), {a2})[0];
  finish(c.after, h, h.add(sum_of_two(), {b2, z2}));
  c.step.graphs = {claim({value(0), value(1), value(2), value(4), value(5)},
                         {Copied{operation(0)}, Copied{operation(2)}, Copied{operation(3)}})};
  return c;
}

inline Case equal() {
  Case c = chain("equal operations");
  BuildGraph g{c.before, {}};
  auto x = g.input("x", i64, {n});
  auto a = g.add(scaled(3), {x})[0], b = g.add(scaled(3), {x})[0], d = g.add(scaled(4), {x})[0];
  finish(c.before, g, {g.add(sum_of_two(), {a, b})[0], d});
  BuildGraph h{c.after, {}};
  auto x2 = h.input("x", i64, {n});
  auto a2 = h.add(scaled(3), {x2})[0], d2 = h.add(scaled(4), {x2})[0];
  finish(c.after, h, {h.add(sum_of_two(), {a2, a2})[0], d2});
  c.step.graphs = {claim({value(0), value(1), value(3), value(4)},
                         {Copied{operation(0)}, Copied{operation(2)}, Copied{operation(3)}})};
  c.step.graphs[0].equal = {{operation(0), operation(1)}};
  return c;
}

// y = (x * 1) + 0 is x
inline Case simplified() {
  Case c = chain("simplified");
  Operator op = pointwise("y", 2, [](Build& b, auto& x) {
    CellId product = b.apply(CellOp::mul, {x[0], b.literal(i64, 1)});
    return b.apply(CellOp::add, {b.apply(CellOp::add, {product, b.literal(i64, 0)}), x[1]});
  });
  BuildGraph g{c.before, {}};
  auto x = g.input("x", i64, {n}), z = g.input("z", i64, {n});
  finish(c.before, g, g.add(op, {x, z}));
  BuildGraph h{c.after, {}};
  auto x2 = h.input("x", i64, {n}), z2 = h.input("z", i64, {n});
  finish(c.after, h, h.add(sum_of_two(), {x2, z2}));
  Simplified s{operation(0), op.exprs, {}};
  CellId read, product;
  for (std::size_t k = 0; k < op.exprs.size(); ++k) {
    if (op.exprs[CellId(k)].op == CellOp::read && op.exprs[CellId(k)].attribute == 0) read = CellId(k);
    if (op.exprs[CellId(k)].op == CellOp::mul) product = CellId(k);
  }
  s.uses = {{"a * 1 = a [integers, floats]", {read}}, {"a + 0 = a [integers]", {product}}};
  c.step.graphs = {claim({value(0), value(1), value(2)}, {s})};
  return c;
}

// h[i] = 3 * x[i]; y[i] = h[i + 1 else 7] + z[i]
inline Case composed() {
  Case c = chain("composed");
  auto build = [](bool after) {
    Build b("y");
    auto i = b.parallel("i", n);
    auto x = b.operand(i64, {n}), z = b.operand(i64, {n});
    CellId seven = b.literal(i64, 7), h;
    if (after) {
      CellId next = b.apply(CellOp::add, {b.index(i), b.literal(i64, 1)});
      CellId inside = b.apply(CellOp::less, {next, b.literal(i64, n)});
      CellId product = b.apply(CellOp::mul, {b.read(x, {b[i] + 1}), b.literal(i64, 3)});
      h = b.op.exprs.apply(CellOp::select, i64, {inside, product, seven});
    } else {
      h = b.read(x, {b[i] + 1}, seven);
    }
    b.result(i64, {n}, {b[i]});
    CellId other = b.read(z, {b[i]});
    return b.map({b.apply(CellOp::add, {h, other})});
  };
  BuildGraph g{c.before, {}};
  auto x = g.input("x", i64, {n}), z = g.input("z", i64, {n});
  auto h = g.add(scaled(3), {x})[0], k = g.add(scaled(4), {x})[0];
  (void)k;
  finish(c.before, g, g.add(build(false), {h, z}));
  BuildGraph a{c.after, {}};
  auto x2 = a.input("x", i64, {n}), z2 = a.input("z", i64, {n});
  finish(c.after, a, a.add(build(true), {x2, z2}));
  c.step.graphs = {claim({value(0), value(1), value(4)}, {Composed{operation(2), {{0, operation(0), {}}}}})};
  return c;
}

// h[i] = 3 * x[i]; k[i] = 4 * z[i]; y[i] = h[i + 1 else k[i - 1 else 5]]: what stands outside is composed, too
inline Case composed_fills() {
  Build b("y");
  auto i = b.parallel("i", n);
  auto h = b.operand(i64, {n}), k = b.operand(i64, {n});
  CellId outside = b.read(k, {b[i] - 1}, b.literal(i64, 5));
  CellId cell = b.read(h, {b[i] + 1}, outside);
  b.result(i64, {n}, {b[i]});
  Program before;
  BuildGraph g{before, {}};
  auto x = g.input("x", i64, {n}), z = g.input("z", i64, {n});
  auto three = g.add(scaled(3), {x})[0], four = g.add(scaled(4), {z})[0];
  finish(before, g, g.add(b.map({cell}), {three, four}));
  passes::PassResult made = passes::compose_maps(before, {});
  TAP_CHECK(made.program[made.program.main].operations.size() == 1, "nothing was composed");
  return {"composed fills", std::move(before), std::move(made.program), std::move(made.step)};
}

}  // namespace tap::check::cases
