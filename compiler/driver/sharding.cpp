// tapc sharding FILE: how every value of a program is sharded once what its author said has spread, and what that takes on a
// device.
//
//   tapc sharding mlp.tap                      X  f32[1024, 1024]  pod[{data}, {}]  f32[256, 1024], 1 MiB
//   tapc sharding mlp.tap --strategy=basic     only what contradicts nothing
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "compiler/driver/command.h"
#include "compiler/driver/propagated_file.h"
#include "ir/text.h"

namespace tap::driver {
namespace {

struct ShardingOptions {
  std::string file, strategy = "aggressive";
  bool conservative = false, open = false, graph = false;
  SourceOptions source;
};

int sharding(Session& session, const ShardingOptions& options) {
  passes::PropagationOptions how;
  how.strategy = options.strategy == "basic" ? passes::Strategy::basic : passes::Strategy::aggressive;
  how.conservative = options.conservative;
  how.finish = !options.open;
  PropagatedFile propagated = propagate_file(session, options.file, options.source, how);
  const ir::Program& program = propagated.found.program;
  session.print(options.graph ? ir::print(program) : list_shardings(program));
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
  app.add_flag("--graph", options->graph, "Print the graph with its shardings; tapc reads it back");
  add_source_options(app, options->source);
  add_shape_option(app, options->source);
  return [options](Session& session) { return sharding(session, *options); };
}

}  // namespace tap::driver
