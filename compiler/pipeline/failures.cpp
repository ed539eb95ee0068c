#include "compiler/pipeline/failures.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/pipeline/pipeline.h"
#include "ir/graphs/operation_names.h"
#include "ir/graphs/program_hash.h"
#include "ir/text.h"
#include "ir/text/certificate_text.h"
#include "ir/text/stage_text.h"

namespace tap::pipeline {
namespace {

std::string sentence(const check::Finding& finding) {
  return fmt::format("{}: the obligation `{}` does not hold: {}", finding.where, name_of(finding.obligation),
                     finding.detail);
}

// The name in messages: `H`, or `u/v` in the body of an iterate.
std::string full_name(const ir::Program& program, ir::GraphId graph, std::size_t operation) {
  for (const auto& [reached, path] : ir::graph_paths(program))
    if (reached == graph) return path + ir::operation_names(program[graph])[operation];
  return "";
}

// tapc-check accepts no certificate without hashes.
ir::Certificate with_hashes(ir::Certificate certificate, const std::vector<ir::Program>& stages) {
  for (std::size_t k = 0; k < certificate.steps.size() && k + 1 < stages.size(); ++k) {
    certificate.steps[k].before = ir::hash_of(stages[k]);
    certificate.steps[k].after = ir::hash_of(stages[k + 1]);
  }
  return certificate;
}

std::string section(const std::string& title, const std::string& text) { return "---- " + title + "\n" + text; }

}  // namespace

PlanRefused::PlanRefused(std::vector<passes::PlanProblem> found, std::vector<std::string> of_the_program)
    : Failure{exit_code::wrong_program, Diagnostic(Code::plan_not_applicable, Span{}, found.front().message)},
      problems(std::move(found)),
      requested(std::move(of_the_program)) {}

TooManyBlocks::TooManyBlocks(Diagnostic diagnostic, std::string operation)
    : Failure{exit_code::wrong_program, std::move(diagnostic)}, operation(std::move(operation)) {}

UnjustifiedStep::UnjustifiedStep(const Compilation& made, const check::Finding& finding)
    : InternalError(sentence(finding)), source(made.source) {
  const auto& [step, graph, o] = finding.at;
  const std::vector<ir::Program>& stages = made.stages;
  const std::size_t last = stages.empty() ? 0 : std::min(step.value_or(0), stages.size() - 1);
  evidence = section("the certificate", ir::print(with_hashes(made.certificate, stages)));
  if (stages.empty()) return;
  before.assign(stages.begin(), stages.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  evidence += section("before the step", ir::print(stages[last]));
  if (!step) return;
  if (last + 1 >= stages.size()) {  // a step after the last graph
    if (made.schedule) evidence += section("after the step", ir::print(*made.schedule));
    else if (made.expanded()) evidence += section("after the step", ir::print(*made.expanded()));
    return;
  }
  const ir::Program& after = stages[last + 1];
  evidence += section("after the step", ir::print(after));
  if (graph && o && *graph < after.graphs.size() && *o < after.graphs[*graph].operations.size())
    operation = full_name(after, ir::GraphId(*graph), *o);
}

}  // namespace tap::pipeline
