#include "compiler/driver/read_stage.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/driver/bindings/manifest.h"
#include "compiler/driver/law_memory.h"
#include "compiler/driver/show/line_span.h"
#include "compiler/driver/stage_laws.h"
#include "compiler/driver/stage_legality.h"
#include "ir/text.h"
#include "ir/verify/verify.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

Failure malformed(const Session& session, FileId file, const ir::TextError& error) {
  return {exit_code::wrong_program,
          Diagnostic(Code::bad_stage, place_span(session.sources.file(file), file, error), error.message)};
}

struct Stage {
  std::string_view begins, what;
};
constexpr std::string_view graph_begins = "tap-ir ";
constexpr Stage later[] = {{"tap-blocks ", "a block graph"}, {"tap-schedule ", "a schedule"}};

// Block graphs and schedules are in terms of the sharded graph, without which they say little.
void require_graph(const Session& session, FileId file) {
  const SourceFile& source = session.sources.file(file);
  for (const Stage& stage : later)
    if (source.text().starts_with(stage.begins))
      throw Failure{exit_code::wrong_program,
                    Diagnostic(Code::bad_stage, Span{file, 0, static_cast<std::uint32_t>(stage.begins.size() - 1)},
                               fmt::format("`{}` is {}, from which tapc cannot continue", source.path(), stage.what))
                        .help("tapc reads the text of `tapc opt --stage sharded`; only `tapc-check` reads this one")};
}

// What says how a program is to be compiled has no meaning any more.
void require_plain(const CompileOptions& options, const std::string& path) {
  const char* given = !options.program.empty() ? "--program" : !options.dims.empty() ? "--dim" : nullptr;
  if (given)
    throw Failure{exit_code::wrong_command_line,
                  Diagnostic(Code::command_line, Span{},
                             fmt::format("`{}` is a stage text in which {} has been decided already", path, given))};
}

// What `tapc compile` writes beside a library, given in the place of its source.
void require_no_manifest(const Session& session, FileId file) {
  const SourceFile& source = session.sources.file(file);
  if (!source.path().ends_with(".json") || !is_manifest(source.text())) return;
  throw Failure{exit_code::wrong_command_line,
                Diagnostic(Code::command_line, Span{},
                           fmt::format("`{}` is the manifest of a compiled program, not a source", source.path()))
                    .help("run it with `tapc run`")};
}

}  // namespace

bool is_stage(std::string_view text) {
  return text.starts_with(graph_begins) ||
         std::ranges::any_of(later, [text](const Stage& stage) { return text.starts_with(stage.begins); });
}

ir::Program read_stage(const Session& session, FileId file, LawMemory& laws) {
  Phase phase("reading a stage");
  require_graph(session, file);
  auto parsed = ir::parse_program(session.sources.file(file).text());
  if (const auto* error = std::get_if<ir::TextError>(&parsed)) throw malformed(session, file, *error);
  ir::Program program = std::get<ir::Program>(std::move(parsed));
  for (const std::string& violation : ir::verify(program)) throw malformed(session, file, {1, violation});
  // A file of operators alone has none, which is well formed; but it is not what a stage is of.
  if (!program.main.valid()) throw malformed(session, file, {1, "no `main` names the graph of the program"});
  settle_laws(session, file, program, laws);
  require_legal(session, file, program);
  return program;
}

Compiled compile_or_read(Session& session, FileId file, const CompileOptions& options) {
  require_no_manifest(session, file);
  if (!is_stage(session.sources.file(file).text())) return compile_program(session, file, options);
  require_plain(options, session.sources.file(file).path());
  Compiled compiled;
  compiled.program = read_stage(session, file, options.laws ? *options.laws : law_memory());
  compiled.has_program = true;
  const ir::Graph& graph = compiled.program[compiled.program.main];
  compiled.name = graph.name;
  compiled.program_names = {graph.name};
  for (ir::ValueId v : graph.outputs) compiled.results.push_back(graph[v].name);
  return compiled;
}

void require_source(const Session& session, FileId file) {
  const SourceFile& source = session.sources.file(file);
  if (!is_stage(source.text())) return;
  throw Failure{exit_code::wrong_command_line,
                Diagnostic(Code::bad_stage, Span{file, 0, 8},
                           fmt::format("`{}` is a stage text, not a Tap program", source.path()))
                    .help("`tapc opt`, inspect, check, verify, run, bench and compile read it")};
}

}  // namespace tap::driver
