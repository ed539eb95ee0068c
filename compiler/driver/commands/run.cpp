// tapc run FILE: compiles a program, loads its inputs, runs it, and prints, writes or compares its results.
//
//   tapc run mlp.tap -i X=@x.npy -i W=f32[4,8]=rand:42 -i @all.npz -o Y=@y.npy --expect Y=@wanted.npy
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include "compiler/driver/bindings/run_manifest.h"
#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/tolerance_option.h"
#include "compiler/driver/compare.h"
#include "compiler/driver/device_processes.h"
#include "compiler/driver/engine.h"
#include "compiler/driver/mpi_host.h"
#include "compiler/driver/runnable.h"
#include "compiler/driver/unjustified_step.h"
#include "runtime/tensors/output_spec.h"
#include "runtime/tensors/print_tensor.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

struct RunOptions {
  RunnableOptions what;
  std::vector<std::string> outputs, expected;
  Tolerance tolerance;
  EngineOptions engine;
  std::optional<bool> summary;
  bool mpi = false;
  DeviceProcesses processes;
};

std::vector<OutputSpec> parse_outputs(const std::vector<std::string>& texts) {
  std::vector<OutputSpec> specs;
  for (const std::string& text : texts) specs.push_back(parse_output_spec(text));
  if (specs.empty()) specs.push_back(parse_output_spec("-"));
  return specs;
}

void publish(Session& session, const std::vector<OutputSpec>& specs, const std::vector<NamedTensor>& results) {
  Phase phase("writing results");
  PlannedOutputs planned = plan_outputs(specs, results);
  write_files(planned.files);
  for (const OutputFile& file : planned.files) session.wrote(file.path);
  std::string text;
  for (const NamedTensor& result : planned.printed)
    text += fmt::format("{}: {}{} =\n{}\n", result.name, name_of(result.tensor.type()),
                        to_string(result.tensor.shape()), print_tensor(result.tensor));
  session.print(text);
}

// Compares with the expected values; reports every difference. Pre: the specs name results.
bool as_expected(Session& session, const std::vector<InputSpec>& expected, const std::vector<NamedTensor>& results,
                 const Tolerance& tolerance, TensorFiles& files) {
  Phase phase("comparing results");
  bool good = true;
  for (const InputSpec& spec : expected)
    for (const NamedTensor& result : results) {
      if (result.name != spec.name) continue;
      Tensor reference = materialise(spec, result.tensor.type(), result.tensor.shape(), files);
      if (auto difference = compare(result, reference, tolerance)) {
        session.report(*difference);
        good = false;
      }
    }
  return good;
}

void require_results(const std::vector<InputSpec>& expected, const std::vector<DeclaredOutput>& declared) {
  std::vector<std::string> names;
  for (const DeclaredOutput& output : declared) names.push_back(output.name);
  for (const InputSpec& spec : expected) {
    if (std::find(names.begin(), names.end(), spec.name) != names.end()) continue;
    auto near = did_you_mean(spec.name, names);
    throw Failure{
        exit_code::wrong_command_line,
        Diagnostic(Code::output_spec, Span{},
                   fmt::format("--expect names `{}`, which is not a result of the program", spec.name))
            .help(near ? "did you mean `" + *near + "`?" : fmt::format("its results are {}", fmt::join(names, ", ")))};
  }
}

EngineOptions engine_of(Session& session, const RunOptions& options) {
  EngineOptions engine = options.engine;
  read_machine(session, engine);
  engine.strict_fp = options.what.source.strict_fp;
  engine.verify = options.what.passes.verify;
  if (options.mpi && engine.engine != "native")
    throw Failure{exit_code::wrong_command_line,
                  Diagnostic(Code::command_line, Span{}, "`--mpi` needs native code").help("remove `--engine`")};
  if (options.mpi) engine.host = &MpiHost::start();
  engine.processes = options.processes;
  return engine;
}

// If the tasks of native code cannot be certified, runs an earlier program, and at last interprets the graph, which
// needs no further certified step.
Evaluation evaluate_or_fall_back(const Session& session, Runnable& runnable, EngineOptions engine,
                                 bool skip_unjustified) {
  while (true) {
    try {
      return evaluate(session, runnable.compiled.program, runnable.inputs, engine);
    } catch (const pipeline::UnjustifiedStep& fault) {
      if (!skip_unjustified) throw;
      warn_step_left_out(session, fault);
    }
    if (runnable.earlier.empty()) {
      engine.engine = "interp";
    } else {
      runnable.compiled.program = std::move(runnable.earlier.back());
      runnable.earlier.pop_back();
    }
  }
}

LoadedProgram compiled_program(const Session& session, Runnable made, const EngineOptions& engine,
                               bool skip_unjustified) {
  auto runnable = std::make_shared<Runnable>(std::move(made));
  const ir::Program& program = runnable->compiled.program;
  if (engine.host) distribution_of(*engine.host, program, engine.processes);  // reports what does not fit the job
  const ir::Graph& graph = program[program.main];
  LoadedProgram result;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i)
    result.outputs.push_back({runnable->compiled.results[i], graph[graph.outputs[i]].type.element});
  result.run = [&session, engine, runnable, skip_unjustified] {
    return evaluate_or_fall_back(session, *runnable, engine, skip_unjustified);
  };
  return result;
}

int run(Session& session, const RunOptions& options) {
  session.quiet = options.mpi && MpiHost::is_follower();
  TensorFiles files;
  std::vector<OutputSpec> outputs = parse_outputs(options.outputs);
  std::optional<LoadedProgram> loaded = load_manifest(options.what, options.engine, files);
  LoadedProgram program = loaded ? std::move(*loaded)
                                 : compiled_program(session, make_runnable(session, options.what, files),
                                                    engine_of(session, options), !options.what.source.require_proof);
  const std::vector<DeclaredOutput>& declared = program.outputs;
  check_outputs(outputs, declared, files.paths());
  std::vector<InputSpec> expected = parse_inputs(options.expected, "result", files);
  require_results(expected, declared);

  session.quiet = false;  // from here on processes differ
  auto [tensors, summary] = program.run();
  files.require_intact();
  if (options.mpi && !MpiHost::start().is_first()) return exit_code::done;  // the first process has the results
  std::vector<NamedTensor> results;
  for (std::size_t i = 0; i < tensors.size(); ++i) results.push_back({declared[i].name, tensors[i]});
  // Before anything is published: results that are known to be wrong must not replace files of an earlier run.
  if (!as_expected(session, expected, results, options.tolerance, files)) return exit_code::check_failed;
  if (options.expected.empty() || !options.outputs.empty()) publish(session, outputs, results);
  if (options.summary.value_or(::isatty(STDERR_FILENO) == 1)) session.report(summary_text(summary));
  return exit_code::done;
}

}  // namespace

Action declare_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  options->what.skip_unjustified = true;
  add_runnable_options(app, options->what);
  app.add_option(
         "-o,--output", options->outputs,
         "Where to write a result: Y=@y.npy, @all.npz, Y=- (print it); may be repeated; default: print all results")
      ->allow_extra_args(false);
  app.add_option("--expect", options->expected,
                 "The expected value of a result, in the form of -i; exit code 5 if it differs")
      ->allow_extra_args(false);
  add_tolerance_options(app, options->tolerance, " of --expect", "1e-5; 1e-3 for f16, 1e-2 for bf16",
                        "1e-8 for f64, 1e-6 for f32, 1e-3 for f16, 1e-2 for bf16");
  add_engine_options(app, options->engine);
  CLI::Option* mpi = app.add_flag(
      "--mpi", options->mpi,
      "Share the run with the other processes of an MPI job, each of which runs the blocks of its devices");
  CLI::Option* map =
      app.add_option("--map", options->processes.map,
                     "The process of each device, in the order of devices: 0,0,1,1 gives each of two processes two "
                     "devices; default: blocks of devices in order")
          ->delimiter(',')
          ->allow_extra_args(false)
          ->needs(mpi);
  app.add_flag("--one-device-per-rank", options->processes.one_each,
               "Require as many processes as the program uses devices")
      ->needs(mpi)
      ->excludes(map);
  app.add_flag_function(
      "--summary,!--no-summary", [options](std::int64_t count) { options->summary = count > 0; },
      "Print one line with the run time, threads and speed; default on a terminal");
  return [options](Session& session) {
    options->engine.cache.without = options->what.source.no_cache;
    options->what.machine_file = options->engine.machine_file;
    return run(session, *options);
  };
}

}  // namespace tap::driver
