// tapc inspect FILE: the graph of a program as text, JSON or a picture.
#include <CLI/CLI.hpp>

#include "compiler/driver/command.h"
#include "compiler/driver/compile_file.h"
#include "compiler/driver/drawing.h"
#include "compiler/driver/graph_json.h"
#include "compiler/driver/read_source.h"
#include "ir/text.h"
#include "runtime/write_file.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

struct InspectOptions {
  std::string file, format = "text", output;
  SourceOptions source;
};

std::string as_text(const Compiled& compiled) { return ir::print(compiled.program); }
std::string as_json(const Compiled& compiled) { return to_json(compiled.program, compiled.name); }
Drawing drawing_of(const Compiled& compiled) { return draw(compiled.program, compiled.program[compiled.program.main]); }
std::string as_dot(const Compiled& compiled) { return to_dot(drawing_of(compiled)); }
std::string as_svg(const Compiled& compiled) { return to_svg(drawing_of(compiled)); }
std::string as_graphml(const Compiled& compiled) { return to_graphml(drawing_of(compiled)); }

struct Format {
  std::string_view name;
  std::string (*write)(const Compiled& compiled);
};
constexpr Format formats[] = {
    {"text", as_text}, {"dot", as_dot}, {"svg", as_svg}, {"json", as_json}, {"graphml", as_graphml}};

int inspect(Session& session, const InspectOptions& options) {
  Compiled compiled = compile_program(session, read_source(session, options.file), compile_options(options.source));
  Phase phase("drawing the graph");
  std::string text;
  for (const Format& format : formats)
    if (format.name == options.format) text = format.write(compiled);
  if (options.output.empty() || options.output == "-") session.print(text);
  else write_files({{options.output, {std::move(text)}}});
  return exit_code::done;
}

}  // namespace

Action declare_inspect(CLI::App& app) {
  auto options = std::make_shared<InspectOptions>();
  std::vector<std::string> names;
  for (const Format& format : formats) names.emplace_back(format.name);
  app.add_option("FILE", options->file, "The source file")->required();
  app.add_option("--format", options->format,
                 "text (default; tapc reads it back), json (docs/schema/graph.schema.json), dot, svg, graphml")
      ->check(CLI::IsMember(names));
  app.add_option("-o,--output", options->output, "The file to write; standard output without it");
  add_source_options(app, options->source);
  return [options](Session& session) { return inspect(session, *options); };
}

}  // namespace tap::driver
