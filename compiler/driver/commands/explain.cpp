// tapc explain CODE: prints the page docs/codes/CODE.md, which is embedded in tapc. Without a code: lists all codes.
// tapc explain FILE:NAME: explains the sharding of a value, axis by axis, and what it saves; and what the cost model considered
// for the operation that computes it.
// tapc explain FILE:A..B: explains what is moved of A before B is computed.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "backend/llvm/library.h"
#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/decisions.h"
#include "compiler/driver/commands/division_report.h"
#include "compiler/driver/commands/explanations.h"
#include "compiler/driver/commands/made_by_plan.h"
#include "compiler/driver/commands/plan_divisions.h"
#include "compiler/driver/commands/planned_shardings.h"
#include "compiler/driver/commands/propagation_options.h"
#include "compiler/driver/machine_file.h"
#include "compiler/driver/propagated_file.h"
#include "compiler/driver/show/decision_report.h"
#include "compiler/driver/show/sharding_moves.h"
#include "compiler/driver/show/sharding_report.h"
#include "compiler/driver/show/why_moved.h"
#include "compiler/driver/show/why_sharded.h"
#include "compiler/pipeline/rewrite_rules.h"
#include "cost/decide/mesh_splits.h"
#include "ir/graphs/operation_names.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

using nlohmann::ordered_json;

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
  bool json = false;
  DecisionOptions decisions;
  HowToPropagate how;
  GivenSpecs specs;
  SourceOptions source;
};

// What was found, as text and for --json.
struct Explained {
  std::string text;
  ordered_json json = ordered_json::array();
};

// The alternatives that were priced, or the lines of a plan that leave none.
Explained decisions_about(Session& session, const std::string& file, const std::string& name,
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
  const std::vector<cost::Consideration> about = considered_about(made.considered, name);
  Explained found{why_decided(about, cluster), decisions_json(about, cluster)};
  if (found.text.empty()) found.text = lines_about(made.plan, name);
  return found;
}

std::optional<passes::ValueInGraph> value_named(const ir::Program& program, const std::string& name) {
  for (const auto& [graph, path] : ir::graph_paths(program))
    for (std::uint32_t v = 0; v < program[graph].values.size(); ++v)
      if (path + program[graph].values[v].name == name) return {{graph, ir::ValueId(v)}};
  return std::nullopt;
}

// Its sharding and others, priced as if they were given.
Explained priced_shardings(Session& session, const PropagatedFile& from, const std::string& file,
                           const std::string& name, const ExplainOptions& options) {
  constexpr std::size_t most_evaluations = 2000;
  const HowToPropagate usual;
  const bool as_compiled = options.specs.from.empty() && options.how.strategy == usual.strategy &&
                           options.how.conservative == usual.conservative && options.how.open == usual.open;
  if (!as_compiled || from.given.meshes.empty() || options.decisions.evaluations == 0) return {};
  const auto value = value_named(from.given, name);
  if (!value) return {};
  PassOptions passes;
  read_decisions(session, options.decisions, passes);
  take(passes, options.source);
  const auto& lines = passes.plan.decisions;
  if (std::any_of(lines.begin(), lines.end(), cost::is_over_mesh))
    return {};  // they divide operations, whatever values say
  if (std::any_of(lines.begin(), lines.end(),
                  [](auto& line) { return std::holds_alternative<ir::PlannedChoice>(line); }))
    return {};  // and these are made already
  const ProgramFile program = read_program_file(session, file, options.source);
  Diagnostics reported;
  pipeline::RewriteRules rules({&session.sources, program.file, program.how, &reported});
  const cost::Cluster cluster = cluster_for(session, *backend::target_named("native"), options.machine);
  const passes::Caution caution{passes.strict_fp, passes.require_proof};
  cost::Pricer pricer(cluster, cluster.types.front().threads, caution, {most_evaluations});
  passes::PassContext context{passes.plan, passes.strict_fp, rules.chosen_from(passes.plan, {}), passes.require_proof,
                              passes.no_distribute};
  context.hash_stages = false;
  std::vector<passes::Pass> then(passes::lowering().begin(), passes::lowering().end());
  then.insert(then.end(), passes::planned_passes().begin(), passes::planned_passes().end());
  cost::ShardingAlternatives alternatives(from.given, std::move(then), std::move(context), pricer);
  const auto found = value_named(from.found.program, name);
  const auto& now = from.found.program[found->first][found->second].sharding;
  Explained out;
  for (std::size_t m = 0; m < from.given.meshes.size(); ++m) {
    if (now && now->mesh != ir::MeshId(m)) continue;
    const std::size_t rank = from.given[value->first][value->second].type.shape.size();
    const ir::Sharding held = now ? *now : ir::Sharding{ir::MeshId(m), std::vector<ir::DimSharding>(rank), {}, {}, ""};
    const std::vector<cost::PricedSharding> others = alternatives.of(value->first, value->second, held);
    out.text += other_shardings(others, from.given, cluster);
    for (ordered_json& one : alternatives_json(others, from.given, cluster)) out.json.push_back(std::move(one));
  }
  return out;
}

Failure no_value(const std::string& file, const std::vector<std::string>& names, const std::string& name) {
  auto near = did_you_mean(name, names);
  for (const std::string& inside : names)  // of an iterate, for example: `Y/u`
    if (inside.ends_with("/" + name)) near = inside;
  return {exit_code::wrong_command_line,
          Diagnostic(Code::command_line, Span{}, fmt::format("{} has no value `{}`", file, name))
              .help(near ? "did you mean `" + *near + "`?" : "`tapc sharding " + file + "` lists them")};
}

// `sites`: as shardings imply, or as a plan says.
std::string move_between(const std::string& file, const ShardingReasons& names, const ir::Program& program,
                         const passes::ChosenSites& sites, const std::string& value, const std::string& reader) {
  for (const std::string& name : {value, reader})
    if (!value_named(program, name)) throw no_value(file, names_of_values(program), name);
  std::string text = why_moved(names, program, sites, value, reader);
  if (!text.empty()) return text;
  throw Failure{exit_code::wrong_command_line,
                Diagnostic(Code::command_line, Span{},
                           fmt::format("the operation that writes `{}` does not read `{}`", reader, value))
                    .help(fmt::format("`tapc sharding {} --moves` lists what is moved", file))};
}

// The choices of the plan, without which its names may mean other values.
ir::Plan choices_of_plan(Session& session, const ExplainOptions& options) {
  PassOptions passes;
  read_decisions(session, options.decisions, passes);
  std::erase_if(passes.plan.decisions,
                [](const ir::Decision& decision) { return !std::holds_alternative<ir::PlannedChoice>(decision); });
  passes.plan.meshes.clear();
  return std::move(passes.plan);
}

// The program's shardings, or those of a file of specs.
PropagatedFile propagated(Session& session, const std::string& file, const std::string& name,
                          const ExplainOptions& options) {
  passes::PropagationOptions how = propagation_options(options.how);
  how.keep_net = true;
  if (const ir::Plan choices = choices_of_plan(session, options); !choices.decisions.empty()) {
    PropagatedFile chosen = propagate_file(session, file, options.source, how, true, choices);
    if (value_named(chosen.found.program, name)) return chosen;
  }
  if (options.specs.from.empty()) return propagate_file(session, file, options.source, how);
  require_known_format(options.specs);
  OnnxChoices choices = onnx_choices(options.specs);
  choices.listed = false;
  // The specs are complete: nothing is left to propagate, and each sharding counts as given.
  PropagatedFile out;
  out.found = passes::propagate(
      read_onnx_shardings(session, file, options.source, options.specs.from.back(), choices).program, how);
  return out;
}

// The lines of the plan that divide over a mesh: what they name is not held as shardings say.
ir::Plan lines_over_meshes(Session& session, const ExplainOptions& options) {
  PassOptions passes;
  read_decisions(session, options.decisions, passes);
  std::erase_if(passes.plan.decisions, std::not_fn(cost::is_over_mesh));
  return std::move(passes.plan);
}

// How the operations could be divided otherwise over the mesh of these lines.
Explained other_divisions(Session& session, const std::string& file, const std::string& name,
                          const ExplainOptions& options) {
  PassOptions passes;
  read_decisions(session, options.decisions, passes);
  std::set<std::string> groups;  // with such an operation, which are divided as one
  for (const ir::Decision& line : passes.plan.decisions)
    if (const auto* group = std::get_if<ir::PlannedFusion>(&line);
        group && std::ranges::any_of(group->operations, [&](const std::string& o) { return is_about(o, name); }))
      groups.insert(group->operations.back());
  const PlanDivisions found = divisions_of_plan(
      session, {file, options.machine, options.source, passes.plan},
      [&](const std::string& operation) { return is_about(operation, name) || groups.contains(operation); });
  if (found.why_none.empty())
    return {divisions_text(found.sites, found.mesh, found.cluster), divisions_json(found.sites, found.cluster)};
  return {
      fmt::format("  other divisions are not shown: `tapc plan` has no divisions like `{}`\n", found.why_none.front())};
}

std::string not_considered(const passes::PlannedShardings& planned) {
  if (planned.not_shown.empty()) return "";
  return fmt::format("  what is moved does not consider {}, which no sharding describes: {}\n",
                     plural(static_cast<std::int64_t>(planned.not_shown.size()), "line"),
                     fmt::join(planned.not_shown, "; "));
}

std::string move_by_plan(Session& session, const std::string& file, const ValueLocations& locations,
                         const std::string& value, const std::string& reader, const ExplainOptions& options) {
  passes::PlannedShardings planned =
      planned_shardings(session, {file, options.machine, options.decisions, {}, {}, 0, options.source});
  const passes::Propagated nothing_inferred{.program = std::move(planned.program)};
  const ShardingReasons names(session, nothing_inferred, locations);
  return move_between(file, names, nothing_inferred.program, planned.sites, value, reader) + not_considered(planned);
}

// What the plan moves for the operation that writes this value, and of its results.
std::string moves_by_plan(Session& session, const std::string& file, const std::string& name,
                          const ExplainOptions& options) {
  const passes::PlannedShardings planned =
      planned_shardings(session, {file, options.machine, options.decisions, {}, {}, 0, options.source});
  return moves_about(session, passes::moves_of(planned.program, planned.sites, {}, planned.divided), name) +
         not_considered(planned);
}

struct ExplainedParts {
  Explained shardings, divisions, decided;
};
int print_explained(const Session& session, const std::string& name, const std::string& text,
                    const ExplainedParts& parts, bool as_json) {
  if (!as_json) {
    session.print(text + parts.shardings.text + parts.divisions.text + parts.decided.text);
    return exit_code::done;
  }
  const ordered_json out = {{"format", "tap-explanation"},
                            {"version", 1},
                            {"value", name},
                            {"text", text},
                            {"shardings", parts.shardings.json},
                            {"divisions", parts.divisions.json},
                            {"decisions", parts.decided.json}};
  session.print(out.dump(2) + "\n");
  return exit_code::done;
}

// A value that only the plan makes. `names`: those of the program.
int explain_made(Session& session, const std::string& file, const std::string& name, const ExplainOptions& options,
                 std::vector<std::string> names) {
  if (options.decisions.plan.empty() || !options.specs.from.empty()) throw no_value(file, names, name);
  MadeByPlan made = made_by_plan(session, {file, options.machine, options.decisions, {}, {}, 0, options.source}, name);
  if (!made.type) {
    names.insert(names.end(), made.names.begin(), made.names.end());
    throw no_value(file, names, name);
  }
  return print_explained(session, name, fmt::format("{}: {}\n", name, ir::to_string(*made.type)) + made.lines,
                         {{}, {}, decisions_about(session, file, name, options)}, options.json);
}

int explain_value(Session& session, const std::string& file, const std::string& name, const ExplainOptions& options) {
  const PropagatedFile from = propagated(session, file, name, options);
  ShardingReasons reasons(session, from.found, from.locations);
  const ir::Plan divided = lines_over_meshes(session, options);
  if (const std::size_t dots = name.find(".."); dots != name.npos) {
    const std::string value = name.substr(0, dots), reader = name.substr(dots + 2);
    const ir::Program& program = from.found.program;
    session.print(divided.decisions.empty()
                      ? move_between(file, reasons, program, passes::implied_sites(program), value, reader)
                      : move_by_plan(session, file, from.locations, value, reader, options));
    return exit_code::done;
  }
  const auto value = value_named(from.found.program, name);
  if (!value) return explain_made(session, file, name, options, names_of_values(from.found.program));
  const std::string lines = lines_about(divided, name);
  const ir::Value& about = from.found.program[value->first][value->second];
  Explained decided = decisions_about(session, file, name, options);
  std::string text = lines.empty() ? why_sharded(reasons, from.found, value->first, value->second)
                                   : fmt::format("{}: {}\n", name, ir::to_string(about.type)) +
                                         (decided.text.find(lines) == std::string::npos ? lines : "");
  if (!divided.decisions.empty()) text += moves_by_plan(session, file, name, options);
  const Explained divisions = divided.decisions.empty() ? Explained{} : other_divisions(session, file, name, options);
  if (decided.text.empty() && options.decisions.plan.empty() && options.decisions.evaluations != 0)
    decided.text = nothing_decided(from.found.program[value->first], value->second, from.found.program);
  const Explained shardings = priced_shardings(session, from, file, name, options);
  return print_explained(session, name, text, {shardings, divisions, decided}, options.json);
}

int explain(Session& session, const ExplainOptions& options) {
  const std::string& given = options.what;
  const std::size_t colon = given.rfind(':');
  if (options.json && (colon == given.npos || given.find("..", colon) != given.npos))
    throw Failure{exit_code::wrong_command_line, Diagnostic(Code::command_line, Span{}, "`--json` explains values only")
                                                     .help("write `tapc explain FILE:NAME --json`")};
  if (given.empty()) {
    session.print(list_of_codes());
    return exit_code::done;
  }
  if (colon != std::string::npos)
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
  app.add_option("WHAT", options->what,
                 "A diagnostic code, for example T0203; a value of a program, FILE:NAME; or a move of one value to the "
                 "operation that writes another, FILE:A..B; without it, list all codes");
  add_decision_options(app, options->decisions, false);
  add_machine_option(app, options->machine);
  add_propagation_options(app, options->how);
  add_specs_options(app, options->specs);
  app.add_flag("--json", options->json, "Print JSON (docs/schema/explain.schema.json); for FILE:NAME");
  add_source_options(app, options->source);
  add_shape_option(app, options->source);
  return [options](Session& session) { return explain(session, *options); };
}

}  // namespace tap::driver
