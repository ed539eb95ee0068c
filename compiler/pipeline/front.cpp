#include "compiler/pipeline/front.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/proofs/laws_memory.h"
#include "compiler/pipeline/failures.h"
#include "compiler/pipeline/line_span.h"
#include "compiler/pipeline/stage_laws.h"
#include "compiler/pipeline/stage_legality.h"
#include "ir/text.h"
#include "ir/verify/verify.h"
#include "support/phase.h"

namespace tap::pipeline {
namespace {

struct StageText {
  std::string_view begins, what;
};
constexpr std::string_view graph_begins = "tap-ir ";
constexpr StageText later[] = {{"tap-blocks ", "a block graph"}, {"tap-schedule ", "a schedule"}};

const SourceFile& source_of(const Text& text) { return text.sources->file(text.file); }

Failure malformed(const Text& text, const ir::TextError& error) {
  return {exit_code::wrong_program,
          Diagnostic(Code::bad_stage, error_span(source_of(text), text.file, error), error.message)};
}

// Block graphs and schedules refer to the sharded graph and are incomplete without it.
void require_graph(const Text& text) {
  const SourceFile& source = source_of(text);
  for (const StageText& stage : later)
    if (source.text().starts_with(stage.begins))
      throw Failure{exit_code::wrong_program,
                    Diagnostic(Code::bad_stage, Span{text.file, 0, static_cast<std::uint32_t>(stage.begins.size() - 1)},
                               fmt::format("`{}` is {}, from which tapc cannot continue", source.path(), stage.what))
                        .help("tapc reads the text of `tapc opt --stage sharded`; only `tapc-check` reads this one")};
}

ir::Program parse_stage(const Text& text) {
  Phase phase("reading a stage");
  require_graph(text);
  auto parsed = ir::parse_program(source_of(text).text());
  if (const auto* error = std::get_if<ir::TextError>(&parsed)) throw malformed(text, *error);
  ir::Program program = std::get<ir::Program>(std::move(parsed));
  for (const std::string& violation : ir::verify(program)) throw malformed(text, {1, violation});
  // A file with only operators is well formed but has no main graph, so it is not a stage.
  if (!program.main.valid())
    throw malformed(text, {1, "the `main` line, which names the graph of the program, is missing"});
  return program;
}

// Its results have the names of its outputs.
Compiled build_stage(ir::Program program, const Text& text) {
  Phase phase("reading a stage");
  LawMemory own;
  settle_laws(*text.sources, text.file, program, text.how.laws ? *text.how.laws : own);
  require_legal(*text.sources, text.file, program);
  Compiled compiled;
  compiled.program = std::move(program);
  compiled.has_program = true;
  const ir::Graph& graph = compiled.program[compiled.program.main];
  compiled.name = graph.name;
  compiled.program_names = {graph.name};
  for (ir::ValueId v : graph.outputs) compiled.results.push_back(graph[v].name);
  return compiled;
}

}  // namespace

bool is_stage(std::string_view text) {
  return text.starts_with(graph_begins) ||
         std::ranges::any_of(later, [text](const StageText& stage) { return text.starts_with(stage.begins); });
}

ParsedText parse(const Text& text) {
  if (is_stage(source_of(text).text())) return {std::nullopt, parse_stage(text)};
  Phase phase("compiling");
  std::optional<ParsedFile> parsed = parse_file(*text.sources, text.file, text.how, *text.diagnostics);
  if (!parsed) throw TextRejected{};
  return {std::move(parsed), std::nullopt};
}

Compiled build(ParsedText parsed, const Text& text) {
  if (parsed.stage) return build_stage(std::move(*parsed.stage), text);
  Phase phase("compiling");
  std::optional<Compiled> compiled = tap::build(std::move(*parsed.file));
  if (!compiled || text.diagnostics->has_errors()) throw TextRejected{};
  return std::move(*compiled);
}

}  // namespace tap::pipeline
