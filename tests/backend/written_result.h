// Native code of a source text against the interpreter, with its plan and on several threads.
#pragma once

#include <fmt/format.h>

#include "ir/interpret/interpret.h"
#include "passes/fusion/fuse.h"
#include "tests/backend/compare.h"
#include "tests/frontend/compile_source.h"
#include "tests/ir/parse_plan.h"

namespace tap::backend::test {

inline ir::Program written_program(const std::string& text, const std::string& plan = "") {
  auto outcome = tap::test::compile_text(text);
  if (!outcome.compiled) throw std::runtime_error(text + "\n" + outcome.messages);
  if (plan.empty()) return outcome.compiled->program;
  auto fused = passes::apply_fusions(outcome.compiled->program, std::get<Plan>(parse_plan("plan 2\n" + plan)));
  if (!fused.problems.empty()) throw std::runtime_error(text + "\n" + fused.problems[0].message);
  return fused.program;
}

// Whole numbers: sums are exact in any order.
inline std::vector<Tensor> whole_inputs(const ir::Program& program) {
  std::vector<Tensor> inputs;
  for (ValueId id : program[program.main].inputs) {
    const TensorType& type = program[program.main][id].type;
    inputs.push_back(whole_numbers(type.element, type.shape, static_cast<std::int64_t>(inputs.size()) + 1));
  }
  return inputs;
}

// As the kernels are lowered for the machine.
inline void expect_native_is_oracle_on(const ir::Machine& machine, const ir::Program& program,
                                       const std::string& where) {
  const std::vector<Tensor> inputs = whole_inputs(program);
  const auto oracle = interpret(program, program.main, inputs).outputs;
  for (std::uint32_t threads : {1u, 3u}) {
    ExecuteOptions options;
    options.threads = threads;
    options.parts = threads == 1 ? 1 : 5;
    options.machine = machine;
    expect_same_bits(execute(program, program.main, inputs, options), oracle,
                     fmt::format("{}, {} threads", where, threads));
  }
}

inline void expect_written_result(const std::string& text, const std::string& plan = "") {
  const ir::Program written = written_program(text), program = written_program(text, plan);
  const std::vector<Tensor> inputs = whole_inputs(written);
  const auto oracle = interpret(written, written.main, inputs).outputs;
  for (std::uint32_t threads : {1u, 3u}) {
    ExecuteOptions options;
    options.threads = threads;
    expect_same_bits(execute(program, program.main, inputs, options), oracle,
                     fmt::format("{}, {} threads", text, threads));
  }
}

}  // namespace tap::backend::test
