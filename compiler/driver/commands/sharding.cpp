// tapc sharding FILE: propagates the shardings of a program and shows the sharding of every value and its memory per
// device.
//
//   tapc sharding mlp.tap                      X  f32[1024, 1024]  pod[{data}, {}]  f32[256, 1024], 1 MiB
//   tapc sharding mlp.tap --strategy=basic     only axes without conflicts
//   tapc sharding mlp.tap --device=5           X  f32[1024, 1024]  pod[{data}, {}]  [256..512, 0..1024], 1 MiB
//   tapc sharding mlp.tap --moves              Y  all_reduce {model} -> pod[{data}, {}]  3072 bytes
//   tapc sharding mlp.tap --plan               split H dim i into 4 over pod.data
//   tapc sharding mlp.tap --from onnx-json f   specs of ONNX's formalism, checked and inferred (onnx_sharding.h)
//   tapc sharding mlp.tap --to onnx-json       the program's shardings as such specs
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "compiler/driver/commands/command.h"
#include "compiler/driver/failures.h"
#include "compiler/driver/onnx_sharding.h"
#include "compiler/driver/propagated_file.h"
#include "compiler/driver/show/sharding_moves.h"
#include "ir/plan.h"
#include "ir/text.h"
#include "passes/shardings/moves.h"
#include "passes/shardings/plan_shardings.h"

namespace tap::driver {
namespace {

struct ShardingOptions {
  std::string file, strategy = "aggressive";
  bool conservative = false, open = false, graph = false, moves = false, plan = false;
  std::optional<std::int64_t> device;
  std::vector<std::string> from;  // onnx-json and a file, or nothing
  std::string to, on_unsupported = "error", reduced = "all";
  SourceOptions source;
};

// As a plan for `--plan`; reports shardings that it cannot express.
ir::Plan plan_of(Session& session, const ir::Program& program, const passes::ListedValues& listed = {}) {
  passes::ShardedPlan sharded = passes::plan_of_shardings(program, {}, {}, listed);
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

OnnxChoices onnx_choices(const ShardingOptions& options) {
  return {options.on_unsupported == "error",
          options.reduced == "all" ? passes::onnx::Reduced::on_all : passes::onnx::Reduced::on_one, options.plan,
          !options.graph && !options.moves};
}

void refuse_implicit_moves(const ShardingOptions& options, const ir::Program& program) {
  if (!options.source.no_implicit_reshard) return;
  if (auto moves = passes::implicit_moves(program, true)) throw Failure{exit_code::wrong_program, std::move(*moves)};
}

// Uses the shardings in a file of specs instead of the program's.
int from_specs(Session& session, const ShardingOptions& options) {
  OnnxProgram found =
      read_onnx_shardings(session, options.file, options.source, options.from.back(), onnx_choices(options));
  refuse_implicit_moves(options, found.program);
  if (!options.to.empty()) session.print(onnx_json_of(session, found.program, onnx_choices(options), found.listed));
  else if (options.plan)
    session.print(ir::print(without_meshes(plan_of(session, found.program, found.listed), found.program)));
  else if (options.moves) session.print(list_moves(found.program));
  else session.print(options.graph ? ir::print(found.program) : list_specs(found));
  return exit_code::done;
}

int sharding(Session& session, const ShardingOptions& options) {
  if (!options.from.empty()) {
    if (options.from.front() != "onnx-json")
      throw Failure{exit_code::wrong_command_line,
                    Diagnostic(Code::command_line, Span{},
                               fmt::format("`--from` does not support the format `{}`", options.from.front()))
                        .help("use `--from onnx-json SPECS`")};
    return from_specs(session, options);
  }
  passes::PropagationOptions how;
  how.strategy = options.strategy == "basic" ? passes::Strategy::basic : passes::Strategy::aggressive;
  how.conservative = options.conservative;
  how.finish = !options.open;
  if (options.plan) how.prepare = false;  // the program stays as the plan expects it
  PropagatedFile propagated = propagate_file(session, options.file, options.source, how, options.plan);
  const ir::Program& program = propagated.found.program;
  refuse_implicit_moves(options, program);
  if (options.plan) session.print(ir::print(plan_of(session, program)));
  else if (options.moves) session.print(list_moves(program));
  else if (!options.to.empty()) session.print(onnx_json_of(session, program, onnx_choices(options)));
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

CLI::Option* declare_onnx(CLI::App& app, ShardingOptions& options) {
  app.add_option("--from", options.from,
                 "onnx-json SPECS: read ONNX sharding specs from this file, check them and infer the others")
      ->type_name("FORMAT SPECS")
      ->type_size(2)
      ->expected(1)
      ->check([](const std::string& word) { return word.empty() ? "expected a format and a file" : ""; });
  CLI::Option* to = app.add_option("--to", options.to, "onnx-json: print the shardings as ONNX sharding specs")
                        ->check(CLI::IsMember({"onnx-json"}));
  app.add_option("--on-unsupported", options.on_unsupported,
                 "Unsupported specs: error (default), or fallback (treat them as unsharded)")
      ->check(CLI::IsMember({"error", "fallback"}));
  app.add_option("--reduced", options.reduced,
                 "The result of a sharded reduction is on all participating devices (all, default) or on one (one)")
      ->check(CLI::IsMember({"all", "one"}));
  return to;
}

}  // namespace

Action declare_sharding(CLI::App& app) {
  auto options = std::make_shared<ShardingOptions>();
  app.add_option("FILE", options->file, "A source file or a stage text")->required();
  app.add_option("--strategy", options->strategy,
                 "Conflicts within an operation: aggressive (default; the larger tensor wins) or basic (neither axis "
                 "propagates)")
      ->check(CLI::IsMember({"basic", "aggressive"}));
  app.add_flag("--conservative", options->conservative,
               "Propagate whole axes only, and not through permutations and halos");
  app.add_flag("--open", options->open,
               "Keep dims open; do not change inferred shardings of inputs and results, even if they are uneven");
  CLI::Option* moves = app.add_flag("--moves", options->moves, "List the collectives with their bytes");
  CLI::Option* plan = app.add_flag("--plan", options->plan,
                                   "Print the plan that implements the shardings, for --plan of other commands");
  CLI::Option* device = app.add_option("--device", options->device, "List the box of each value that this device holds")
                            ->check(CLI::NonNegativeNumber);
  CLI::Option* graph =
      app.add_flag("--graph", options->graph, "Print the graph with its shardings; tapc reads it back");
  CLI::Option* to = declare_onnx(app, *options);
  exclude_each_other({moves, plan, device, graph, to});
  add_source_options(app, options->source);
  add_reshard_option(app, options->source);
  add_shape_option(app, options->source);
  return [options](Session& session) { return sharding(session, *options); };
}

}  // namespace tap::driver
