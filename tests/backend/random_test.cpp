// Random legal operators under random splits: native is the oracle, bit by bit.
#include <rapidcheck.h>

#include <algorithm>
#include <cstdio>

#include "backend/patterns.h"
#include "tests/backend/compare.h"
#include "tests/backend/random_operator.h"
#include "tests/passes/random_plan.h"

namespace tap::backend::test {
namespace {

using passes::test::random_meshes;
using passes::test::random_splits;

// What the random operators were, so that a generator that makes only one kind does not go unnoticed.
struct Seen {
  int programs = 0, operators = 0, reductions = 0, scans = 0, scatters = 0, fills = 0, constrained = 0;
};

void add_operators(Program& program, Choices& choose, std::vector<Tensor>& inputs, Seen& seen) {
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
    ++seen.operators;
    seen.reductions += op.reduce() != nullptr;
    seen.scans += find_scan(op).has_value();
    seen.scatters += find_scatter(program, op).has_value();
    seen.fills += std::any_of(op.reads.begin(), op.reads.end(), [](const Access& a) { return a.fill.has_value(); });
    seen.constrained += !op.constraints.empty();
  }
  ++seen.programs;
  program.main = g.finish(outputs);
}

TEST(Random, OperatorsUnderRandomSplits) {
  Seen seen;
  bool ok = rc::check("native is the oracle", [&] {
    Choices choose(*rc::gen::container<std::vector<std::uint8_t>>(200, rc::gen::arbitrary<std::uint8_t>()));
    Program program;
    std::vector<Tensor> inputs;
    add_operators(program, choose, inputs, seen);
    auto expected = interpret(program, program.main, inputs).outputs;
    ExecuteOptions options;
    options.threads = 2;
    program.meshes = random_meshes();
    Executable native = executable(program, random_splits(choose, program), options);
    auto got = native.run(inputs);
    for (std::size_t k = 0; k < got.size(); ++k) {
      bool same = std::memcmp(got[k].data(), expected[k].data(), got[k].byte_size()) == 0;
      if (!same) RC_LOG() << native.print_kernels();
      RC_ASSERT(same);
    }
  });
  EXPECT_TRUE(ok);
  std::printf("%d operators: %d reductions, %d scans, %d scatters, %d with a fill, %d constrained\n", seen.operators,
              seen.reductions, seen.scans, seen.scatters, seen.fills, seen.constrained);
  EXPECT_GE(seen.reductions, 2 * seen.programs);
  EXPECT_GE(seen.scans, seen.programs);
  EXPECT_GE(seen.scatters, seen.programs);
  EXPECT_GT(seen.fills, 0);
  EXPECT_GE(seen.constrained, seen.programs);
}

}  // namespace
}  // namespace tap::backend::test
