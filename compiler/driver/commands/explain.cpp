// tapc explain CODE: prints the page docs/codes/CODE.md, which is embedded in tapc. Without a code: lists all codes.
// tapc explain FILE:NAME: explains the sharding of a value, axis by axis, and what it saves.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>

#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/explanations.h"
#include "compiler/driver/propagated_file.h"

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

int explain_value(Session& session, const std::string& file, const std::string& name, const SourceOptions& options) {
  PropagatedFile propagated = propagate_file(session, file, options);
  std::string text = why_sharded(session, propagated.found, propagated.places, name);
  if (text.empty()) {
    const std::vector<std::string> names = names_of_values(propagated.found.program);
    auto near = did_you_mean(name, names);
    for (const std::string& inside : names)  // of an iterate, for example: `Y/u`
      if (inside.ends_with("/" + name)) near = inside;
    throw Failure{exit_code::wrong_command_line,
                  Diagnostic(Code::command_line, Span{}, fmt::format("{} has no value `{}`", file, name))
                      .help(near ? "did you mean `" + *near + "`?" : "`tapc sharding " + file + "` lists them")};
  }
  session.print(text);
  return exit_code::done;
}

int explain(Session& session, const std::string& given, const SourceOptions& options) {
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
        Diagnostic(Code::command_line, Span{}, "`" + given + "` is a file; name a value, too")
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
  struct Options {
    std::string what;
    SourceOptions source;
  };
  auto options = std::make_shared<Options>();
  app.add_option(
      "WHAT", options->what,
      "A diagnostic code, for example T0203, or a value of a program, FILE:NAME; without it, list all codes");
  add_source_options(app, options->source);
  return [options](Session& session) { return explain(session, options->what, options->source); };
}

}  // namespace tap::driver
