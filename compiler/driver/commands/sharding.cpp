// tapc sharding FILE: propagates the shardings of a program and shows the sharding of every value and its memory per
// device.
//
//   tapc sharding mlp.tap                      X  f32[1024, 1024]  pod[{data}, {}]  f32[256, 1024], 1 MiB
//   tapc sharding mlp.tap --strategy=basic     only axes without conflicts
//   tapc sharding mlp.tap --device=5           X  f32[1024, 1024]  pod[{data}, {}]  [256..512, 0..1024], 1 MiB
//   tapc sharding mlp.tap --moves              Y  all_reduce {model} -> pod[{data}, {}]  3072 bytes
//   tapc sharding mlp.tap --json               all of it, with the reason for each mesh axis
//   tapc sharding mlp.tap --plan               split H dim i into 4 over pod.data
//   tapc sharding mlp.tap --from onnx-json f   specs of ONNX's formalism, checked and inferred (onnx_sharding.h)
//   tapc sharding mlp.tap --to onnx-json       the program's shardings as such specs
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/propagation_options.h"
#include "compiler/driver/failures.h"
#include "compiler/driver/onnx_sharding.h"
#include "compiler/driver/propagated_file.h"
#include "compiler/driver/show/sharding_json.h"
#include "compiler/driver/show/sharding_moves.h"
#include "compiler/driver/show/sharding_report.h"
#include "ir/plan.h"
#include "ir/text.h"
#include "passes/shardings/moves.h"
#include "passes/shardings/plan_shardings.h"
#include "runtime/failure.h"

namespace tap::driver {
namespace {

struct ShardingOptions {
  std::string file, to;
  HowToPropagate how;
  bool graph = false, moves = false, plan = false, json = false;
  std::optional<std::int64_t> device;
  GivenSpecs specs;
  SourceOptions source;
};

passes::Caution caution_of(const ShardingOptions& options) {
  return {options.source.strict_fp, false, options.source.fast_reduce};
}

// As a plan for `--plan`; reports shardings that it cannot express.
ir::Plan plan_of(Session& session, const ShardingOptions& options, const ir::Program& program,
                 const passes::ListedValues& listed = {}) {
  passes::ShardedPlan sharded = passes::plan_of_shardings(program, caution_of(options), {}, listed);
  for (const passes::LeftWhole& left : sharded.left)
    session.report(Diagnostic(Code::pass_declined, Span{}, to_string(left)));
  return std::move(sharded.plan);
}

// The plan's program declares no meshes for the specs, so their devices are listed.
ir::Plan without_meshes(ir::Plan plan, const ir::Program& program) {
  for (ir::Decision& decision : plan.decisions)
    if (auto* split = std::get_if<ir::PlannedSplit>(&decision); split && split->axis)
      *split = passes::listed(*split, program);
  return plan;
}

OnnxChoices choices_of(const ShardingOptions& options) {
  OnnxChoices choices = onnx_choices(options.specs);
  choices.lowered = options.plan;
  choices.listed = !options.graph && !options.moves;
  return choices;
}

void refuse_implicit_moves(const ShardingOptions& options, const ir::Program& program) {
  if (!options.source.no_implicit_reshard) return;
  if (auto moves = passes::implicit_moves(program, true)) throw Failure{exit_code::wrong_program, std::move(*moves)};
}

// Uses the shardings in a file of specs instead of the program's.
int from_specs(Session& session, const ShardingOptions& options) {
  OnnxProgram found =
      read_onnx_shardings(session, options.file, options.source, options.specs.from.back(), choices_of(options));
  refuse_implicit_moves(options, found.program);
  if (!options.to.empty()) session.print(onnx_json_of(session, found.program, choices_of(options), found.listed));
  else if (options.plan)
    session.print(ir::print(without_meshes(plan_of(session, options, found.program, found.listed), found.program)));
  else if (options.moves) session.print(list_moves(session, passes::moves_of(found.program, caution_of(options))));
  else session.print(options.graph ? ir::print(found.program) : list_specs(found));
  return exit_code::done;
}

int sharding(Session& session, const ShardingOptions& options) {
  if (!options.specs.from.empty()) {
    require_known_format(options.specs);
    if (options.json)
      throw wrong_command(Code::command_line, "--json has no reasons for ONNX sharding specs",
                          "use --to onnx-json, which completes them");
    return from_specs(session, options);
  }
  passes::PropagationOptions how = propagation_options(options.how);
  how.keep_net = options.json;
  if (options.plan) how.prepare = false;  // the program stays as the plan expects it
  PropagatedFile propagated = propagate_file(session, options.file, options.source, how, options.plan);
  const ir::Program& program = propagated.found.program;
  refuse_implicit_moves(options, program);
  if (options.plan) session.print(ir::print(plan_of(session, options, program)));
  else if (options.moves) session.print(list_moves(session, passes::moves_of(program, caution_of(options))));
  else if (!options.to.empty()) session.print(onnx_json_of(session, program, choices_of(options)));
  else if (options.json)
    session.print(sharding_json(session, propagated.file, propagated.found, propagated.locations, caution_of(options))
                      .dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
                  "\n");
  else if (options.device) session.print(list_shardings_on(program, *options.device));
  else session.print(options.graph ? ir::print(program) : list_shardings(program));
  return exit_code::done;
}

// Only one of them may be printed.
void exclude_each_other(const std::vector<CLI::Option*>& options) {
  for (CLI::Option* option : options)
    for (CLI::Option* other : options)
      if (option != other) option->excludes(other);
}

}  // namespace

Action declare_sharding(CLI::App& app) {
  auto options = std::make_shared<ShardingOptions>();
  app.add_option("FILE", options->file, "A source file, or the text of a stage (.ir)")->required();
  add_propagation_options(app, options->how);
  CLI::Option* moves = app.add_flag("--moves", options->moves, "List the collectives with their bytes");
  CLI::Option* plan = app.add_flag("--plan", options->plan,
                                   "Print the plan that implements the shardings, for --plan of other commands");
  CLI::Option* device = app.add_option("--device", options->device, "List the box of each value that this device holds")
                            ->check(CLI::NonNegativeNumber);
  CLI::Option* graph =
      app.add_flag("--graph", options->graph, "Print the graph with its shardings; tapc reads it back");
  CLI::Option* json = app.add_flag("--json", options->json,
                                   "Print shardings, the reason for each mesh axis and the moves as JSON "
                                   "(docs/schema/sharding.schema.json)");
  add_specs_options(app, options->specs);
  CLI::Option* to = app.add_option("--to", options->to, "onnx-json: print the shardings as ONNX sharding specs")
                        ->check(CLI::IsMember({"onnx-json"}));
  exclude_each_other({moves, plan, device, graph, json, to});
  add_source_options(app, options->source);
  add_reshard_option(app, options->source);
  add_shape_option(app, options->source);
  return [options](Session& session) { return sharding(session, *options); };
}

}  // namespace tap::driver
