// tapc diff FILE A B: compares two plans of a program. tapc diff FILE OTHER: compares two programs.
//
//   tapc diff mlp.tap none decided            as written, and as the cost model decides
//   tapc diff mlp.tap old.plan new.plan --threads 8
//   tapc diff by_rows.tap by_columns.tap      the same with two shardings
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <sstream>

#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/planned_shardings.h"
#include "compiler/driver/commands/priced_program.h"
#include "compiler/driver/failures.h"
#include "compiler/driver/propagated_file.h"
#include "compiler/driver/show/cost_diff.h"
#include "compiler/driver/show/sharding_moves.h"
#include "compiler/driver/show/sharding_report.h"
#include "cost/decide/mesh_splits.h"
#include "ir/text/plan_text.h"

namespace tap::driver {
namespace {

constexpr std::string_view decided = "decided";

struct DiffOptions : PricedOptions {
  std::string a, b;
  bool json = false;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

std::string called(const std::string& file, const std::string& plan) {
  if (plan == decided) return file + ", as the cost model decides";
  if (plan == "none") return file + ", as written";
  return fmt::format("{}, plan {}", file, plan);
}

// What is compared of a program under a plan.
ComparedProgram compared(Session& session, PricedOptions options, const std::string& file, const std::string& plan) {
  options.file = file;
  options.decisions.plan = plan == decided ? "" : plan;
  PricedProgram priced = price(session, options);
  ir::Plan decisions = priced.made.plan;
  decisions.evaluations.reset();  // the effort of a search is not a decision
  ComparedProgram found{called(file, plan), std::move(priced.report), {}, lines_of(ir::print(decisions)), {}, {}};
  if (const ir::BlockProgram* blocks = priced.made.expanded()) {
    found.traffic = cost::traffic_of(*blocks);
  } else {
    const cost::Cost& total = found.report.cost.total;
    found.traffic = {total.received, total.messages, total.received};
  }
  const passes::Caution caution{options.source.strict_fp, options.source.require_proof, options.source.fast_reduce};
  if (std::ranges::any_of(decisions.decisions, cost::is_over_mesh)) {
    const passes::PlannedShardings planned = planned_shardings(session, options);
    found.shardings = shardings_of(planned.program);
    found.moves = lines_of_moves(passes::moves_of(planned.program, planned.sites, caution, planned.divided));
    for (const std::string& line : planned.not_shown) found.moves.push_back(fmt::format("not listed: `{}`", line));
  } else if (!priced.made.program.meshes.empty()) {
    const ir::Program sharded = propagate_file(session, file, options.source).found.program;
    found.shardings = shardings_of(sharded);
    found.moves = lines_of_moves(passes::moves_of(sharded, caution));
  }
  return found;
}

int diff(Session& session, const DiffOptions& options) {
  const bool two_programs = options.b.empty();
  if (two_programs && (options.a == "none" || options.a == decided))
    throw Failure{
        exit_code::wrong_command_line,
        Diagnostic(Code::command_line, Span{}, fmt::format("`{}` must be compared with a second plan", options.a))
            .help(fmt::format("write `tapc diff {} {} {}`", options.file, options.a,
                              options.a == "none" ? decided : "none"))};
  const std::string first(two_programs ? decided : options.a), second(two_programs ? decided : options.b);
  const ComparedProgram a = compared(session, options, options.file, first);
  const ComparedProgram b = compared(session, options, two_programs ? options.a : options.file, second);
  session.print(options.json ? diff_json(a, b) : diff_table(a, b));
  return exit_code::done;
}

}  // namespace

Action declare_diff(CLI::App& app) {
  auto options = std::make_shared<DiffOptions>();
  app.add_option("FILE", options->file, "A source file, or the text of a stage (.ir)")->required();
  app.add_option(
         "A", options->a,
         "The plan to compare: a file, `decided` (by the cost model) or `none` (the program as written); without "
         "B, another program to compare FILE with")
      ->required();
  app.add_option("B", options->b, "The plan to compare with");
  add_effort_options(app, options->decisions);
  add_priced_options(app, *options);
  app.add_flag("--json", options->json, "Print JSON (docs/schema/diff.schema.json)");
  return [options](Session& session) { return diff(session, *options); };
}

}  // namespace tap::driver
