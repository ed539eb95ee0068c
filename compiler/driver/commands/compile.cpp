// tapc compile FILE -o OUT: compiles a program to a shared library with a C header and a manifest, or to the format
// of OUT's ending; --emit adds outputs.
//
//   tapc compile mlp.tap -o mlp.so --emit=py,loops      mlp.so mlp.h mlp.json mlp_program.py mlp.loops
//
// (Python would take mlp.so itself for the module `mlp`.)
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "backend/compiled_program.h"
#include "backend/llvm/library.h"
#include "backend/llvm/self_check_library.h"
#include "backend/loops/loops_text.h"
#include "backend/schedule/schedule.h"
#include "compiler/driver/bindings/library_files.h"
#include "compiler/driver/bindings/process_programs.h"
#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/compile_outputs.h"
#include "compiler/driver/commands/decisions.h"
#include "compiler/driver/compile_file.h"
#include "compiler/driver/depfile.h"
#include "compiler/driver/device_processes.h"
#include "compiler/driver/engine.h"
#include "compiler/driver/machine_file.h"
#include "compiler/driver/read_source.h"
#include "compiler/driver/show/emit_mlir.h"
#include "compiler/driver/write_outputs.h"
#include "ir/graphs/program_hash.h"
#include "ir/text/stage_text.h"
#include "runtime/failure.h"
#include "support/check.h"
#include "support/large_heap.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

struct CompileCommand {
  std::string file, output, name, machine, depfile, target = "native";
  DecisionOptions decisions;
  std::vector<std::string> emit;
  std::vector<std::int64_t> mpi;  // numbers of processes
  bool self_check = true;
  SourceOptions source;
  PassOptions passes;
};

bool is_prefix(std::string_view name) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !name.empty() && name.size() <= 200 && letter(name[0]) && !name.starts_with("tap_library") &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

// The prefix of exported names: the user's, or the program's name if that is valid.
std::string prefix_for(const CompileCommand& command, const std::string& program) {
  if (!command.name.empty() && !is_prefix(command.name))
    throw wrong_command(Code::command_line, tap::quoted(command.name) + " is not a valid prefix for C functions",
                        "use a letter, then letters, digits and `_`: --name=mlp");
  if (command.name.empty() && !is_prefix(program))
    throw wrong_command(Code::command_line,
                        tap::quoted(program) + ", the program's name, is not a valid prefix for C functions",
                        "choose one, such as --name=mlp");
  return command.name.empty() ? program : command.name;
}

backend::Target target_for(const CompileCommand& command, const CompileOutputs& outputs) {
  backend::Target target = *backend::target_named(command.target);  // the option accepts no others
  if (!target.linkable && ((outputs.is_library && !outputs.includes("obj")) || outputs.includes("exe")))
    throw wrong_command(Code::command_line,
                        std::string("tapc links ") + (outputs.includes("exe") ? "programs" : "libraries") +
                            " only for processors of this machine's architecture, not for " + target.name,
                        "emit the object and link it there: -o FILE.o");
  for (const char* of_library : {"py", "cmake", "pc"})
    if (!target.linkable && outputs.includes(of_library))
      throw wrong_command(
          Code::command_line,
          std::string("--emit=") + of_library + " describes a library, and tapc cannot link one for " + target.name,
          "leave it out: --emit=obj");
  return target;
}

struct Made {
  Compiled compiled;
  ir::Plan plan;
  pipeline::Compilation pipeline = {};
  backend::BufferFacts facts = {};  // for jobs of several processes
  std::string mlir = {};            // if requested: the program before the plan fuses and splits it
};

// `machine`: the target's; without one, only MLIR is expected.
Made make(Session& session, const CompileCommand& command, const CompileOutputs& outputs, FileId file,
          const ir::Machine* machine) {
  Made made;
  Dumps dumps(session, command.passes);
  PassOptions passes = command.passes;
  read_decisions(session, command.decisions, passes);
  pipeline::Options config = pipeline_options(passes, pipeline::Stage::simplified);
  let_decide(session, command.decisions, {command.machine, command.target, command.source.no_cache}, config);
  PipelineInput input =
      driver::make_program_file(session, file, compile_options(command.source), command.source.shapes);
  if (outputs.includes("mlir")) {
    pipeline::Compilation simplified = compile(session, std::move(input), config, passes, dumps);
    made.compiled = std::move(simplified.source);
    config.plan = made.plan = std::move(simplified.plan);
    config.decide.reset();
    made.mlir = mlir_text(simplified.program);
    input = std::move(simplified.program);
    config.begin = pipeline::Stage::simplified;
    config.scheduling.output_names = &made.compiled.results;
  }
  if (!machine) return made;
  config.stop = pipeline::Stage::schedule;
  config.machine = *machine;
  if (!command.mpi.empty()) {
    config.scheduling_of_jobs = config.scheduling;
    config.scheduling_of_jobs->facts = &made.facts;
    config.scheduling_of_jobs->shared = true;
  }
  made.pipeline = compile(session, std::move(input), config, passes, dumps);
  if (!outputs.includes("mlir")) made.plan = made.pipeline.plan;
  if (!outputs.includes("mlir")) made.compiled = std::move(made.pipeline.source);
  return made;
}

backend::LibraryCode tested_code(const Session& session, const CompileCommand& command, const backend::Library& library,
                                 const backend::Target& target, const backend::CompiledProgram& lowered) {
  backend::SelfCheckOptions checks = backend::self_check_options(command.self_check);
  checks.on = checks.on && backend::runs_here(target);
  const auto cache = open_cache({.without = command.source.no_cache});
  backend::LibraryCode code =
      backend::compile(library, target, {.cache = cache, .self_check_key = backend::check_keys(lowered, checks)});
  {
    Phase trying("testing the kernels");
    backend::check_library(lowered, code, checks);
  }
  for (const backend::Object& kernel : code.kernels)
    if (cache && !kernel.cached) cache->store(kernel.key, kernel.bytes);
  show_warnings(session, cache.get());
  return code;
}

std::vector<OutputFile> files_for(const Session& session, const CompileCommand& command, const CompileOutputs& outputs,
                                  LibraryFacts& facts, const Made& made, const cost::Cluster& cluster) {
  const backend::CompiledProgram& lowered = *made.pipeline.lowered;
  Phase phase("generating code");
  const bool links = facts.target.linkable && outputs.is_library;
  backend::Library library{facts.prefix, &lowered.kernels.kernels,
                           backend::encode(*facts.schedule, lowered.kernels.kernels, facts.features)};
  if (!command.mpi.empty()) {
    library.processes = process_programs(command.mpi, count_devices(made.pipeline.program), lowered,
                                         *made.pipeline.schedule_of_jobs, made.facts, facts.features, cluster);
    const std::string_view words(reinterpret_cast<const char*>(library.tables.data()),
                                 library.tables.size() * sizeof(std::int64_t));
    library.identity = ir::short_hash(ir::hash_of_text(facts.graph_hash + facts.target.name + std::string(words)));
  }
  const backend::LibraryCode code = outputs.has_code() ? tested_code(session, command, library, facts.target, lowered)
                                                       : backend::LibraryCode();
  backend::LibraryText text;
  if (outputs.includes("llvm") || outputs.includes("asm"))
    text =
        backend::emit(library, facts.target, {.llvm = outputs.includes("llvm"), .assembly = outputs.includes("asm")});
  std::vector<OutputFile> files;
  if (links) {
    Phase linking("linking");
    std::string library = backend::link_shared(code, outputs.library);
    facts.library_bytes = library.size();
    facts.library_hash = backend::sha256(library);
    files.push_back({outputs.folder() + outputs.library, {std::move(library)}});
  }
  if (outputs.has_header()) files.push_back({outputs.stem + ".h", {c_header(facts)}});
  for (const OutputKind& output : output_kinds()) {
    if (!outputs.includes(output.word)) continue;
    std::string bytes = output.word == "obj"        ? backend::link_relocatable(code, facts.target)
                        : output.word == "exe"      ? backend::link_program(code)
                        : output.word == "llvm"     ? text.llvm
                        : output.word == "asm"      ? text.assembly
                        : output.word == "loops"    ? print(lowered.kernels.kernels)
                        : output.word == "schedule" ? ir::print(*facts.schedule)
                        : output.word == "mlir"     ? made.mlir
                        : output.word == "py"       ? python_module(facts)
                        : output.word == "cmake"    ? cmake_config(facts)
                        : output.word == "pc"       ? pkg_config(facts)
                                                    : throw InternalError("--emit has a kind without a writer");
    files.push_back({outputs.stem + std::string(output.ending), {std::move(bytes)}, output.word == "exe"});
  }
  if (links) files.push_back({outputs.stem + ".json", {manifest_text(facts)}});  // last: it names the others
  return files;
}

// A standalone program loads only the C library, so it has no outside kernels; and NumPy's files have no bf16.
void require_standalone(const LibraryFacts& facts) {
  const backend::Schedule& schedule = *facts.schedule;
  if (!schedule.outside.empty())
    throw wrong_command(Code::command_line,
                        "--emit=exe: the outside kernel " + tap::quoted(schedule.outside[0]) +
                            " comes from a shared library, which a standalone program does not load",
                        "emit the object and link it with the library: --emit=obj");
  for (const auto* list : {&schedule.inputs, &schedule.outputs})
    for (const backend::ProgramTensor& tensor : *list)
      if (tensor.type.element == ElementType::bf16)
        throw wrong_command(Code::command_line,
                            "--emit=exe: " + tap::quoted(tensor.name) + " has type bf16, which .npy files cannot hold",
                            "convert it in the program: f32(x)");
}

// The rule is for the build tool's target: the library, or the object if there is none.
void write_with_depfile(const Session& session, const CompileCommand& command, std::vector<OutputFile> files) {
  if (!command.depfile.empty()) {
    auto made = std::find_if(files.begin(), files.end(), [](const OutputFile& f) { return !f.path.ends_with(".h"); });
    OutputFile rule{command.depfile, {depfile(made->path, session, command.source)}};
    files.insert(files.end() - 1, std::move(rule));  // the last names the others
  }
  write_outputs(session, files);
}

int compile(Session& session, const CompileCommand& command) {
  use_large_heap();
  const CompileOutputs outputs = compile_outputs(command.output, command.emit);
  if (outputs.only_mlir()) {
    const FileId text = read_source(session, command.file);
    const Made made = make(session, command, outputs, text, nullptr);
    write_decisions(session, command.decisions, made.plan);
    write_with_depfile(session, command, {{command.output, {made.mlir}}});
    return exit_code::done;
  }
  backend::Target target = target_for(command, outputs);
  const FileId file = read_source(session, command.file);
  LibraryFacts facts;
  const cost::Cluster cluster = cluster_for(session, target, command.machine);
  const ir::Machine machine = machine_for(session, target, command.machine);
  Made made = make(session, command, outputs, file, &machine);
  const pipeline::Compilation& program = made.pipeline;
  facts.program = made.compiled.name;
  facts.prefix = prefix_for(command, made.compiled.name);
  facts.file = outputs.library;
  facts.header = outputs.header();
  facts.target = std::move(target);
  facts.features = backend::features_of(facts.target);
  facts.source_hash = backend::sha256(session.sources.file(file).text());
  facts.graph_hash = ir::hash_of(program.program);
  facts.plan = ir::print(made.plan);
  facts.work = work_of(program.program);
  facts.schedule = &*program.schedule;
  facts.processes = command.mpi;
  facts.scratch_bytes = backend::most_scratch(program.lowered->kernels.kernels);
  if (outputs.includes("exe")) require_standalone(facts);
  std::vector<OutputFile> files = files_for(session, command, outputs, facts, made, cluster);
  Phase writing("writing the library");
  write_decisions(session, command.decisions, made.plan);
  write_with_depfile(session, command, std::move(files));
  return exit_code::done;
}

std::vector<std::string> emit_words() {
  std::vector<std::string> words;
  for (const OutputKind& output : output_kinds()) words.emplace_back(output.word);
  return words;
}

}  // namespace

Action declare_compile(CLI::App& app) {
  auto command = std::make_shared<CompileCommand>();
  app.add_option("FILE", command->file, "A source file, or the text of a stage (.ir)")->required();
  app.add_option("-o,--output", command->output,
                 "The file to write: OUT.so is a library (written with its header and manifest), OUT.o an "
                 "object with its "
                 "header; OUT.ll, .s, .loops, .schedule and .mlir are text")
      ->required();
  app.add_option("--name", command->name, "Prefix of the exported functions (default: the program's name)");
  app.add_option("--emit", command->emit, "Further outputs, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(emit_words()));
  app.add_option("--mpi", command->mpi,
                 "Numbers of processes with which the program can also run as an MPI job, such as 2,4")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(2, 4096));
  app.add_option("--target", command->target, "The processor to generate code for")
      ->check(CLI::IsMember(backend::target_names()));
  app.add_option("--depfile", command->depfile,
                 "Write a make rule that names every file read: the source, modules, the plan");
  add_machine_option(app, command->machine);
  add_decision_options(app, command->decisions);
  add_self_check_option(app, command->self_check);
  add_source_options(app, command->source);
  add_reshard_option(app, command->source);
  add_shape_option(app, command->source);
  add_pass_options(app, command->passes);
  return [command](Session& session) {
    take(command->passes, command->source);
    std::sort(command->mpi.begin(), command->mpi.end());
    command->mpi.erase(std::unique(command->mpi.begin(), command->mpi.end()), command->mpi.end());
    return compile(session, *command);
  };
}

}  // namespace tap::driver
