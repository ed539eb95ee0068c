// Programs out of Tap text with their calls inlined, and what they compute: as it is, and with groups in blocks.
#pragma once

#include <fmt/format.h>

#include <gtest/gtest.h>

#include <cmath>

#include "check/check.h"
#include "passes/plan_applier.h"
#include "passes/simplify/inline_calls.h"
#include "tests/frontend/compile_source.h"

namespace tap::passes::test {

inline ir::Program lowered(const std::string& text) {
  auto outcome = tap::test::compile_text(text);
  EXPECT_TRUE(outcome.compiled) << outcome.messages;
  return inline_calls(outcome.compiled->program, {}).program;
}

// Small integers, some of them negative; of ids, small ones that are not.
inline std::vector<Tensor> sample_inputs(const ir::Program& program) {
  std::vector<Tensor> inputs;
  std::int64_t seed = 0;
  for (ir::ValueId v : program[program.main].inputs) {
    const ir::TensorType& type = program[program.main][v].type;
    Tensor t(type.element, type.shape);
    for (std::int64_t c = 0; c < t.size(); ++c) {
      std::int64_t n = (seed + 7 * c + c / 5) % 11;
      if (is_float(type.element)) t.store_f64(c, static_cast<double>(n - 5));
      else t.store_i64(c, n % 3);
    }
    seed += 3;
    inputs.push_back(std::move(t));
  }
  return inputs;
}

inline void expect_equal(const std::vector<Tensor>& found, const std::vector<Tensor>& expected,
                         const std::string& where) {
  ASSERT_EQ(found.size(), expected.size()) << where;
  for (std::size_t k = 0; k < found.size(); ++k) {
    ASSERT_EQ(found[k].shape(), expected[k].shape()) << where;
    for (std::int64_t c = 0; c < found[k].size(); ++c) {
      double a = found[k].load_f64(c), b = expected[k].load_f64(c);
      ASSERT_TRUE(a == b || (std::isnan(a) && std::isnan(b)))
          << where << ": output " << k << ", cell " << c << " is " << a << ", not " << b;
    }
  }
}

// The same values, whether groups run whole or block after block with everything else poisoned; and a program that the
// verifier accepts.
inline void expect_same_meaning(const ir::Program& before, const ir::Program& after) {
  ASSERT_EQ(ir::verify(after), std::vector<std::string>{});
  std::vector<Tensor> inputs = sample_inputs(before);
  auto expected = ir::interpret(before, before.main, inputs).outputs;
  expect_equal(ir::interpret(after, after.main, inputs).outputs, expected, "whole");
  for (std::int64_t block : {1, 2, 3, 1000}) {
    ir::InterpretOptions options;
    options.group_block = block;
    expect_equal(ir::interpret(after, after.main, inputs, options).outputs, expected,
                 "in blocks of " + std::to_string(block));
  }
}

// The independent checker believes what the step claims.
inline void expect_certified(const ir::Program& before, const ir::Program& after, const ir::Step& step) {
  check::Verdict verdict;
  check::check_step(before, after, step, step.pass, verdict);
  for (const check::Finding& finding : verdict.findings)
    if (finding.standing == check::Standing::refused) ADD_FAILURE() << finding.where << ": " << finding.detail;
}

// At most one step, believed, and the same meaning.
inline void expect_correct(const ir::Program& before, const PlannedResult& result) {
  if (result.steps.size() == 1) expect_certified(before, result.program, result.steps[0]);
  expect_same_meaning(before, result.program);
}

// The groups of a graph, as "over i, j: t, s, y -> y" (operations inside, what leaves).
inline std::vector<std::string> groups_of(const ir::Program& program, const ir::Graph& graph) {
  std::vector<std::string> lines;
  for (const ir::Operation& operation : graph.operations) {
    const ir::Operator& op = program[operation.op];
    if (!op.region() || op.region()->kind != ir::RegionKind::group) continue;
    auto list = [](std::string& to, const std::string& name) { to += (to.empty() ? "" : ", ") + name; };
    std::string dims, inner, out;
    for (const ir::IndexDim& dim : op.dims) list(dims, dim.name);
    const ir::Graph& own = program[op.region()->graph];
    for (const ir::Operation& o : own.operations) list(inner, own[o.results[0]].name);
    for (ir::ValueId v : operation.results) list(out, graph[v].name);
    lines.push_back(fmt::format("over {}: {} -> {}", dims, inner, out));
  }
  return lines;
}

}  // namespace tap::passes::test
