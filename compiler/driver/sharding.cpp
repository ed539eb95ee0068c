// tapc sharding FILE: how every value of a program is sharded once what its author said has spread, and what that takes on a
// device.
//
//   tapc sharding mlp.tap                      X  f32[1024, 1024]  pod[{data}, {}]  f32[256, 1024], 1 MiB
//   tapc sharding mlp.tap --strategy=basic     only what contradicts nothing
//   tapc sharding mlp.tap --moves              Y  all_reduce {model} -> pod[{data}, {}]  3072 bytes
//   tapc sharding mlp.tap --plan               split H dim i into 4 over pod.data
#include <CLI/CLI.hpp>

#include "compiler/driver/command.h"
#include "compiler/driver/failures.h"
#include "compiler/driver/propagated_file.h"
#include "compiler/driver/sharding_moves.h"
#include "ir/plan.h"
#include "ir/text.h"
#include "passes/plan_shardings.h"

namespace tap::driver {
namespace {

struct ShardingOptions {
  std::string file, strategy = "aggressive";
  bool conservative = false, open = false, graph = false, moves = false, plan = false, no_implicit = false;
  SourceOptions source;
};

// As a plan for `--plan`; what of the shardings it cannot say is told.
std::string plan_text(Session& session, const ir::Program& program) {
  passes::ShardedPlan sharded = passes::plan_of_shardings(program);
  for (const passes::LeftWhole& left : sharded.left)
    session.tell(Diagnostic(Code::pass_declined, Span{}, to_string(left)));
  return ir::print(sharded.plan);
}

int sharding(Session& session, const ShardingOptions& options) {
  passes::PropagationOptions how;
  how.strategy = options.strategy == "basic" ? passes::Strategy::basic : passes::Strategy::aggressive;
  how.conservative = options.conservative;
  how.finish = !options.open;
  if (options.plan) how.prepare = false;  // the program stays as the plan will find it
  PropagatedFile propagated = propagate_file(session, options.file, options.source, how, options.plan);
  const ir::Program& program = propagated.found.program;
  std::string implicit = options.no_implicit ? first_implicit_move(program) : "";
  if (!implicit.empty())
    throw Failure{exit_code::wrong_program,
                  Diagnostic(Code::implicit_reshard, Span{},
                             "shardings that disagree need a move that nobody asked for: " + implicit)
                      .help("give both the same sharding, or write the move: `Z = X @ …` names X with another one")};
  if (options.plan) session.print(plan_text(session, program));
  else if (options.moves) session.print(list_moves(program));
  else session.print(options.graph ? ir::print(program) : list_shardings(program));
  return exit_code::done;
}

}  // namespace

Action declare_sharding(CLI::App& app) {
  auto options = std::make_shared<ShardingOptions>();
  app.add_option("FILE", options->file, "A source file, or the text of a stage")->required();
  app.add_option("--strategy", options->strategy,
                 "aggressive (default): conflicts within an operation are decided by size; basic: they stop both")
      ->check(CLI::IsMember({"basic", "aggressive"}));
  app.add_flag("--conservative", options->conservative, "Spread whole axes only, and not through what moves cells");
  app.add_flag("--open", options->open,
               "Leave dims open that could be cut further, and inputs and results as they come out");
  app.add_flag("--moves", options->moves, "List the collectives that operations take, with their bytes, instead");
  app.add_flag("--plan", options->plan,
               "Print the plan that follows the shardings, for --plan of other commands, instead");
  app.add_flag("--no-implicit-reshard", options->no_implicit,
               "Refuse moves that the shardings of an operation's tensors force and nobody wrote");
  app.add_flag("--graph", options->graph, "Print the graph with its shardings; tapc reads it back");
  add_source_options(app, options->source);
  add_shape_option(app, options->source);
  return [options](Session& session) { return sharding(session, *options); };
}

}  // namespace tap::driver
