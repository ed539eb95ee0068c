#include "compiler/driver/read_plan.h"

#include <fmt/format.h>

#include "compiler/driver/read_source.h"
#include "compiler/driver/show/written_operations.h"
#include "compiler/pipeline/line_span.h"

namespace tap::driver {
namespace {

constexpr std::size_t most_shown = 20;

// The plan line that unrolls the iterate around the operation, whose trips then have different names.
const ir::TextPart* unrolled_by(const Session& session, const std::string& name) {
  if (!session.plan) return nullptr;
  const std::string_view text = session.sources.file(session.plan->file).text();
  for (const std::vector<ir::TextPart>& parts : session.plan->decisions)
    for (const ir::TextPart& part : parts)
      if (part.part == ir::PlanPart::operation && name.starts_with(part.name + "/") &&
          text.substr(parts[0].begin).starts_with("unroll"))
        return &part;
  return nullptr;
}

// The plan line that fuses the operation with others; the group is named after its last operation, which is not this
// one.
const ir::TextPart* fused_with(const Session& session, const std::string& name) {
  for (std::size_t d = 0; session.plan && d < session.plan->decisions.size(); ++d) {
    const std::vector<ir::TextPart>& parts = session.plan->decisions[d];
    const ir::TextPart* member = nullptr;
    for (const ir::TextPart& part : parts) {
      if (part.part != ir::PlanPart::operation) continue;
      if (member) return member;
      if (part.name == name) member = &part;
    }
  }
  return nullptr;
}

// Explains where the name was in the program, if the passes before the plan removed it.
void explain_missing(const Session& session, const passes::PlanProblem& problem, Diagnostic& diagnostic) {
  if (problem.part != ir::PlanPart::operation) return;
  const std::string name = "`" + problem.name + "`";
  auto label = [&](const ir::TextPart& part, std::string does) {
    Span span{session.plan->file, static_cast<std::uint32_t>(part.begin), static_cast<std::uint32_t>(part.end)};
    diagnostic.label(span, std::move(does));
  };
  if (const ir::TextPart* member = fused_with(session, problem.name))
    return label(*member, "this line makes " + name + " part of a group, which is named after its last operation");
  if (const ir::TextPart* iterate = unrolled_by(session, problem.name))
    return label(*iterate, "this line unrolls the iterate, so " + name + " becomes one operation per trip");
  auto written = session.operations.find(problem.name);
  if (written == session.operations.end()) return;
  diagnostic.label(written->second,
                   "the passes before the plan composed " + name + " into its reader, or removed it as unused");
}

Diagnostic diagnose(const Session& session, const passes::PlanProblem& problem,
                    const std::vector<std::string>& requested) {
  Span span;
  std::string message = problem.message;
  if (problem.decision < requested.size()) {
    span = written_at(session.operations, requested[problem.decision]);
    message = "a split in the program is not possible: " + message;
  } else if (session.plan && problem.decision - requested.size() < session.plan->decisions.size()) {
    const ir::TextPart& part =
        ir::part_of(session.plan->decisions[problem.decision - requested.size()], problem.part, problem.name);
    span = {session.plan->file, static_cast<std::uint32_t>(part.begin), static_cast<std::uint32_t>(part.end)};
  }
  Diagnostic diagnostic(Code::plan_not_applicable, span, std::move(message));
  diagnostic.help(problem.help);
  explain_missing(session, problem, diagnostic);
  return diagnostic;
}

}  // namespace

ir::Plan read_plan(Session& session, const std::string& path) {
  if (path.empty()) return {};
  FileId file = read_source(session, path);
  auto parsed = ir::parse_plan_text(session.sources.file(file).text());
  if (auto* mistake = std::get_if<ir::PlanMistake>(&parsed))
    throw Failure{exit_code::wrong_program,
                  Diagnostic(Code::plan_not_applicable,
                             pipeline::error_span(session.sources.file(file), file, *mistake), mistake->message)
                      .help(mistake->help)};
  auto& text = std::get<ir::PlanText>(parsed);
  session.plan = std::make_shared<const PlanFile>(PlanFile{file, std::move(text.parts)});
  return std::move(text.plan);
}

void report(const Session& session, const pipeline::PlanRefused& refused) {
  for (std::size_t k = 0; k < refused.problems.size() && k < most_shown; ++k)
    session.report(diagnose(session, refused.problems[k], refused.requested));
}

void report(const Session& session, const pipeline::TooManyBlocks& refused) {
  Diagnostic diagnostic = refused.diagnostic;
  diagnostic.span = written_at(session.operations, refused.operation);
  for (std::size_t d = 0; session.plan && d < session.plan->decisions.size(); ++d)
    for (const ir::TextPart& part : session.plan->decisions[d])
      if (part.part == ir::PlanPart::operation && part.name == refused.operation)
        diagnostic.span = {session.plan->file, static_cast<std::uint32_t>(part.begin),
                           static_cast<std::uint32_t>(part.end)};
  session.report(diagnostic);
}

}  // namespace tap::driver
