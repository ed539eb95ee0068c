#include "passes/pipeline.h"

#include "ir/graph_algorithms.h"
#include "ir/verify.h"
#include "passes/inline_calls.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;

namespace {

Program share_equal_operations(const Program& program) {
  Program result = program;
  for (Graph& graph : result.graphs) graph = without_common_subexpressions(program, graph);
  return result;
}

Program remove_dead_code(const Program& program) {
  Program result = program;
  for (Graph& graph : result.graphs) graph = without_dead_code(graph);
  return result;
}

constexpr Pass lowering_passes[] = {
    {"inline_calls", "first: what follows sees through calls", inline_calls},
    {"share_equal_operations", "after inlining, which makes equal operations visible in one graph",
     share_equal_operations},
    {"remove_dead_code", "last: inlining leaves results that nobody asked for", remove_dead_code},
};

}  // namespace

std::span<const Pass> lowering() { return lowering_passes; }

Program run(std::span<const Pass> passes, Program program, const AfterPass& after) {
  for (const Pass& pass : passes) {
    Program next = pass.run(program);
    std::vector<std::string> problems = verify(next);
    if (!problems.empty())
      TAP_UNREACHABLE("the pass `" + std::string(pass.name) + "` made an ill-formed program: " + problems.front());
    if (after) after(pass, program, next);
    program = std::move(next);
  }
  return program;
}

}  // namespace tap::passes
