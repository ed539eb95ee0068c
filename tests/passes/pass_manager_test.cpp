// The pass manager: order, verification, claims, remarks.
#include "passes/pass_manager.h"

#include <gtest/gtest.h>

#include <set>

#include "ir/graph.h"
#include "ir/graphs/program_hash.h"
#include "support/check.h"
#include "tests/ir/build.h"

namespace tap::passes {
namespace {

using namespace tap::ir;
using namespace tap::ir::test;

// y = |-x|, and a result that nobody requests
Program small_program() {
  Program program;
  BuildGraph g{program, {}};
  auto x = g.input("x", f32, {4});
  auto t = g.add(unary(CellOp::neg, "t"), {x})[0];
  g.add(unary(CellOp::exp, "unused"), {t});
  program.main = g.finish(g.add(unary(CellOp::abs, "y"), {t}));
  return program;
}

PassResult unchanged(const Program& program, const PassContext&) {
  PassResult result{program, {}, {}};
  for (std::size_t g = 0; g < program.graphs.size(); ++g) {
    GraphClaim claim;
    claim.after = claim.before = GraphId{g};
    for (std::size_t v = 0; v < program.graphs[g].values.size(); ++v) claim.values.push_back(ValueRef{{}, ValueId{v}});
    for (std::size_t o = 0; o < program.graphs[g].operations.size(); ++o)
      claim.operations.push_back(Copied{{{}, OperationId{o}}});
    result.step.graphs.push_back(std::move(claim));
  }
  return result;
}
PassResult without_results(const Program& program, const PassContext& context) {
  PassResult broken = unchanged(program, context);
  broken.program.graphs[0].operations[0].results = {};
  return broken;
}
PassResult without_claims(const Program& program, const PassContext&) {
  PassResult silent{program, {}, {}};
  silent.program.graphs[0].operations.erase(silent.program.graphs[0].operations.begin() + 1);  // of `unused`
  return silent;
}

std::string failure_of(std::span<const Pass> passes) {
  try {
    run(passes, small_program());
  } catch (const InternalError& error) { return error.what(); }
  return "";
}

TEST(PassManager, NamesThePassThatMadeAnInvalidProgram) {
  const Pass passes[] = {{"harmless", "", unchanged}, {"saboteur", "", without_results}};
  EXPECT_NE(failure_of(passes).find("saboteur"), std::string::npos) << failure_of(passes);
}

TEST(PassManager, NamesThePassThatClaimsTooLittle) {
  const Pass passes[] = {{"harmless", "", unchanged}, {"silent", "", without_claims}};
  EXPECT_NE(failure_of(passes).find("silent"), std::string::npos) << failure_of(passes);
}

TEST(PassManager, OneStepForEachChangingRun) {
  const Pass passes[] = {{"harmless", "", unchanged}, *find_pass("remove_dead_code")};
  Passed passed = run(passes, small_program());
  ASSERT_EQ(passed.certificate.steps.size(), 1u);
  EXPECT_EQ(passed.certificate.steps[0].pass, "remove_dead_code");
  EXPECT_EQ(passed.certificate.steps[0].before, hash_of(small_program()));
  EXPECT_EQ(passed.certificate.steps[0].after, hash_of(passed.program));
  EXPECT_EQ(passed.program[passed.program.main].operations.size(), 2u);
  EXPECT_EQ(passed.program.operators.size(), 2u);
}

// Takes the last operation away, each time that it runs.
PassResult with_fewer_claims(const Program& program, const PassContext& context) {
  PassResult result = unchanged(program, context);
  Graph& graph = result.program.graphs[0];
  if (graph.operations.size() == 1) return result;
  graph.operations.pop_back();
  graph.outputs = graph.operations.back().results;
  result.step.graphs[0].operations.pop_back();
  graph.values.pop_back();
  result.step.graphs[0].values.pop_back();
  return result;
}

TEST(PassManager, RunsAPassUntilNothingChanges) {
  const Pass pass{"one_less", "", with_fewer_claims, true};
  int runs = 0;
  Passed passed = run({&pass, 1}, small_program(), {}, [&](const PassRun&) { ++runs; });
  EXPECT_EQ(runs, 3);
  ASSERT_EQ(passed.certificate.steps.size(), 2u);
  EXPECT_EQ(passed.certificate.steps[0].after, passed.certificate.steps[1].before);
  EXPECT_EQ(passed.program.graphs[0].operations.size(), 1u);
}

TEST(PassManager, EveryPassHasAReasonAndIsFoundByItsName) {
  for (const Pass& pass : lowering()) {
    EXPECT_FALSE(pass.reason.empty()) << pass.name;
    ASSERT_NE(find_pass(pass.name), nullptr);
    EXPECT_EQ(find_pass(pass.name)->run, pass.run);
  }
  std::vector<std::string> names = pass_names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_EQ(find_pass("no_such_pass"), nullptr);
}

}  // namespace
}  // namespace tap::passes
