// tapc opt FILE: runs passes on a program and prints the result. FILE is a program in Tap or a stage text, as `tapc
// inspect`, `tapc opt` and --dump-after write it, so any list of passes can be run on any result.
//
//   tapc opt mlp.tap --passes=inline_calls -o stage.txt
//   tapc opt stage.txt --passes=compose_maps --remarks
//   tapc opt mlp.tap --plan=mlp.plan --stage=sharded
//   tapc opt mlp.tap --stage=loops                what native code runs
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "backend/loops/loops_text.h"
#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/output_ending.h"
#include "compiler/driver/commands/passes.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/write_outputs.h"
#include "ir/text.h"
#include "ir/text/stage_text.h"

namespace tap::driver {
namespace {

enum class PrintedStage : std::uint8_t { graph, sharded, block, loops };
constexpr std::string_view stage_names[] = {"graph", "sharded", "block", "loops"};

pipeline::Stage stop_of(PrintedStage stage) {
  switch (stage) {
    case PrintedStage::graph: return pipeline::Stage::simplified;
    case PrintedStage::sharded: return pipeline::Stage::sharded;
    case PrintedStage::block: return pipeline::Stage::blocks;
    case PrintedStage::loops: return pipeline::Stage::loops;
  }
  return pipeline::Stage::sharded;
}

struct OptOptions {
  std::string file, output, plan;
  bool list = false;
  PrintedStage stage = PrintedStage::graph;
  SourceOptions source;
  PassOptions passes;
};

// Whether to offer rewrites even if the plan chooses none.
bool asks_for_choices(const PassOptions& options) {
  return std::find(options.passes.begin(), options.passes.end(), "offer_choices") != options.passes.end();
}

// The text that --stage requests: the graph after the passes; the sharded graph, with transfers; every application and
// move; or the loops of native kernels.
std::string stage_text(Session& session, const OptOptions& options) {
  PassOptions chosen = options.passes;
  chosen.plan = read_plan(session, options.plan);
  Dumps dumps(session, chosen);
  pipeline::Stage stop = stop_of(options.stage);
  if (options.stage == PrintedStage::graph && !chosen.chosen && !chosen.plan.decisions.empty())
    stop = pipeline::Stage::fused;
  pipeline::Options config = pipeline_options(chosen, stop);
  config.offer_rewrites = asks_for_choices(chosen);
  pipeline::Compilation made =
      compile(session, read_program_file(session, options.file, options.source), config, chosen, dumps);
  if (made.lowered) return backend::print(made.lowered->kernels.kernels);
  return made.expanded() ? ir::print(*made.expanded(), true) : ir::print(made.program);
}

void require_ending_of_text(const std::string& output) {
  static constexpr std::string_view endings[] = {"", ".ir", ".txt", ".tap", ".blocks", ".loops"};
  if (output == "-" || std::find(std::begin(endings), std::end(endings), ending_of(output)) != std::end(endings))
    return;
  throw unknown_ending("opt", output,
                       "stages are text: use .ir, .txt, .tap, .blocks or .loops; `tapc inspect -o` draws");
}

int opt(Session& session, const OptOptions& options) {
  if (options.list) {
    session.print(list_of_passes());
    return exit_code::done;
  }
  if (options.file.empty())
    throw Failure{exit_code::wrong_command_line,
                  Diagnostic(Code::command_line, Span{}, "FILE is required")
                      .help("`tapc opt FILE` runs the usual passes; `tapc opt --list-passes` lists them")};
  require_ending_of_text(options.output);
  std::string text = stage_text(session, options);
  if (options.output.empty() || options.output == "-") session.print(text);
  else write_outputs(session, {{options.output, {std::move(text)}}});
  return exit_code::done;
}

}  // namespace

Action declare_opt(CLI::App& app) {
  auto options = std::make_shared<OptOptions>();
  app.add_option("FILE", options->file, "A source file, or the text of a stage (.ir)");
  app.add_option("-o,--output", options->output, "The file to write (default: standard output)");
  app.add_option("--plan", options->plan,
                 "A plan; its unrolls and fusions are applied, and with --stage its splits, too");
  app.add_option_function<std::string>(
         "--stage",
         [options](const std::string& name) {
           options->stage =
               PrintedStage(std::find(std::begin(stage_names), std::end(stage_names), name) - std::begin(stage_names));
         },
         "The stage to print: graph (default), sharded (split and placed), block (every application and transfer), "
         "loops (of native kernels)")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(stage_names), std::end(stage_names))));
  app.add_flag("--list-passes", options->list, "List the passes in order, with the reason for their position");
  add_pass_options(app, options->passes);
  add_source_options(app, options->source);
  add_reshard_option(app, options->source);
  add_shape_option(app, options->source);
  return [options](Session& session) {
    take(options->passes, options->source);
    return opt(session, *options);
  };
}

}  // namespace tap::driver
