// tapc inspect FILE: prints the graph of a program as text, JSON or a picture, as written or after a plan.
//
//   tapc inspect mlp.tap -o mlp.svg
//   tapc inspect mlp.tap -o mlp.html          every stage, shard and rewrite, as a page for a browser
//   tapc inspect mlp.tap --trace=t.json -o mlp.html           … with what ran when
//   tapc inspect mlp.tap --plan=mlp.plan      with the plan's groups, blocks and transfers
//   tapc inspect mlp.tap --after compose_maps        the graph after this pass
//   tapc inspect mlp.tap --diff compose_maps         what it changed; A..B: what all passes after A up to B changed
//   tapc inspect mlp.tap --shards Y                  which device holds which box of Y
//   tapc inspect mlp.tap --splits             what a plan can name and split
//   tapc inspect mlp.tap --device=3           what that device computes and receives, by the shardings or --plan
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>

#include "compiler/driver/commands/choices.h"
#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/device_part.h"
#include "compiler/driver/commands/inspect_report.h"
#include "compiler/driver/commands/inspect_shards.h"
#include "compiler/driver/commands/inspect_steps.h"
#include "compiler/driver/commands/output_ending.h"
#include "compiler/driver/commands/passes.h"
#include "compiler/driver/commands/split_list.h"
#include "compiler/driver/machine_file.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/show/drawing.h"
#include "compiler/driver/show/graph_json.h"
#include "compiler/driver/show/graph_text.h"
#include "compiler/driver/write_outputs.h"
#include "ir/text.h"
#include "runtime/failure.h"
#include "support/phase.h"
#include "support/quoted.h"

namespace tap::driver {
namespace {

struct InspectOptions {
  std::string file, format, output, plan, trace,
      machine;              // format: empty if neither --format nor the output's ending gives it
  std::string after, diff;  // passes
  std::string shards;       // a value
  bool splits = false, choices = false, code = false, times = false;
  std::optional<std::int64_t> device;
  SourceOptions source;
};

std::string as_text(const Compiled& compiled) { return to_text(compiled.program); }
std::string as_ir(const Compiled& compiled) { return ir::print(compiled.program); }
std::string as_json(const Compiled& compiled) { return to_json(compiled.program, compiled.name); }
Drawing drawing_of(const Compiled& compiled) { return draw(compiled.program, compiled.program[compiled.program.main]); }
std::string as_dot(const Compiled& compiled) { return to_dot(drawing_of(compiled)); }
std::string as_svg(const Compiled& compiled) { return to_svg(draw_all(compiled.program)); }
std::string as_graphml(const Compiled& compiled) { return to_graphml(drawing_of(compiled)); }

struct Format {
  std::string_view name;
  std::array<std::string_view, 2> endings;
  std::string (*write)(const Compiled& compiled);  // null: a report, which shows all stages
};
constexpr std::string_view page = "html", data_of_page = "report-json";
constexpr Format formats[] = {{"text", {".txt", ".txt"}, as_text},   {"ir", {".ir", ".ir"}, as_ir},
                              {"dot", {".dot", ".gv"}, as_dot},      {"svg", {".svg", ".svg"}, as_svg},
                              {"json", {".json", ".json"}, as_json}, {"graphml", {".graphml", ".graphml"}, as_graphml},
                              {page, {".html", ".htm"}, nullptr},    {data_of_page, {}, nullptr}};

// The ending of the output's name decides; --format may only repeat it. Lists are text.
void take_ending(InspectOptions& options) {
  const std::string_view ending = ending_of(options.output);
  const bool list = options.splits || options.device || !options.diff.empty() || !options.shards.empty();
  if (ending.empty() || options.output == "-") return;
  auto format = std::find_if(std::begin(formats), std::end(formats), [&](const Format& known) {
    return known.endings[0] == ending || known.endings[1] == ending;
  });
  if (format == std::end(formats))
    throw unknown_ending("inspect", options.output,
                         "use .txt for text, .ir for text that tapc reads back, .html for a report, or .dot, .gv, "
                         ".svg, .json or .graphml");
  if (options.format == data_of_page && ending == ".json") return;
  const std::string requested = list ? "text" : options.format;
  if (!requested.empty() && requested != format->name)
    throw wrong_command(Code::command_line,
                        list ? "the list is text, but the ending of " + tap::quoted(options.output) +
                                   " selects the format " + std::string(format->name)
                             : "--format=" + requested + " contradicts the ending of " + tap::quoted(options.output),
                        list ? "use .txt" : "leave --format out, or change the ending");
  options.format = format->name;
}

// The passes up to the one that offers the choices of a plan.
std::vector<passes::Pass> offering_passes() {
  std::vector<passes::Pass> list;
  for (const passes::Pass& pass : passes::passes_before("pick_choices")) list.push_back(pass);
  return list;
}

// With a plan, the result of all of its lines; for splits, the program after the lines before its splits.
Compiled compiled_for(Session& session, const InspectOptions& options, std::string& text) {
  PassOptions passes;
  passes.plan = read_plan(session, options.plan);
  take(passes, options.source);
  const bool as_written = !options.choices && options.plan.empty() && !options.splits && !options.device;
  const bool planned = !passes.plan.decisions.empty();
  pipeline::Options config = pipeline_options(passes, as_written        ? pipeline::Stage::built
                                                      : options.choices ? pipeline::Stage::simplified
                                                      : !options.splits ? pipeline::Stage::sharded
                                                      : planned         ? pipeline::Stage::fused
                                                                        : pipeline::Stage::simplified);
  if (options.choices) {
    config.offer_rewrites = true;
    config.simplify = offering_passes();
    config.proof = pipeline::Proof::none;
  }
  Dumps none(session, passes);
  pipeline::Compilation made =
      compile(session, read_program_file(session, options.file, options.source), std::move(config), passes, none);
  Compiled compiled = std::move(made.source);
  compiled.program = std::move(made.program);
  if (options.choices && options.format == "text") text = describe_choices(compiled.program, made.remarks);
  if (options.splits) text = list_splits(compiled.program);
  if (options.device) text = part_of_device(compiled.program, *options.device);
  return compiled;
}

pipeline::Options step_options(Session& session, const InspectOptions& options) {
  PassOptions passes;
  passes.plan = read_plan(session, options.plan);
  passes.verify = false;
  take(passes, options.source);
  return pipeline_options(passes, pipeline::Stage::sharded);
}

int show(Session& session, const InspectOptions& options, std::string text) {
  if (options.output.empty() || options.output == "-") session.print(text);
  else write_outputs(session, {{options.output, {std::move(text)}}});
  return exit_code::done;
}

int inspect(Session& session, InspectOptions options) {
  take_ending(options);
  if (options.choices && (options.format == page || options.format == data_of_page))
    throw wrong_command(Code::command_line, "--choices cannot be shown in a report", "use text, JSON or a picture");
  if (options.format.empty()) options.format = "text";
  const char* of_report = options.code            ? "`--code` needs a report"
                          : options.times         ? "`--time-passes` needs a report"
                          : options.trace.empty() ? nullptr
                                                  : "`--trace` needs a report";
  if (of_report && options.format != page && options.format != data_of_page)
    throw wrong_command(Code::command_line, of_report, "write one: `-o report.html`");
  std::string text;
  if (options.format == page || options.format == data_of_page) {
    text = inspect_report(session, options.file,
                          {options.plan, options.trace, options.machine, options.code, options.times}, options.source,
                          options.format == page);
    return show(session, options, std::move(text));
  }
  if (!options.shards.empty()) {
    text = shards_of_value(session, read_program_file(session, options.file, options.source),
                           step_options(session, options), options.shards,
                           session.output_colour && (options.output.empty() || options.output == "-"));
    return show(session, options, std::move(text));
  }
  if (!options.diff.empty()) {
    text = diff_of_passes(session, read_program_file(session, options.file, options.source),
                          step_options(session, options), options.diff);
    return show(session, options, std::move(text));
  }
  Compiled compiled = options.after.empty()
                          ? compiled_for(session, options, text)
                          : compiled_after(session, read_program_file(session, options.file, options.source),
                                           step_options(session, options), options.after);
  Phase phase("drawing the graph");
  for (const Format& format : formats)
    if (format.name == options.format && text.empty()) text = format.write(compiled);
  return show(session, options, std::move(text));
}

}  // namespace

Action declare_inspect(CLI::App& app) {
  auto options = std::make_shared<InspectOptions>();
  std::vector<std::string> names;
  for (const Format& format : formats) names.emplace_back(format.name);
  app.add_option("FILE", options->file, "A source file, or the text of a stage (.ir)")->required();
  // Keeps option pointers: looking one up by name ends the process when memory runs out.
  auto* format =
      app.add_option("--format", options->format,
                     "Format: text (default: equations), ir (tapc reads it back), html (a report that opens in a "
                     "browser), json "
                     "(docs/schema/graph.schema.json), report-json (docs/schema/report.schema.json), dot, svg, graphml")
          ->check(CLI::IsMember(names));
  app.add_option("-o,--output", options->output,
                 "The file to write (default: standard output); its ending decides the format");
  auto* plan = app.add_option("--plan", options->plan,
                              "Show the graph that this plan makes: fused, split and with transfers; with --splits, "
                              "list what can still be split");
  app.add_option("--trace", options->trace,
                 "Show the times of this run in a report; written by `tapc run --trace`; without --plan, the report "
                 "shows the plan that ran");
  app.add_flag("--code", options->code,
               "Show the loop nests and the assembly of the kernels in a report, for this machine's processor");
  app.add_flag("--time-passes", options->times, "Show the time of each pass in a report");
  auto* splits = app.add_flag("--splits", options->splits,
                              "List the names for plans: operations, their dims, and which dims can be split")
                     ->excludes(format);
  auto* device =
      app.add_option("--device", options->device,
                     "List what this device computes and receives; needs a mesh in the program or devices in the plan")
          ->check(CLI::NonNegativeNumber)
          ->excludes(format)
          ->excludes(splits);
  auto* after =
      app.add_option("--after", options->after, "Show the graph after this pass (`tapc opt --list-passes` lists them)")
          ->excludes(splits);
  auto* diff = app.add_option("--diff", options->diff,
                              "Show what passes changed, each rewrite as its operations before and after: PASS for "
                              "one pass, A..B for the passes after A, up to B")
                   ->excludes(format)
                   ->excludes(splits)
                   ->excludes(after);
  auto* shards = app.add_option("--shards", options->shards,
                                "Show this value of the sharded graph as a grid of the boxes that devices hold")
                     ->excludes(format)
                     ->excludes(splits)
                     ->excludes(after)
                     ->excludes(diff);
  for (CLI::Option* other : {after, diff, shards}) device->excludes(other);
  app.add_flag("--choices", options->choices,
               "Include the choices that a plan can make between rewrites and product orders; as text, list them")
      ->excludes(plan)
      ->excludes(splits)
      ->excludes(after)
      ->excludes(diff)
      ->excludes(shards);
  add_machine_option(app, options->machine);
  add_source_options(app, options->source);
  add_reshard_option(app, options->source);
  add_shape_option(app, options->source);
  return [options](Session& session) { return inspect(session, *options); };
}

}  // namespace tap::driver
