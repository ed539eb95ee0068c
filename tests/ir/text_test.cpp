// The text form: what people see, print and parse as inverses, and a parser that survives any text.
#include "ir/text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "ir/text_names.h"
#include "ir/verify/verify.h"
#include "tests/ir/random_program.h"

namespace tap::ir {
namespace {

using samples::cell_access;

std::string message_of(const std::variant<Program, TextError>& result) {
  auto* error = std::get_if<TextError>(&result);
  return error ? "line " + std::to_string(error->line) + ": " + error->message : "no error";
}

TEST(Text, ReadableOperator) {
  Program program = samples::matmul_relu();
  EXPECT_EQ(print(program, program.operators[0]),
            "operator matmul: y[i, o] = sum[k] x[i, k] * w[k, o]\n"
            "  index  i: 0..4   o: 0..2   k: 0..8 reduce\n"
            "  read   x: f32[4, 8] at ZRange(start: [i, k], shape: [1, 1])\n"
            "  read   w: f32[8, 2] at ZRange(start: [k, o], shape: [1, 1])\n"
            "  write  y: f32[4, 2] at ZRange(start: [i, o], shape: [1, 1])\n");
}

TEST(Text, ReadableGraph) {
  Program program = samples::matmul_relu();
  EXPECT_EQ(print(program, program.graphs[0]),
            "graph mlp(X: f32[4, 8], const W: f32[8, 2]) -> (Y)\n"
            "  H: f32[4, 2] = matmul(X, W)\n"
            "  Y: f32[4, 2] = relu(H)\n");
}

TEST(Text, SerializedProgram) {
  Program program = samples::matmul_relu();
  EXPECT_EQ(print(program),
            R"(tap-ir 1
monoid 0 sum
  component v f32
  cell 0 = argument f32 0
  cell 1 = argument f32 1
  cell 2 = constant f32 0
  cell 3 = add f32 (0, 1)
  identity (2)
  combine (3)
  laws associative proved identity proved commutative proved fold unknown
operator 0 matmul
  dim i 0..4 parallel
  dim o 0..2 parallel
  dim k 0..8 reduce
  operand f32[4, 8]
  operand f32[8, 2]
  result f32[4, 2]
  operands named (x, w)
  results named (y)
  cell 0 = read f32 0
  cell 1 = read f32 1
  cell 2 = mul f32 (0, 1)
  read 0 at [i, k] shape [1, 1]
  read 1 at [k, o] shape [1, 1]
  write 0 at [i, o] shape [1, 1]
  // 0: x[i, k] * w[k, o]
  reduce 0 (2)
operator 1 relu
  dim i 0..4 parallel
  dim j 0..2 parallel
  operand f32[4, 2]
  result f32[4, 2]
  cell 0 = constant f32 0
  cell 1 = read f32 0
  cell 2 = max f32 (1, 0)
  read 0 at [i, j] shape [1, 1]
  write 0 at [i, j] shape [1, 1]
  // 0: max(x[i, j], 0)
  map (2)
graph 0 mlp
  value 0 X f32[4, 8]
  value 1 W f32[8, 2] const
  value 2 H f32[4, 2]
  value 3 Y f32[4, 2]
  inputs (0, 1)
  outputs (3)
  do 0 (0, 1) -> (2)  // H = matmul(X, W)
  do 1 (2) -> (3)  // Y = relu(H)
main 0
)");
  auto back = parse_program(print(program));
  ASSERT_TRUE(std::holds_alternative<Program>(back)) << message_of(back);
  EXPECT_EQ(std::get<Program>(back), program);
}

// One operator with dims i, u over which cells are built by hand.
struct Cells : testing::Test {
  Operator op;
  CellId i, u, x, b, zero;
  Cells() {
    op.dims = {{"i", {0, 8}}, {"u", {0, 3}}};
    op.operands = {{ElementType::f32, {8}}, {ElementType::i64, {8}}, {ElementType::f32, {8}}};
    op.operand_names = {"x", "ids", "table"};
    i = op.exprs.index(0);
    u = op.exprs.index(1);
    zero = op.exprs.constant(Scalar::zero(ElementType::f32));
    op.reads = {cell_access(0, 2, {AffineExpr{{1, 1}, -1}}), cell_access(1, 2, {AffineExpr{{1, 0}, 0}}),
                cell_access(2, 2, {AffineExpr{{0, 0}, 0}})};
    op.reads[0].fill = zero;
    op.reads[2].coordinates = {op.exprs.read(1, ElementType::i64)};
    op.reads[2].projection.shape = {8};
    x = op.exprs.read(0, ElementType::f32);
    b = apply(CellOp::less_equal, i, u);
  }
  CellId apply(CellOp o, CellId a, CellId c) {
    return op.exprs.apply(o,
                          info(o).kind == CellKind::comparison || info(o).kind == CellKind::lazy ? ElementType::boolean
                                                                                                 : op.exprs[a].type,
                          {a, c});
  }
  CellId apply(CellOp o, CellId a) { return op.exprs.apply(o, op.exprs[a].type, {a}); }
  CellId select(CellId c, CellId t, CellId e) { return op.exprs.apply(CellOp::select, op.exprs[t].type, {c, t, e}); }
  CellId number(double v) { return op.exprs.constant(Scalar::floating(ElementType::f32, v)); }
  std::string show(CellId id) { return print_cell(op, id); }
};

TEST_F(Cells, ReadsShowWhereTheyRead) {
  EXPECT_EQ(show(x), "x[i + u - 1 else 0]");
  EXPECT_EQ(show(op.exprs.read(2, ElementType::f32)), "table[ids[i]]");
}

TEST_F(Cells, ParenthesesOnlyWhereNeeded) {
  auto [add, sub, mul, div] = std::array{CellOp::add, CellOp::sub, CellOp::mul, CellOp::div};
  EXPECT_EQ(show(apply(add, apply(add, i, u), i)), "i + u + i");
  EXPECT_EQ(show(apply(add, i, apply(add, u, i))), "i + (u + i)");
  EXPECT_EQ(show(apply(sub, i, apply(sub, u, i))), "i - (u - i)");
  EXPECT_EQ(show(apply(mul, apply(add, i, u), i)), "(i + u) * i");
  EXPECT_EQ(show(apply(add, apply(mul, i, u), i)), "i * u + i");
  EXPECT_EQ(show(apply(div, i, apply(mul, u, i))), "i / (u * i)");
  EXPECT_EQ(show(apply(CellOp::neg, apply(add, i, u))), "-(i + u)");
  EXPECT_EQ(show(apply(CellOp::neg, apply(CellOp::neg, i))), "-(-i)");
  EXPECT_EQ(show(apply(mul, apply(CellOp::neg, i), u)), "-i * u");
  EXPECT_EQ(show(apply(CellOp::max, x, zero)), "max(x[i + u - 1 else 0], 0)");
  EXPECT_EQ(show(op.exprs.cast(apply(add, i, u), ElementType::f32)), "f32(i + u)");
}

TEST_F(Cells, LogicAndSelects) {
  CellId c = apply(CellOp::less, u, i), both = apply(CellOp::logical_and, b, c),
         either = apply(CellOp::logical_or, b, c);
  EXPECT_EQ(show(apply(CellOp::logical_and, either, b)), "(i <= u or u < i) and i <= u");
  EXPECT_EQ(show(apply(CellOp::logical_or, both, b)), "i <= u and u < i or i <= u");
  EXPECT_EQ(show(apply(CellOp::logical_not, both)), "not (i <= u and u < i)");
  EXPECT_EQ(show(apply(CellOp::logical_and, apply(CellOp::logical_not, b), c)), "not i <= u and u < i");
  EXPECT_EQ(show(apply(CellOp::equal, b, c)), "(i <= u) == (u < i)");
  CellId choice = select(b, i, u);
  EXPECT_EQ(show(choice), "if i <= u then i else u");
  EXPECT_EQ(show(apply(CellOp::add, choice, i)), "(if i <= u then i else u) + i");
  EXPECT_EQ(show(select(b, i, choice)), "if i <= u then i else if i <= u then i else u");
}

TEST_F(Cells, NumbersReadBack) {
  EXPECT_EQ(show(number(0.1)), "0.1");
  EXPECT_EQ(show(number(-0.0)), "-0");
  EXPECT_EQ(show(number(1e30)), "1e+30");
  EXPECT_EQ(show(number(std::numeric_limits<double>::infinity())), "inf");
  EXPECT_EQ(show(number(std::nan(""))), "nan");
  EXPECT_EQ(show(apply(CellOp::sub, x, number(-1))), "x[i + u - 1 else 0] - -1");
  EXPECT_EQ(show(op.exprs.constant(Scalar::floating(ElementType::f64, 0.1))), "0.1");
}

// Written out as a tree this would have 2^60 leaves.
TEST_F(Cells, SharedCellsAreNamed) {
  CellId at = x;
  for (int k = 0; k < 60; ++k) at = apply(CellOp::mul, at, at);
  std::string text = show(at);
  EXPECT_LT(text.size(), 2000u);
  EXPECT_EQ(text.substr(0, 4), "let ");
  EXPECT_NE(text.find(" in %"), std::string::npos);
}

TEST_F(Cells, DeepCellsDoNotOverflowTheStack) {
  CellId at = x;
  for (int k = 0; k < 200'000; ++k) at = apply(CellOp::neg, at);
  EXPECT_LT(show(at).size(), 2'000'000u);
}

RC_GTEST_PROP(Text, RoundTrips, ()) {
  Program program = samples::random_program();
  auto back = parse_program(print(program));
  if (std::holds_alternative<TextError>(back)) RC_FAIL(message_of(back) + "\n" + print(program));
  RC_ASSERT(std::get<Program>(back) == program);
  RC_ASSERT(print(std::get<Program>(back)) == print(program));
}

RC_GTEST_PROP(Text, ReadableFormsNeverCrash, ()) {
  Program program = samples::random_program();
  for (const Graph& graph : program.graphs) RC_ASSERT(!print(program, graph).empty());
  for (const Operator& op : program.operators) RC_ASSERT(!print(program, op).empty());
  verify(program);
}

std::string chance_text() { return print(samples::chance() ? samples::random_program() : samples::matmul_relu()); }

// Mutations of good text: the parser either refuses with a line of the text, or gives a program that prints.
void survives(const std::string& text) {
  auto result = parse_program(text);
  if (auto* error = std::get_if<TextError>(&result)) {
    RC_ASSERT(!error->message.empty());
    RC_ASSERT(error->line <= static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1);
    return;
  }
  const Program& program = std::get<Program>(result);
  auto again = parse_program(print(program));
  RC_ASSERT(std::holds_alternative<Program>(again));
  RC_ASSERT(std::get<Program>(again) == program);
  verify(program);
}

RC_GTEST_PROP(Text, SurvivesMutatedTexts, ()) {
  std::string text = chance_text();
  int changes = static_cast<int>(samples::pick(1, 6));
  for (int k = 0; k < changes && !text.empty(); ++k) {
    auto at = static_cast<std::size_t>(samples::pick(0, static_cast<std::int64_t>(text.size())));
    auto length = static_cast<std::size_t>(samples::pick(1, 9));
    switch (samples::pick(0, 4)) {
      case 0: text[at] = *rc::gen::arbitrary<char>(); break;
      case 1: text.erase(at, length); break;
      case 2:
        text.insert(at, text.substr(static_cast<std::size_t>(samples::pick(0, static_cast<std::int64_t>(text.size()))),
                                    length));
        break;
      default: text[at] = *rc::gen::element('0', '9', '-', '(', ')', '[', '"', '\\', '\n', '_', '#', '{'); break;
    }
  }
  survives(text);
}

RC_GTEST_PROP(Text, SurvivesShuffledLines, ()) {
  std::string text = chance_text();
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  for (std::int64_t k = samples::pick(1, 4); k > 0; --k)
    std::swap(lines[static_cast<std::size_t>(samples::pick(1, static_cast<std::int64_t>(lines.size())))],
              lines[static_cast<std::size_t>(samples::pick(1, static_cast<std::int64_t>(lines.size())))]);
  survives(joined(lines, "\n"));
}

TEST(Text, ErrorsNameLineAndCause) {
  auto error_of = [](std::string_view text) { return message_of(parse_program(text)); };
  EXPECT_EQ(error_of(""), "line 0: the text is empty");
  EXPECT_EQ(error_of("tap-ir 2\n"), "line 1: the version of the text must be 1");
  EXPECT_EQ(error_of("tap-ir 1\nvalue 0 X f32[]\n"), "line 2: `value` does not begin a section");
  EXPECT_EQ(error_of("tap-ir 1\nmain 3\n"), "line 2: number 3 of 0 graphs");
  EXPECT_EQ(error_of("tap-ir 1\ngraph 1 g\n"), "line 2: found number 1, expected 0");
  EXPECT_EQ(error_of("tap-ir 1\ngraph 0 g\n  inputs (0)\n"), "line 3: number 0 of 0 values");
  EXPECT_EQ(error_of("tap-ir 1\ngraph 0 g\n  do 7 () -> ()\n"), "line 3: number 7 of 0 operators");
  EXPECT_EQ(error_of("tap-ir 1\noperator 0 f\n  cell 0 = add f32 (0, 0)\n"), "line 3: number 0 of 0 cells");
  EXPECT_EQ(error_of("tap-ir 1\noperator 0 f\n  cell 0 = constant i8 200\n"), "line 3: a number is outside -128..127");
  EXPECT_EQ(error_of("tap-ir 1\noperator 0 f\n  cell 0 = constant f16 0.1\n"), "line 3: `0.1` is not exact in f16");
  EXPECT_EQ(error_of("tap-ir 1\noperator 0 f\n  cell 0 = constant i8 1\n  cell 1 = constant i8 1\n"),
            "line 4: cell 1 repeats cell 0");
  EXPECT_EQ(error_of("tap-ir 1\noperator 0 f\n"), "line 2: an operator has no body");
  EXPECT_EQ(error_of("tap-ir 1\noperator 0 f\n  dim i 0..4 parallel\n  where i + i >= 0\n"),
            "line 4: a term occurs twice");
  EXPECT_EQ(error_of("tap-ir 1\nrewrite \"open\n"), "line 2: unterminated quoted string");
}

// Meshes and axes are known by name when they are read.
TEST(Text, UnknownMeshesAndAxesAreRefused) {
  const std::string begin = "tap-ir 1\nmesh pod [data: 2]\ngraph 0 g\n  value 0 X f32[4]\n";
  auto error_of = [&](const std::string& line) {
    return message_of(parse_program(begin + "  " + line + "\nmain 0\n"));
  };
  EXPECT_EQ(error_of("value 1 Y f32[4] @ pod[{data}]"), "no error");
  EXPECT_EQ(error_of("value 1 Y f32[4] @ rack[{data}]"), "line 5: the mesh rack is not declared");
  EXPECT_EQ(error_of("value 1 Y f32[4] @ pod[{model}]"), "line 5: the mesh pod has no axis model");
  EXPECT_EQ(error_of("value 1 Y f32[4] @ pod[{}; replicated {model}]"), "line 5: the mesh pod has no axis model");
  const std::string operation = "do 0 () -> (0) placed [0 over axis ";
  EXPECT_EQ(error_of(operation + "rack.data]"), "line 5: the mesh rack is not declared");
  EXPECT_EQ(error_of(operation + "pod.model]"), "line 5: the mesh pod has no axis model");
}

// A request to split has the axis alone where that says which; its mesh, too, where it does not.
TEST(Text, TheAxisOfASplit) {
  Program program = samples::matmul_relu();
  program.meshes = {{"pod", {{"data", 2}, {"model", 4}}, {}}};
  program.graphs[0].splits = {
      {OperationId(0), {}, 0, "k", {{0, 8}}, Placement::mesh_axis, MeshId(0), AxisRef{AxisId(1), SubAxis{1, 2}}}};
  EXPECT_NE(print(program).find(" over axis on model:(1)2\n"), std::string::npos) << print(program);
  EXPECT_EQ(std::get<Program>(parse_program(print(program))), program);
  const std::string alone = print(program);
  program.meshes.push_back({"rack", {{"model", 2}}, {}});
  EXPECT_NE(print(program).find(" over axis on pod.model:(1)2\n"), std::string::npos) << print(program);
  EXPECT_EQ(std::get<Program>(parse_program(print(program))), program);
  auto with = [&](const std::string& lines) {
    return message_of(parse_program("tap-ir 1\n" + lines + alone.substr(9)));
  };
  EXPECT_EQ(with("mesh rack [model: 2]\n"), "line 51: the axis model belongs to several meshes");
  EXPECT_EQ(with(""), "no error");
}

}  // namespace
}  // namespace tap::ir
