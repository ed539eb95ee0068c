// Random legal operators under random splits: native is the oracle, bit by bit.
#include <rapidcheck.h>

#include <algorithm>
#include <cstdio>

#include "backend/tiles/patterns.h"
#include "ir/graph.h"
#include "ir/graphs/streamed_reduction.h"
#include "tests/backend/compare.h"
#include "tests/backend/random_operator.h"
#include "tests/passes/random_plan.h"

namespace tap::backend::test {
namespace {

using passes::test::random_meshes;
using passes::test::random_splits;

// What the random operators were, so that a generator that makes only one kind does not go unnoticed.
struct Coverage {
  int programs = 0, operators = 0, reductions = 0, scans = 0, scatters = 0, fills = 0, constrained = 0;
};

void add_operators(Program& program, Choices& choose, std::vector<Tensor>& inputs, Coverage& coverage) {
  // Of each program one operator is a scan, one a scatter and one is anything, so that no run leaves a kind out.
  std::vector<Operator> operators;
  operators.push_back(RandomOperator(program, choose).make());
  operators.push_back(RandomOperator(program, choose).make_scan());
  operators.push_back(RandomOperator(program, choose).make_scatter());
  BuildGraph g{program, {}};
  std::vector<ValueId> outputs;
  for (const Operator& op : operators) {
    std::vector<ValueId> operands;
    for (const TensorType& type : op.operands) {
      operands.push_back(g.input("in" + std::to_string(inputs.size()), type.element, type.shape));
      inputs.push_back(whole_numbers(type.element, type.shape, choose(11)));
    }
    outputs.push_back(g.add(op, operands)[0]);
    ++coverage.operators;
    coverage.reductions += op.reduce() != nullptr;
    coverage.scans += native_scan(op).has_value();
    coverage.scatters += native_scatter(program, op).has_value();
    coverage.fills += std::any_of(op.reads.begin(), op.reads.end(), [](const Access& a) { return a.fill.has_value(); });
    coverage.constrained += !op.constraints.empty();
  }
  ++coverage.programs;
  program.main = g.finish(outputs);
}

// The cells that the operator writes: an operator alone may leave some out, and what is there then is anything.
std::vector<bool> written(const Operator& op) {
  const Projection& write = op.writes[0].projection;
  const Shape& shape = op.results[0].shape;
  std::vector<std::int64_t> strides = row_major_strides(shape);
  std::vector<bool> cells(static_cast<std::size_t>(element_count(shape)), false);
  Box box = without_reduction(op, op.box());
  auto point = first_point(box);
  for (bool more = point.has_value(); more; more = next_point(box, *point)) {
    bool inside = std::all_of(op.constraints.begin(), op.constraints.end(), [&](const Constraint& c) {
      for (std::size_t d = 0; d < op.dims.size(); ++d)
        if (op.dims[d].role == DimRole::reduction && c.expr.coefficients[d] != 0) return true;
      return c.holds(*point);
    });
    if (!inside) continue;
    std::int64_t at = 0;
    Box cell = write.image(*point);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) at += cell.dims[axis].lo * strides[axis];
    cells[static_cast<std::size_t>(at)] = true;
  }
  return cells;
}

bool same_where_written(const Tensor& a, const Tensor& b, const std::vector<bool>& cells) {
  const std::size_t size = size_of(a.type());
  for (std::size_t c = 0; c < cells.size(); ++c)
    if (cells[c] && std::memcmp(a.data() + c * size, b.data() + c * size, size) != 0) return false;
  return true;
}

TEST(Random, OperatorsUnderRandomSplits) {
  Coverage coverage;
  bool ok = rc::check("native is the oracle", [&] {
    Choices choose(*rc::gen::container<std::vector<std::uint8_t>>(200, rc::gen::arbitrary<std::uint8_t>()));
    Program program;
    std::vector<Tensor> inputs;
    add_operators(program, choose, inputs, coverage);
    auto expected = interpret(program, program.main, inputs).outputs;
    std::vector<std::vector<bool>> cells;
    for (const Operation& operation : program[program.main].operations) cells.push_back(written(program[operation.op]));
    bool legal = true;
    for (const std::vector<bool>& one : cells) legal = legal && std::count(one.begin(), one.end(), false) == 0;
    ExecuteOptions options;
    options.threads = 2;
    program.meshes = random_meshes();
    Executable native = executable(program, random_splits(choose, program), options, legal);
    auto got = native.run(inputs);
    for (std::size_t k = 0; k < got.size(); ++k) {
      bool same = same_where_written(got[k], expected[k], cells[k]);
      RC_ASSERT(same);
    }
  });
  EXPECT_TRUE(ok);
  std::printf("%d operators: %d reductions, %d scans, %d scatters, %d with a fill, %d constrained\n",
              coverage.operators, coverage.reductions, coverage.scans, coverage.scatters, coverage.fills,
              coverage.constrained);
  EXPECT_GE(coverage.reductions, 2 * coverage.programs);
  EXPECT_GE(coverage.scans, coverage.programs);
  EXPECT_GE(coverage.scatters, coverage.programs);
  EXPECT_GT(coverage.fills, 0);
  EXPECT_GE(coverage.constrained, coverage.programs);
}

}  // namespace
}  // namespace tap::backend::test
