#include "compiler/frontend/elaborate/compile.h"

#include "compiler/frontend/elaborate/annotations.h"
#include "compiler/frontend/elaborate/elaboration.h"
#include "compiler/frontend/elaborate/program.h"
#include "compiler/frontend/elaborate/unread_values.h"
#include "compiler/frontend/rewrites/rule_graphs.h"
#include "ir/verify/verify.h"
#include "support/check.h"

namespace tap {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string list;
  for (const auto& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

const Definition* choose_program(Elaboration& elaboration, const ModuleScope& scope,
                                 const std::vector<const Definition*>& programs) {
  const std::string& requested = elaboration.options.program;
  std::vector<std::string> names;
  for (const Definition* p : programs) names.push_back(p->name);
  if (!requested.empty()) {
    for (const Definition* p : programs)
      if (p->name == requested) return p;
    Diagnostic d(Code::no_program, programs.empty() ? Span{scope.file, 0, 0} : programs.front()->name_span,
                 "unknown program " + quoted(requested) + " in " + elaboration.sources.file(scope.file).path());
    if (auto near = did_you_mean(requested, names)) d.help("did you mean " + quoted(*near) + "?");
    else d.help(names.empty() ? "it declares no program" : "its programs are " + joined(names));
    elaboration.fail(std::move(d));
  }
  if (programs.size() > 1)
    elaboration.fail(
        Diagnostic(Code::which_program, programs[1]->name_span, "the file has several programs: " + joined(names))
            .help("choose one with `--program " + names.front() + "`"));
  return programs.empty() ? nullptr : programs.front();
}

void build_main(Elaboration& elaboration, const Definition& program, Compiled& compiled) {
  elaboration.program.main = build_program(elaboration, program);
  compiled.programs.push_back(elaboration.program.main);
  compiled.has_program = true;
  compiled.name = program.name;
  compiled.results.clear();
  for (const ast::TensorParam& result : program.as<ast::ProgramDecl>()->results)
    compiled.results.push_back(result.name.text);
}

}  // namespace

struct ParsedFile::State {
  State(SourceMap& sources, const CompileOptions& given, Diagnostics& diagnostics)
      : options(given), elaboration(sources, options, diagnostics) {}

  CompileOptions options;
  Elaboration elaboration;
  ModuleScope* scope = nullptr;
};

ParsedFile::ParsedFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
ParsedFile::ParsedFile(ParsedFile&&) noexcept = default;
ParsedFile& ParsedFile::operator=(ParsedFile&&) noexcept = default;
ParsedFile::~ParsedFile() = default;

std::optional<ParsedFile> parse_file(SourceMap& sources, FileId file, const CompileOptions& options,
                                     Diagnostics& diagnostics) {
  auto state = std::make_unique<ParsedFile::State>(sources, options, diagnostics);
  try {
    state->scope = state->elaboration.definitions.load(file);
  } catch (const Abandoned&) {}
  if (!state->scope) return std::nullopt;
  return ParsedFile(std::move(state));
}

std::optional<Compiled> build(ParsedFile parsed) {
  Elaboration& elaboration = parsed.state().elaboration;
  const ModuleScope& scope = *parsed.state().scope;
  const CompileOptions& options = parsed.state().options;
  Diagnostics& diagnostics = *elaboration.diagnostics;
  Compiled compiled;
  try {
    std::vector<const Definition*> programs;
    for (const Definition* d : scope.in_order)
      if (d->sort == Sort::program) programs.push_back(d), compiled.program_names.push_back(d->name);
    if (diagnostics.has_errors() && !options.check_only) return std::nullopt;
    declare_meshes(elaboration, scope);
    check_rewrites(elaboration, scope);
    if (options.check_only && options.program.empty()) {
      for (const Definition* p : programs) {
        try {
          build_main(elaboration, *p, compiled);
        } catch (const Abandoned&) {}
      }
    } else if (const Definition* p = choose_program(elaboration, scope, programs)) {
      build_main(elaboration, *p, compiled);
    }
    if (options.check_only) check_uncalled_operators(elaboration, scope);
    if (!diagnostics.has_errors()) try_rewrites(elaboration, scope);
    if (!diagnostics.has_errors()) warn_of_unread_values(scope, diagnostics);
  } catch (const Abandoned&) {}
  if (diagnostics.has_errors()) return std::nullopt;
  compiled.program = std::move(elaboration.program);
  compiled.provenance = std::move(elaboration.provenance);
  if (compiled.has_program)
    for (const auto& violation : ir::verify(compiled.program))
      TAP_UNREACHABLE("the front end built a malformed graph: " + violation);
  return compiled;
}

std::optional<Compiled> compile(SourceMap& sources, FileId file, const CompileOptions& options,
                                Diagnostics& diagnostics) {
  std::optional<ParsedFile> parsed = parse_file(sources, file, options, diagnostics);
  return parsed ? build(std::move(*parsed)) : std::nullopt;
}

}  // namespace tap
