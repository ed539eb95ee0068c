// Native code against the oracle, bit by bit, under several numbers of threads and parts.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "backend/llvm/executable.h"
#include "check/check.h"
#include "ir/block_program.h"
#include "passes/splits/apply_splits.h"
#include "passes/splits/expand.h"
#include "passes/splits/realise.h"
#include "tests/check/certified.h"
#include "tests/ir/monoids.h"

namespace tap::backend::test {

using namespace tap::ir;
using namespace tap::ir::test;

inline std::vector<Tensor> execute(Program program, GraphId graph, const std::vector<Tensor>& inputs,
                                   ExecuteOptions options = {}) {
  program.main = graph;
  options.scheduled = check::test::require_certified;
  return Executable(check::test::certified(passes::expand(program)), options).run(inputs);
}

// The program cut as the plan says, and certified, natively. Of one that leaves cells unwritten, which is not legal, the
// splits alone are.
inline Executable executable(const Program& program, const Plan& plan, ExecuteOptions options = {}, bool legal = true) {
  passes::SplitResult split = passes::apply_splits(program, plan);
  EXPECT_TRUE(split.problems.empty()) << split.problems[0].message;
  passes::RealiseResult realised = passes::realise(split.program);
  split.steps.push_back(realised.step);
  split.stages.push_back(realised.program);
  check::Verdict verdict;
  const Program* before = &program;
  for (std::size_t k = 0; k < split.steps.size(); before = &split.stages[k++])
    if (!split.steps[k].graphs.empty()) check::check_step(*before, split.stages[k], split.steps[k], "plan", verdict);
  for (const check::Finding& finding : verdict.findings)
    EXPECT_NE(finding.standing, check::Standing::refused) << finding.where << ": " << finding.detail;
  BlockProgram blocks = passes::expand(realised.program);
  if (legal) options.scheduled = check::test::require_certified;
  return Executable(legal ? check::test::certified(std::move(blocks)) : std::move(blocks), options);
}

inline void expect_same_bits(const std::vector<Tensor>& native, const std::vector<Tensor>& oracle,
                             const std::string& where) {
  ASSERT_EQ(native.size(), oracle.size()) << where;
  for (std::size_t k = 0; k < native.size(); ++k) {
    ASSERT_EQ(native[k].type(), oracle[k].type()) << where;
    ASSERT_EQ(native[k].shape(), oracle[k].shape()) << where;
    if (std::memcmp(native[k].data(), oracle[k].data(), native[k].byte_size()) == 0) continue;
    for (std::int64_t c = 0; c < native[k].size(); ++c) {
      double a = native[k].load_f64(c), b = oracle[k].load_f64(c);
      ASSERT_TRUE(a == b || (a != a && b != b))
          << where << ": output " << k << " cell " << c << " is " << a << ", not " << b;
    }
  }
}

inline void expect_native_is_oracle(const Program& program, GraphId graph, const std::vector<Tensor>& inputs,
                                    const InterpretOptions& oracle_options = {}, OutsideFunction kernel = nullptr) {
  auto expected = interpret(program, graph, inputs, oracle_options).outputs;
  struct RunConfig {
    std::size_t threads;
    std::int64_t parts;
  };
  for (RunConfig config : {RunConfig{1, 1}, RunConfig{2, 3}, RunConfig{8, 8}, RunConfig{1, 4}}) {
    ExecuteOptions options;
    options.threads = config.threads;
    options.parts = config.parts;
    if (kernel) options.kernel = [&](const std::string&) { return kernel; };
    auto where = std::to_string(config.threads) + " threads, " + std::to_string(config.parts) + " parts";
    expect_same_bits(execute(program, graph, inputs, options), expected, where);
  }
}

// A program of one operation.
inline void expect_native_is_oracle(Program program, const Operator& op, const std::vector<Tensor>& inputs) {
  BuildGraph g{program, {}};
  std::vector<ValueId> operands;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    operands.push_back(g.input("in" + std::to_string(k), op.operands[k].element, op.operands[k].shape));
  GraphId main = g.finish(g.add(op, operands));
  program.main = main;
  expect_native_is_oracle(program, main, inputs);
}

// Small integers that repeat with a period of 11: …, -2, -1, 0, 1, …
inline Tensor whole_numbers(ElementType type, const Shape& shape, std::int64_t start = 0) {
  Tensor t(type, shape);
  for (std::int64_t c = 0; c < t.size(); ++c) {
    std::int64_t value = (start + 7 * c) % 11 - (type == ElementType::u8 ? 0 : 5);
    if (is_bool(type)) t.store_i64(c, value > 0);
    else t.store_i64(c, value);
  }
  return t;
}

}  // namespace tap::backend::test
