// tapc opt FILE: runs passes on a program and prints what they made of it. FILE is a program in Tap, or the text of a stage,
// as `tapc inspect`, `tapc opt` and --dump-after write it: so any list of passes can be run on any of their results.
//
//   tapc opt mlp.tap --passes=inline_calls -o stage.txt
//   tapc opt stage.txt --passes=compose_maps --remarks
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "compiler/driver/command.h"
#include "compiler/driver/compile_file.h"
#include "compiler/driver/passes.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/read_source.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "runtime/write_file.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

struct OptOptions {
  std::string file, output, plan;
  bool list = false;
  SourceOptions source;
  PassOptions passes;
};

bool is_stage(std::string_view text) { return text.starts_with("tap-ir "); }

// A line of the file, without its end; the last one if there are fewer.
Span line_span(FileId file, std::string_view text, std::size_t line) {
  std::size_t begin = 0;
  for (; line > 1; --line) {
    std::size_t end = text.find('\n', begin);
    if (end == text.npos) break;
    begin = end + 1;
  }
  std::size_t end = std::min(text.find('\n', begin), text.size());
  return {file, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

[[noreturn]] void fail(FileId file, std::string_view text, std::size_t line, std::string message) {
  throw Failure{exit_code::wrong_program, Diagnostic(Code::bad_stage, line_span(file, text, line), std::move(message))};
}

ir::Program read_stage(const Session& session, FileId file) {
  Phase phase("reading a stage");
  std::string_view text = session.sources.file(file).text();
  auto parsed = ir::parse_program(text);
  if (const auto* error = std::get_if<ir::TextError>(&parsed)) fail(file, text, error->line, error->message);
  ir::Program program = std::get<ir::Program>(std::move(parsed));
  for (const std::string& violation : ir::verify(program)) fail(file, text, 1, violation);
  return program;
}

ir::Program read_program(Session& session, const OptOptions& options) {
  FileId file = read_source(session, options.file);
  if (is_stage(session.sources.file(file).text())) return read_stage(session, file);
  return compile_program(session, file, compile_options(options.source)).program;
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
  PassOptions chosen = options.passes;
  chosen.plan = read_plan(session, options.plan);
  passes::Passed passed = run_passes(session, read_program(session, options), chosen);
  std::string text = ir::print(passed.program);
  if (options.output.empty() || options.output == "-") session.print(text);
  else write_files({{options.output, {std::move(text)}}});
  return exit_code::done;
}

}  // namespace

Action declare_opt(CLI::App& app) {
  auto options = std::make_shared<OptOptions>();
  app.add_option("FILE", options->file, "A source file, or the text of a stage");
  app.add_option("-o,--output", options->output, "The file to write; standard output without it");
  app.add_option("--plan", options->plan, "A plan, whose unrolls and fusions are applied");
  app.add_flag("--list-passes", options->list, "List the passes in their usual order, with the reason for their place");
  add_pass_options(app, options->passes);
  add_source_options(app, options->source);
  return [options](Session& session) {
    options->passes.require_proof = options->source.require_proof;
    return opt(session, *options);
  };
}

}  // namespace tap::driver
