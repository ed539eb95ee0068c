#include "compiler/driver/compile_file.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>

#include "compiler/driver/bindings/manifest.h"
#include "compiler/driver/law_memory.h"
#include "compiler/driver/read_source.h"
#include "compiler/driver/show/written_operations.h"
#include "compiler/driver/standard_library.h"
#include "compiler/driver/stored_texts.h"
#include "compiler/pipeline/failures.h"
#include "runtime/tensors/input_spec.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

Failure wrong_dim(const std::string& text) {
  return {exit_code::wrong_command_line,
          Diagnostic(Code::command_line, Span{}, "`" + text + "` is not a valid value for --dim")
              .help("write a name and a size, --dim n=8, or the sizes of a pack, --dim d=2,3")};
}

// n=8, or d=2,3
std::pair<std::string, Shape> parse_dim(const std::string& text) {
  auto equals = text.find('=');
  if (equals == text.npos || equals == 0) throw wrong_dim(text);
  Shape sizes;
  const char *at = text.data() + equals, *end = text.data() + text.size();
  while (at != end) {
    if (!sizes.empty() && *at != ',') throw wrong_dim(text);
    auto [stop, error] = std::from_chars(at + 1, end, sizes.emplace_back());
    if (error != std::errc() || sizes.back() < 0) throw wrong_dim(text);
    at = stop;
  }
  return {text.substr(0, equals), sizes};
}

// Most errors are the program's; some are the command line's or the data's, which the first error's code shows.
Reported reported(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity() != Severity::error) continue;
    std::string_view group = info(diagnostic.code).id.substr(0, 3);
    int exit_code = group == "T10"   ? exit_code::wrong_command_line
                    : group == "T11" ? exit_code::wrong_data
                    : group == "T12" ? exit_code::resource
                                     : exit_code::wrong_program;
    return {exit_code, diagnostic.code};
  }
  return {exit_code::wrong_program, std::nullopt};
}

}  // namespace

void add_source_options(CLI::App& app, SourceOptions& options) {
  app.add_option("--program", options.program, "The program to use, if the file declares several");
  app.add_option("--dim", options.dims,
                 "The size of a dim, NAME=SIZE, or the sizes of a pack, NAME=2,3; may be repeated")
      ->allow_extra_args(false);
  app.add_flag("--require-proof", options.require_proof, "Reject monoids whose laws are assumed, not proved");
  CLI::Option* strict_fp =
      app.add_flag("--strict-fp", options.strict_fp,
                   "Keep the written order of float operations: no split or rewrite that changes rounding");
  app.add_flag("--fast-reduce", options.fast_reduce,
               "Let devices combine small partial results of floats in pairs: fewer messages, other rounding")
      ->excludes(strict_fp);
  app.add_flag("--no-distribute", options.no_distribute,
               "Offer no other orders of products of three or more factors, and no folds of monoids");
  add_no_cache_option(app, options.no_cache);
}

void add_no_cache_option(CLI::App& app, bool& no_cache) {
  app.add_flag("--no-cache", no_cache, "Use no cache on disk: prove laws and compile kernels again");
}

void add_reshard_option(CLI::App& app, SourceOptions& options) {
  app.add_flag("--no-implicit-reshard", options.no_implicit_reshard, "Reject implicit resharding");
}

void add_shape_option(CLI::App& app, SourceOptions& options) {
  app.add_option("-i,--input", options.shapes,
                 "The type of an input whose shape the program leaves open: X=f32[4,8], or any form that `tapc run -i` "
                 "accepts; may be repeated")
      ->allow_extra_args(false);
}

CompileOptions compile_options(const SourceOptions& options) {
  CompileOptions result;
  result.program = options.program;
  result.require_proof = options.require_proof;
  result.laws = options.no_cache ? &transient_law_memory() : &law_memory();
  result.standard_library = embedded::std_tap;
  TensorFiles files;
  for (const std::string& text : options.shapes)
    for (const InputSpec& spec : expand(parse_shape_spec(text), files))
      if (auto shape = own_shape(spec, files)) {
        auto [at, fresh] = result.input_shapes.emplace(spec.name, *shape);
        if (!fresh && at->second != *shape)
          throw Failure{exit_code::wrong_data,
                        Diagnostic(Code::data_missing, Span{},
                                   fmt::format("the input `{}` has two shapes, {} and {}", spec.name,
                                               to_string(at->second), to_string(*shape)))};
      }
  for (const std::string& text : options.dims) {
    auto [name, sizes] = parse_dim(text);
    auto [at, fresh] = result.dims.emplace(name, sizes);
    if (!fresh && at->second != sizes)
      throw Failure{exit_code::wrong_command_line,
                    Diagnostic(Code::command_line, Span{},
                               fmt::format("--dim gives `{}` two sizes, {} and {}", name, fmt::join(at->second, ","),
                                           fmt::join(sizes, ",")))};
  }
  return result;
}

namespace {

// The inputs of that name in the compiled programs; `names` gets every name.
std::vector<ir::TensorType> inputs_named(const Compiled& compiled, const std::string& name,
                                         std::vector<std::string>& names) {
  std::vector<ir::TensorType> found;
  for (ir::GraphId program : compiled.programs)
    for (ir::ValueId input : compiled.program[program].inputs) {
      const ir::Value& value = compiled.program[program][input];
      if (std::find(names.begin(), names.end(), value.name) == names.end()) names.push_back(value.name);
      if (value.name == name) found.push_back(value.type);
    }
  return found;
}

// Shapes may only be given for the program's inputs, with the same types.
void require_inputs(const Compiled& compiled, const std::vector<std::string>& shapes) {
  TensorFiles files;
  for (const std::string& text : shapes) {
    if (compiled.programs.empty()) return;
    for (const InputSpec& spec : expand(parse_shape_spec(text), files)) {
      std::vector<std::string> names;
      std::vector<ir::TensorType> inputs = inputs_named(compiled, spec.name, names);
      if (inputs.empty()) {
        auto near = did_you_mean(spec.name, names);
        throw Failure{exit_code::wrong_data,
                      Diagnostic(Code::data_missing, Span{},
                                 fmt::format("`{}`, given by `{}`, is not an input of {}", spec.name, text,
                                             compiled.programs.size() == 1 ? "the program" : "any program"))
                          .help(near ? "did you mean `" + *near + "`?"
                                     : fmt::format("{} inputs are {}", compiled.programs.size() == 1 ? "its" : "their",
                                                   fmt::join(names, ", ")))};
      }
      bool fits = !spec.own || std::any_of(inputs.begin(), inputs.end(),
                                           [&](const ir::TensorType& type) { return type.element == spec.own->type; });
      if (!fits)
        throw Failure{exit_code::wrong_data,
                      Diagnostic(Code::data_type, Span{},
                                 fmt::format("the input `{}` is declared as {}, but `-i {}` gives the element type {}",
                                             spec.name, to_string(inputs[0]), text, name_of(spec.own->type)))};
    }
  }
}

// `tapc compile` writes it next to a library; it cannot be used as source.
void require_no_manifest(const SourceFile& source) {
  if (!source.path().ends_with(".json") || !is_manifest(source.text())) return;
  throw Failure{exit_code::wrong_command_line,
                Diagnostic(Code::command_line, Span{},
                           fmt::format("`{}` is the manifest of a compiled program, not a source", source.path()))
                    .help("run it with `tapc run`")};
}

// Compile options have no meaning for a stage.
void require_undecided(const CompileOptions& options, const std::string& path) {
  const char* given = !options.program.empty() ? "--program" : !options.dims.empty() ? "--dim" : nullptr;
  if (given)
    throw Failure{exit_code::wrong_command_line,
                  Diagnostic(Code::command_line, Span{},
                             fmt::format("`{}` is a stage text, to which {} does not apply", path, given))};
}

void require_program(const Session& session, FileId file, const Compiled& built) {
  if (built.has_program) return;
  auto end = static_cast<std::uint32_t>(session.sources.file(file).text().size());
  throw Failure{exit_code::wrong_command_line,
                Diagnostic(Code::no_program, Span{file, end, end}, "the file declares no program")
                    .help("add one: program main(X: f32[4]) -> (Y: f32[4]) { … }")};
}

}  // namespace

ProgramFile make_program_file(const Session& session, FileId file, CompileOptions how,
                              std::vector<std::string> shapes) {
  const SourceFile& source = session.sources.file(file);
  require_no_manifest(source);
  if (pipeline::is_stage(source.text())) require_undecided(how, source.path());
  return {file, std::move(how), std::move(shapes)};
}

ProgramFile read_program_file(Session& session, const std::string& path, const SourceOptions& options) {
  const FileId file = read_source(session, path);
  return make_program_file(session, file, compile_options(options), options.shapes);
}

pipeline::Compilation compile_file(Session& session, const ProgramFile& input, const pipeline::Options& options,
                                   pipeline::Observer observer) {
  Diagnostics diagnostics;
  auto report = [&] {
    session.report(diagnostics);
    show_store_warnings(session);
  };
  observer.after_build = [&, also = std::move(observer.after_build)](const Compiled& built) {
    report();
    if (!input.how.check_only) require_program(session, input.file, built);
    require_inputs(built, input.shapes);
    if (also) also(built);
    // Nothing comes after a check, and a stage has no source locations.
    if (input.how.check_only || !built.has_program || built.provenance.graphs.empty()) return;
    session.operations = written_operations(built);
    session.inputs = declared_inputs(built);
  };
  try {
    return pipeline::compile(pipeline::Text{&session.sources, input.file, input.how, &diagnostics}, options, observer);
  } catch (const pipeline::TextRejected&) {
    report();
    throw reported(diagnostics);
  }
}

Compiled build_file(Session& session, const ProgramFile& input) {
  pipeline::Options config;
  config.stop = pipeline::Stage::built;
  config.proof = pipeline::Proof::none;
  pipeline::Compilation made = compile_file(session, input, config);
  made.source.program = std::move(made.program);
  return std::move(made.source);
}

bool compiles_without_inputs(Session& session, const ProgramFile& input) {
  CompileOptions how = input.how;
  how.input_shapes.clear();
  Diagnostics discarded;
  return compile(session.sources, input.file, how, discarded) && !discarded.has_errors();
}

void require_source(const Session& session, FileId file) {
  const SourceFile& source = session.sources.file(file);
  if (!pipeline::is_stage(source.text())) return;
  throw Failure{exit_code::wrong_command_line,
                Diagnostic(Code::bad_stage, Span{file, 0, 8},
                           fmt::format("`{}` is a stage text, not a Tap program", source.path()))
                    .help("`tapc opt`, inspect, check, verify, run, bench and compile read it")};
}

}  // namespace tap::driver
