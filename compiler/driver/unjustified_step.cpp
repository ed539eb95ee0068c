#include "compiler/driver/unjustified_step.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/driver/reproducer.h"
#include "compiler/driver/show/written_operations.h"
#include "ir/graphs/operation_names.h"
#include "ir/text.h"
#include "ir/text/certificate_text.h"

namespace tap::driver {
namespace {

std::string sentence(const check::Finding& finding) {
  return fmt::format("{}: the obligation `{}` is refused: {}", finding.where, name_of(finding.obligation),
                     finding.detail);
}

// As messages name it: `H`, or `u/v` in the body of an iterate.
std::string full_name(const ir::Program& program, ir::GraphId graph, std::size_t operation) {
  for (const auto& [reached, path] : ir::graph_paths(program))
    if (reached == graph) return path + ir::operation_names(program[graph])[operation];
  return "";
}

std::string section(const std::string& title, const std::string& text) { return "---- " + title + "\n" + text; }

}  // namespace

UnjustifiedStep::UnjustifiedStep(const Certified& certified, const check::Finding& finding)
    : InternalError(sentence(finding)) {
  const auto& [step, graph, o] = finding.at;
  const std::vector<ir::Program>& stages = certified.stages;
  const std::size_t last = stages.empty() ? 0 : std::min(step.value_or(0), stages.size() - 1);
  evidence = section("the certificate", ir::print(certified.certificate));
  if (stages.empty()) return;
  before.assign(stages.begin(), stages.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  evidence += section("before the step", ir::print(stages[last]));
  if (!step || last + 1 >= stages.size()) return;
  const ir::Program& made = stages[last + 1];
  evidence += section("after the step", ir::print(made));
  if (graph && o && *graph < made.graphs.size() && *o < made.graphs[*graph].operations.size())
    operation = full_name(made, ir::GraphId(*graph), *o);
}

UnjustifiedStep::UnjustifiedStep(const ir::Program& program, const std::string& stage, const check::Finding& finding)
    : InternalError(sentence(finding)),
      before{program},
      evidence(section("before the step", ir::print(program)) + section("after the step", stage)) {}

Diagnostic told(const Session& session, const UnjustifiedStep& fault) {
  return {Code::not_justified, written_at(session.operations, fault.operation), fault.what()};
}

void warn_of_a_step_left_out(const Session& session, const UnjustifiedStep& fault) {
  remember_evidence_for_reproducer(fault.evidence);
  char name[256];
  write_reproducer("checking the certificate", fault.what(), name);
  const std::string reproducer = *name ? fmt::format("reproducer written to {}", name)
                                       : "no reproducer could be written";
  session.tell(Diagnostic(Code::step_left_out, written_at(session.operations, fault.operation),
                          fmt::format("{}; the program runs as it was before this step", fault.what()))
                   .note("this is a bug in tapc; the result is not affected; " + reproducer));
}

}  // namespace tap::driver
