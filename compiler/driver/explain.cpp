// tapc explain CODE: the page docs/codes/CODE.md, which is part of tapc. Without a code: all codes, a line each.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "compiler/driver/command.h"
#include "compiler/driver/explanations.h"

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

int explain(Session& session, const std::string& given) {
  if (given.empty()) {
    session.print(list_of_codes());
    return exit_code::done;
  }
  std::string id = upper(given);
  for (const Explanation& explanation : embedded::explanations())
    if (explanation.id == id) {
      session.print(explanation.text);
      return exit_code::done;
    }
  std::vector<std::string> ids;
  for (Code code : all_codes()) ids.emplace_back(info(code).id);
  auto near = did_you_mean(id, ids);
  throw Failure{
      exit_code::wrong_command_line,
      Diagnostic(Code::command_line, Span{}, "there is no diagnostic code `" + given + "`")
          .help((near ? "did you mean `" + *near + "`? " : "") + std::string("`tapc explain` lists all codes"))};
}

}  // namespace

Action declare_explain(CLI::App& app) {
  auto code = std::make_shared<std::string>();
  app.add_option("CODE", *code, "A code as messages show it, for example T0203; without one, all codes are listed");
  return [code](Session& session) { return explain(session, *code); };
}

}  // namespace tap::driver
