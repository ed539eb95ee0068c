// tapc explain CODE: prints the page docs/codes/CODE.md, which is embedded in tapc. Without a code: lists all codes.
// tapc explain FILE:NAME: explains the sharding of a value, axis by axis, and what it saves; and what the cost model considered
// for the operation that computes it.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>

#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/decisions.h"
#include "compiler/driver/commands/explanations.h"
#include "compiler/driver/machine_file.h"
#include "compiler/driver/propagated_file.h"
#include "compiler/driver/show/decision_report.h"

namespace tap::driver {
namespace {

std::string list_of_codes() {
  static constexpr std::string_view severities[] = {"error", "warning", "remark"};
  std::string text;
  for (Code code : all_codes()) {
    const CodeInfo& about = info(code);
    text += fmt::format("{}  {:8} {}\n", about.id, severities[static_cast<int>(about.severity)], about.title);
  }
  return text;
}

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return text;
}

struct ExplainOptions {
  std::string what, machine;
  DecisionOptions decisions;
  SourceOptions source;
};

// The alternatives that were priced, or the lines of a plan that leave none.
std::string decisions_about(Session& session, const std::string& file, const std::string& name,
                            const ExplainOptions& options) {
  PassOptions passes;
  read_decisions(session, options.decisions, passes);
  take(passes, options.source);
  passes.verify = false;
  pipeline::Options config = pipeline_options(passes, pipeline::Stage::decided);
  constexpr bool anew = true;  // a plan that was stored says nothing about what else was considered
  let_decide(session, options.decisions, {options.machine, "native", anew}, config);
  const cost::Cluster cluster = config.decide->cluster;
  const pipeline::Compilation made = compile_file(session, read_program_file(session, file, options.source), config);
  std::string text = why_decided(made.considered, name, cluster);
  return text.empty() ? lines_about(made.plan, name) : text;
}

int explain_value(Session& session, const std::string& file, const std::string& name, const ExplainOptions& options) {
  PropagatedFile propagated = propagate_file(session, file, options.source);
  std::string text = why_sharded(session, propagated.found, propagated.locations, name);
  if (text.empty()) {
    const std::vector<std::string> names = names_of_values(propagated.found.program);
    auto near = did_you_mean(name, names);
    for (const std::string& inside : names)  // of an iterate, for example: `Y/u`
      if (inside.ends_with("/" + name)) near = inside;
    throw Failure{exit_code::wrong_command_line,
                  Diagnostic(Code::command_line, Span{}, fmt::format("{} has no value `{}`", file, name))
                      .help(near ? "did you mean `" + *near + "`?" : "`tapc sharding " + file + "` lists them")};
  }
  session.print(text + decisions_about(session, file, name, options));
  return exit_code::done;
}

int explain(Session& session, const ExplainOptions& options) {
  const std::string& given = options.what;
  if (given.empty()) {
    session.print(list_of_codes());
    return exit_code::done;
  }
  if (std::size_t colon = given.rfind(':'); colon != std::string::npos)
    return explain_value(session, given.substr(0, colon), given.substr(colon + 1), options);
  std::string id = upper(given);
  for (const Explanation& explanation : embedded::explanations())
    if (explanation.id == id) {
      session.print(explanation.text);
      return exit_code::done;
    }
  std::error_code ignored;
  if (std::filesystem::is_regular_file(given, ignored))
    throw Failure{
        exit_code::wrong_command_line,
        Diagnostic(Code::command_line, Span{}, "`" + given + "` is a file; add the name of a value")
            .help(fmt::format(
                "`tapc explain {0}:VALUE` explains the sharding of VALUE; `tapc sharding {0}` lists the values",
                given))};
  std::vector<std::string> ids;
  for (Code code : all_codes()) ids.emplace_back(info(code).id);
  auto near = did_you_mean(id, ids);
  throw Failure{
      exit_code::wrong_command_line,
      Diagnostic(Code::command_line, Span{}, "unknown diagnostic code `" + given + "`")
          .help((near ? "did you mean `" + *near + "`? " : "") + std::string("`tapc explain` lists all codes"))};
}

}  // namespace

Action declare_explain(CLI::App& app) {
  auto options = std::make_shared<ExplainOptions>();
  app.add_option(
      "WHAT", options->what,
      "A diagnostic code, for example T0203, or a value of a program, FILE:NAME; without it, list all codes");
  add_decision_options(app, options->decisions, false);
  add_machine_option(app, options->machine);
  add_source_options(app, options->source);
  return [options](Session& session) { return explain(session, *options); };
}

}  // namespace tap::driver
