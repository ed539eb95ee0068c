// Every cell operation on every element type, native against the oracle: bit by bit where the language defines the bits,
// within a few units in the last place for the functions of the C library.
#include <cmath>
#include <limits>

#include "ir/graph.h"
#include "tests/backend/compare.h"

namespace tap::backend::test {
namespace {

constexpr ElementType all_types[] = {f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean};

// Values at which something may go wrong, for each type.
std::vector<double> special_floats() {
  constexpr double inf = std::numeric_limits<double>::infinity();
  return {0.0, -0.0, 1,    -1,    2,     3,    -3,    0.5,  -0.5, 1.5,  2.5,         -2.5,
          7,   100,  -100, 65504, 70000, 1e30, -1e30, 3e-8, inf,  -inf, std::nan("")};
}
std::vector<std::int64_t> special_integers(ElementType type) {
  std::int64_t least = least_integer(type), greatest = greatest_integer(type);
  std::vector<std::int64_t> values{least, greatest, 0, 1};
  if (is_bool(type)) return values;
  for (std::int64_t v : {2, 3, 5, 7, 8, 40, 63, 64, 100}) values.push_back(v);
  for (std::int64_t v : {least + 1, greatest - 1}) values.push_back(v);
  if (type == i64)  // lies above half way between two of bf16, by less than a double holds
    for (std::int64_t v : {4629700416936869889, -4629700416936869889, 4629700416936869888, 4629700416936869887})
      values.push_back(v);
  if (least < 0)
    for (std::int64_t v : {-1, -2, -3, -7, -100}) values.push_back(v);
  return values;
}
Tensor specials(ElementType type) {
  if (is_float(type)) return tensor(type, {static_cast<std::int64_t>(special_floats().size())}, special_floats());
  auto values = special_integers(type);
  Tensor t(type, {static_cast<std::int64_t>(values.size())});
  for (std::size_t k = 0; k < values.size(); ++k) t.store_i64(static_cast<std::int64_t>(k), values[k]);
  return t;
}

// Whether `op` makes a result from operands of this type, all of them read.
bool takes(CellOp op, ElementType type) {
  bool lazy = op == CellOp::logical_and || op == CellOp::logical_or;
  return (is_strict(op) || lazy) && accepts(info(op).arguments, type);
}

// The compute type's arithmetic, as the frontend writes it: narrow floats are cast to f32 and back.
CellId computed(Build& b, CellOp op, std::vector<CellId> args) {
  ElementType type = b.op.exprs[args[0]].type;
  for (CellId& a : args) a = b.cast(a, compute_type(type));
  CellId value = b.apply(op, args);
  return b.op.exprs[value].type == boolean ? value : b.cast(value, type);
}

// All pairs (or single values) of specials through one operation. Integer divisors and shift amounts that fail are left out.
Operator table(CellOp op, ElementType type, std::int64_t n) {
  Build b(std::string(info(op).name));
  bool binary = info(op).arity == 2;
  auto i = b.parallel("i", n), j = binary ? b.parallel("j", n) : i;
  auto x = b.operand(type, {n});
  bool to_bool = info(op).kind == CellKind::comparison;
  b.result(to_bool ? boolean : type, binary ? Shape{n, n} : Shape{n},
           binary ? std::vector{b[i], b[j]} : std::vector{b[i]});
  CellId first = b.read(x, {b[i]});
  if (!binary) return b.map({computed(b, op, {first})});
  CellId second = b.read(x, {b[j]});
  CellId value = computed(b, op, {first, second});
  if (is_integer(type) && (op == CellOp::div || op == CellOp::mod))
    value = b.apply(CellOp::select, {b.apply(CellOp::equal, {second, b.literal(type, 0)}), first, value});
  if (op == CellOp::shl || op == CellOp::shr)
    value = b.apply(CellOp::select, {b.apply(CellOp::less, {second, b.literal(type, 0)}), first, value});
  return b.map({value});
}

// Operations on one operand each, in one program: it is compiled once.
void expect_same_tables(const std::vector<Operator>& ops, const Tensor& x, const std::string& where) {
  Program program;
  BuildGraph g{program, {}};
  ValueId input = g.input("x", x.type(), x.shape());
  std::vector<ValueId> results;
  for (const Operator& op : ops)
    for (ValueId r : g.add(op, {input})) results.push_back(r);
  GraphId main = g.finish(results);
  auto got = execute(program, main, {x}), expected = interpret(program, main, {x}).outputs;
  for (std::size_t k = 0; k < got.size(); ++k)
    expect_same_bits({got[k]}, {expected[k]}, where + ", result " + std::to_string(k));
}

std::vector<Tensor> interpreted(const Operator& op, const std::vector<Tensor>& inputs) {
  return evaluate({}, op, inputs).outputs;
}

std::vector<Tensor> native(const Operator& op, const std::vector<Tensor>& inputs) {
  Program program;
  BuildGraph g{program, {}};
  ValueId input = g.input("x", inputs[0].type(), inputs[0].shape());
  auto results = g.add(op, {input});
  const GraphId graph = g.finish(results);  // before the program is copied
  return execute(program, graph, inputs);
}

class CellsOfType : public testing::TestWithParam<ElementType> {};

TEST_P(CellsOfType, ExactOperations) {
  ElementType type = GetParam();
  Tensor x = specials(type);
  std::vector<Operator> tables;
  std::string names;
  for (std::size_t o = 0; o < cell_op_count; ++o) {
    CellOp op = static_cast<CellOp>(o);
    bool rounded = info(op).kind == CellKind::function && op != CellOp::floor && op != CellOp::ceil &&
                   op != CellOp::round;
    // The oracle keeps f64 until the cell is written: an f32 remainder may differ, and is compared below.
    if (!takes(op, type) || rounded || (type == f32 && op == CellOp::mod)) continue;
    tables.push_back(table(op, type, x.size()));
    names += " " + std::string(info(op).name);
  }
  expect_same_tables(tables, x, std::string(name_of(type)) + names);
}

TEST_P(CellsOfType, CastsToEveryType) {
  Tensor x = specials(GetParam());
  std::vector<Operator> casts;
  for (ElementType to : all_types) {
    Build b("cast");
    auto i = b.parallel("i", x.size());
    auto t = b.operand(GetParam(), x.shape());
    b.result(to, x.shape(), {b[i]});
    casts.push_back(b.map({b.cast(b.read(t, {b[i]}), to)}));
  }
  expect_same_tables(casts, x, "casts of " + std::string(name_of(GetParam())));
}

TEST_P(CellsOfType, Reductions) {
  ElementType type = GetParam();
  Program program;
  BuildGraph g{program, {}};
  ValueId input = g.input("x", type, {3, 5});
  std::vector<ValueId> results;
  for (const char* name : {"sum", "prod", "max", "min", "any", "all"}) {
    if (!builtin_monoid(name, type)) continue;
    Build b("r");
    auto i = b.parallel("i", 3), k = b.reduction("k", 5);
    auto x = b.operand(type, {3, 5});
    b.result(type, {3}, {b[i]});
    auto op = b.reduce(add_monoid(program, name, type), {b.read(x, {b[i], b[k]})});
    results.push_back(g.add(op, {input})[0]);
  }
  // Products stay below 2^8, so that they are exact in every float type.
  Tensor t(type, {3, 5});
  for (std::int64_t c = 0; c < 15; ++c)
    t.store_i64(c, std::vector<std::int64_t>{1, 2, 1, 3, 1}[static_cast<std::size_t>(c * c) % 5]);
  const GraphId graph = g.finish(results);
  expect_native_is_oracle(program, graph, {t});
}

INSTANTIATE_TEST_SUITE_P(Types, CellsOfType, testing::ValuesIn(all_types),
                         [](const auto& type) { return std::string(name_of(type.param)); });

// f64 → f16 by way of f32 would round 1 + 2^-11 + 2^-30 down to 1.
TEST(Cells, NarrowingRoundsOnce) {
  Build b("cast");
  auto i = b.parallel("i", 4);
  auto t = b.operand(f64, {4});
  b.result(f16, {4}, {b[i]});
  b.result(bf16, {4}, {b[i]});
  Operator map = b.map({b.cast(b.read(t, {b[i]}), f16), b.cast(b.read(t, {b[i]}), bf16)});
  Tensor x = tensor(f64, {4},
                    {1 + std::ldexp(1, -11) + std::ldexp(1, -30), -1 - std::ldexp(1, -11) - std::ldexp(1, -30),
                     1 + std::ldexp(1, -8) + std::ldexp(1, -40), 65520 - std::ldexp(1, -30)});
  auto result = native(map, {x});
  EXPECT_EQ(values_of(result[0])[0], 1 + std::ldexp(1, -10));
  EXPECT_EQ(values_of(result[0])[3], 65504);
  expect_same_bits(result, interpreted(map, {x}), "narrowing");
}

TEST(Cells, FunctionsAreNearTheOracle) {
  for (ElementType type : {f64, f32}) {
    Tensor x = specials(type);
    Program program;
    BuildGraph g{program, {}};
    ValueId input = g.input("x", type, x.shape());
    std::vector<ValueId> results;
    std::vector<CellOp> ops;
    for (std::size_t o = 0; o < cell_op_count; ++o) {
      CellOp op = static_cast<CellOp>(o);
      if (info(op).kind != CellKind::function && op != CellOp::mod) continue;
      ops.push_back(op);
      results.push_back(g.add(table(op, type, x.size()), {input})[0]);
    }
    GraphId main = g.finish(results);
    auto native_results = execute(program, main, {x}), oracle_results = interpret(program, main, {x}).outputs;
    for (std::size_t k = 0; k < ops.size(); ++k) {
      CellOp op = ops[k];
      auto got = values_of(native_results[k]), expected = values_of(oracle_results[k]);
      double unit = std::ldexp(1, -info(type).mantissa_bits);
      for (std::size_t c = 0; c < got.size(); ++c) {
        bool same = got[c] == expected[c] || (std::isnan(got[c]) && std::isnan(expected[c]));
        // A remainder's error is relative to its operands, not to itself.
        double scale = op == CellOp::mod ? std::max(std::fabs(expected[c]), 100.0) : std::fabs(expected[c]);
        EXPECT_TRUE(same || std::fabs(got[c] - expected[c]) <= 8 * unit * scale)
            << info(op).name << " of " << name_of(type) << " at " << c << ": " << got[c] << ", not " << expected[c];
      }
    }
  }
}

// A shared node under nested choices: without care its code doubles at each level.
TEST(Cells, NestedSelectsStaySmall) {
  Build b("y");
  auto i = b.parallel("i", 8);
  auto x = b.operand(i64, {8});
  b.result(i64, {8}, {b[i]});
  CellId v = b.read(x, {b[i]});
  CellId value = v;
  for (int level = 0; level < 40; ++level) {
    CellId odd = b.apply(CellOp::add, {b.apply(CellOp::mul, {value, b.literal(i64, 2)}), b.literal(i64, 1)});
    CellId divided = b.apply(CellOp::div, {b.literal(i64, 1000 + level), odd});
    CellId condition = b.apply(CellOp::less, {b.index(i), b.literal(i64, level % 8)});
    CellId more = b.apply(CellOp::add, {divided, b.literal(i64, 1)});
    CellId less = b.apply(CellOp::sub, {divided, b.literal(i64, 2000)});
    value = b.apply(CellOp::select, {condition, more, less});
  }
  Operator map = b.map({value});
  Tensor t = tensor(i64, {8}, {1, 2, 3, 4, 5, 6, 7, 8});
  expect_same_bits(native(map, {t}), interpreted(map, {t}), "nested");
}

}  // namespace
}  // namespace tap::backend::test
