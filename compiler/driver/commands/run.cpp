// tapc run FILE: compiles a program, loads its inputs, runs it, and prints, writes or compares its results.
//
//   tapc run mlp.tap -i X=@x.npy -i W=f32[4,8]=rand:42 -i @all.npz -o Y=@y.npy --expect Y=@wanted.npy
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <span>

#include "compiler/driver/bindings/run_manifest.h"
#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/tolerance_option.h"
#include "compiler/driver/compare.h"
#include "compiler/driver/depfile.h"
#include "compiler/driver/device_processes.h"
#include "compiler/driver/engine.h"
#include "compiler/driver/keep/keep_options.h"
#include "compiler/driver/machines/quantity.h"
#include "compiler/driver/memory_limit.h"
#include "compiler/driver/metrics/run_metrics.h"
#include "compiler/driver/mpi_host.h"
#include "compiler/driver/process_messages.h"
#include "compiler/driver/runnable.h"
#include "compiler/driver/shared_inputs.h"
#include "compiler/driver/shared_results.h"
#include "compiler/driver/supervisor.h"
#include "compiler/driver/unjustified_step.h"
#include "runtime/failure.h"
#include "runtime/supervise.h"
#include "runtime/tensors/mapped_file.h"
#include "runtime/tensors/output_spec.h"
#include "runtime/tensors/print_tensor.h"
#include "support/phase.h"
#include "support/quoted.h"

namespace tap::driver {
namespace {

struct RunOptions {
  RunnableOptions what;
  std::vector<std::string> outputs, expected;
  Tolerance tolerance;
  EngineOptions engine;
  std::optional<bool> summary, progress;
  MetricsOptions metrics;
  bool mpi = false;
  DeviceProcesses processes;
  bool all_by_first = false;    // the first process reads all inputs, and writes all results
  bool sharded_output = false;  // each process writes a file of its own
  std::shared_ptr<std::vector<bool>> gathered = std::make_shared<std::vector<bool>>();  // known before the run
  double timeout = executor::default_patience;
};

std::vector<OutputSpec> parse_outputs(const std::vector<std::string>& texts) {
  std::vector<OutputSpec> specs;
  for (const std::string& text : texts) specs.push_back(parse_output_spec(text));
  if (specs.empty()) specs.push_back(parse_output_spec("-"));
  return specs;
}

void print(const Session& session, const std::vector<NamedTensor>& results) {
  std::string text;
  for (const NamedTensor& result : results)
    text += fmt::format("{}: {}{} =\n{}\n", result.name, name_of(result.tensor.type()),
                        to_string(result.tensor.shape()), print_tensor(result.tensor));
  session.print(text);
}

void publish(Session& session, const std::vector<OutputSpec>& specs, const std::vector<NamedTensor>& results,
             const MetricsReport& metrics) {
  Phase phase("writing results");
  PlannedOutputs planned = plan_outputs(specs, results);
  planned.files.insert(planned.files.end(), metrics.files.begin(), metrics.files.end());
  write_files(planned.files);
  for (const OutputFile& file : planned.files) session.wrote(file.path);
  print(session, planned.printed);
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
  engine.metrics = options.metrics.wanted();
  engine.progress = !options.mpi && options.progress.value_or(true) && ::isatty(STDERR_FILENO) == 1;
  engine.gathered = options.gathered;
  if (options.mpi) engine.host = &MpiHost::start();
  read_cluster(session, engine);
  engine.processes = options.processes;
  return engine;
}

// If the tasks of native code cannot be certified, runs an earlier program, and at last interprets the graph, which
// needs no further certified step.
Evaluation evaluate_or_fall_back(const Session& session, Runnable& runnable, EngineOptions engine,
                                 bool skip_unjustified, const MpiHost* first_reads, TensorFiles& files) {
  auto read = [&](const std::vector<backend::HeldPart>& parts) {
    return read_parts(session, runnable, parts, files, first_reads);
  };
  while (true) {
    try {
      if (engine.host) return evaluate_shared(session, runnable.compiled.program, read, engine);
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
                               const RunnableOptions& what, TensorFiles& files) {
  auto runnable = std::make_shared<Runnable>(std::move(made));
  const ir::Program& program = runnable->compiled.program;
  if (engine.host) distribution_of(*engine.host, program, engine.processes);  // reports what does not fit the job
  const ir::Graph& graph = program[program.main];
  LoadedProgram result;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i)
    result.outputs.push_back({runnable->compiled.results[i], graph[graph.outputs[i]].type.element});
  result.run = [&session, engine, runnable, skip_unjustified = !what.source.require_proof,
                first_reads = what.first_reads, &files] {
    Evaluation made = evaluate_or_fall_back(session, *runnable, engine, skip_unjustified, first_reads, files);
    made.plan = runnable->plan;
    return made;
  };
  return result;
}

// Of the outputs that all processes write together.
bool is_boxed(const OutputSpec& spec, const RunOptions& options) {
  return !spec.path.empty() && !options.all_by_first && *format_of(spec.path) != FileFormat::npz;
}

// The results that the first process needs whole.
std::vector<bool> needed_whole(const std::vector<OutputSpec>& outputs, const std::vector<InputSpec>& expected,
                               const std::vector<DeclaredOutput>& declared, const RunOptions& options) {
  std::vector<bool> needed;
  for (const DeclaredOutput& result : declared) {
    auto prints = [&](const OutputSpec& spec) {
      return !is_boxed(spec, options) && (spec.name.empty() || spec.name == result.name);
    };
    auto compares = [&](const InputSpec& spec) { return spec.name == result.name; };
    const bool publishes = expected.empty() || !options.outputs.empty();
    needed.push_back((publishes && std::any_of(outputs.begin(), outputs.end(), prints)) ||
                     std::any_of(expected.begin(), expected.end(), compares));
  }
  return needed;
}

void publish_shared(Session& session, const SharedResults& results, const std::vector<OutputSpec>& specs,
                    const std::vector<NamedTensor>& whole, const RunOptions& options, const MetricsReport& metrics) {
  std::vector<OutputSpec> boxed, gathered;
  for (const OutputSpec& spec : specs) (is_boxed(spec, options) ? boxed : gathered).push_back(spec);
  PlannedOutputs planned;
  if (results.host.is_first()) planned = plan_outputs(gathered, whole);
  planned.files.insert(planned.files.end(), metrics.files.begin(), metrics.files.end());
  const std::vector<std::string> names = options.sharded_output
                                             ? write_own_files(results, boxed, std::move(planned.files))
                                             : write_boxes(results, boxed, std::move(planned.files));
  for (const std::string& name : names) session.wrote(name);
  print(session, planned.printed);
}

MetricsReport metrics_of(const Session& session, const RunOptions& options, const Evaluation& evaluation,
                         const MpiHost* host) {
  if (!options.metrics.wanted()) return {};
  if (evaluation.metrics)
    return report_metrics(*evaluation.metrics, options.metrics, {options.what.file, evaluation.plan}, host);
  session.report("nothing was measured, since the program was interpreted\n");
  return {};
}

// A job has run when its last process has.
RunSummary summary_of_job(const SharedResults& results) {
  const ProcessMessages messages(results.host);
  RunSummary summary = results.evaluation.summary;
  if (!results.host.is_first()) messages.send(0, std::as_bytes(std::span(&summary.seconds, 1)));
  for (std::int64_t process = 1; results.host.is_first() && process < results.host.size(); ++process) {
    double seconds = 0;
    messages.receive(process, std::as_writable_bytes(std::span(&seconds, 1)));
    summary.seconds = std::max(summary.seconds, seconds);
  }
  return summary;
}

// What follows the run, in all processes.
int finish_shared(Session& session, const SharedResults& results, const std::vector<OutputSpec>& outputs,
                  const std::vector<InputSpec>& expected, const RunOptions& options, TensorFiles& files) {
  const std::vector<NamedTensor> whole = gather(results, *options.gathered);
  if (results.host.is_first() && !as_expected(session, expected, whole, options.tolerance, files))
    return exit_code::check_failed;
  const bool publishes = options.expected.empty() || !options.outputs.empty();
  const MetricsReport metrics = metrics_of(session, options, results.evaluation, &results.host);
  publish_shared(session, results, publishes ? outputs : std::vector<OutputSpec>(), whole, options, metrics);
  session.report(metrics.tables);
  const RunSummary summary = summary_of_job(results);
  if (results.host.is_first() && options.summary.value_or(::isatty(STDERR_FILENO) == 1))
    session.report(summary_text(summary));
  return exit_code::done;
}

// With --sharded-output, each process has files of its own.
void name_own_files(std::vector<OutputSpec>& outputs) {
  for (OutputSpec& spec : outputs) {
    if (spec.path.empty()) continue;
    if (*format_of(spec.path) != FileFormat::safetensors)
      throw Failure{exit_code::wrong_command_line,
                    Diagnostic(Code::output_spec, Span{},
                               "`--sharded-output` writes .safetensors files, not " + tap::quoted(spec.path))
                        .help("write for example -o @results.safetensors")};
    spec.path = own_file(MpiHost::start(), spec.path);
  }
}

// Before anything runs.
void check_metrics_files(const Session& session, const RunOptions& options, const TensorFiles& files, bool is_library) {
  if (!options.metrics.wanted() && !options.engine.keep.wanted() && options.engine.memory == 0) return;
  if (is_library || options.engine.engine != "native")
    throw Failure{exit_code::wrong_command_line,
                  Diagnostic(Code::command_line, Span{},
                             "`--trace`, `--metrics`, `--slowest`, `--keep` and `--memory` need a program that runs as "
                             "native code")
                      .help(is_library ? "give the source file instead of the library" : "remove `--engine`")};
  std::vector<std::string> read = files.paths();
  for (const std::string& source : files_read(session)) read.push_back(source);
  for (const std::string& path : {options.metrics.trace, options.metrics.metrics})
    for (const std::string& other : read)
      if (!path.empty() && same_file(path, other))
        throw wrong_data(Code::data_aliases,
                         tap::quoted(path) + " is the same file as " + tap::quoted(other) + ", which was read",
                         "write to another file");
}

int run(Session& session, RunOptions& options) {
  if (options.mpi) run_supervised(options.timeout);
  session.quiet = options.mpi && MpiHost::is_follower();
  if (session.quiet) session.reporter = fmt::format("process {} of the job: ", MpiHost::launched_as());
  settle_threads(session, options.engine, options.mpi);
  TensorFiles files;
  std::vector<OutputSpec> outputs = parse_outputs(options.outputs);
  std::optional<LoadedProgram> loaded = load_manifest(options.what, options.engine, files);
  const bool shared = options.mpi && !loaded;
  RunnableOptions what = options.what;
  if (shared) what.host = &MpiHost::start();
  if (shared && options.all_by_first) what.first_reads = what.host;
  LoadedProgram program =
      loaded ? std::move(*loaded)
             : compiled_program(session, make_runnable(session, what, files), engine_of(session, options), what, files);
  const std::vector<DeclaredOutput>& declared = program.outputs;
  if (shared && options.sharded_output) name_own_files(outputs);
  check_outputs(outputs, declared, files.paths());
  check_metrics_files(session, options, files, loaded.has_value());
  std::vector<InputSpec> expected = what.first_reads
                                        ? specs_of_first(*what.first_reads, options.expected, "result", files)
                                        : parse_inputs(options.expected, "result", files);
  require_results(expected, declared);
  if (shared) *options.gathered = needed_whole(outputs, expected, declared, options);

  session.quiet = false;  // from here on processes differ
  Evaluation evaluation;
  try {
    evaluation = program.run();
  } catch (MemoryExceeded& exceeded) {
    session.quiet = shared && !MpiHost::start().is_first();  // all processes know
    session.reporter.clear();
    throw std::move(exceeded.failure);
  }
  files.require_intact();
  if (shared)
    return finish_shared(session, {MpiHost::start(), declared, std::move(evaluation)}, outputs, expected, options,
                         files);
  if (options.mpi && !MpiHost::start().is_first()) return exit_code::done;  // the first process has the results
  std::vector<NamedTensor> results;
  for (std::size_t i = 0; i < evaluation.results.size(); ++i)
    results.push_back({declared[i].name, evaluation.results[i]});
  // Before anything is published: results that are known to be wrong must not replace files of an earlier run.
  if (!as_expected(session, expected, results, options.tolerance, files)) return exit_code::check_failed;
  const bool publishes = options.expected.empty() || !options.outputs.empty();
  const MetricsReport metrics = metrics_of(session, options, evaluation, nullptr);
  publish(session, publishes ? outputs : std::vector<OutputSpec>(), results, metrics);
  session.report(metrics.tables);
  if (options.summary.value_or(::isatty(STDERR_FILENO) == 1)) session.report(summary_text(evaluation.summary));
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
  CLI::Option* io = app.add_option_function<std::string>(
                           "--io", [options](const std::string& who) { options->all_by_first = who == "root"; },
                           "Who reads inputs and writes results: each process its own part of each file (each, "
                           "default), which needs a shared file system, or the first process all of them (root)")
                        ->check(CLI::IsMember({"each", "root"}))
                        ->needs(mpi);
  app.add_flag("--sharded-output", options->sharded_output,
               "Each process writes its part of the results into a .safetensors file of its own")
      ->needs(mpi)
      ->excludes(io);
  app.add_option(
         "--timeout", options->timeout,
         "End the job if a process computes for this many seconds without progress; 0: never; default: 60, or ten "
         "times the longest step that is predicted")
      ->check(CLI::Range(0.0, 1e9))
      ->needs(mpi);
  app.add_option_function<std::string>(
         "--memory",
         [options](const std::string& text) {
           options->engine.memory = static_cast<std::int64_t>(*read_quantity(text, Unit::size));
         },
         "Refuse to run if a process needs more than this memory for the tensors of the program: 8GiB, 500MiB or a "
         "number of bytes")
      ->check([](const std::string& text) {
        const std::optional<double> bytes = read_quantity(text, Unit::size);
        if (bytes && *bytes >= 1 && *bytes < 0x1p62) return std::string();
        return "expected a size such as 8GiB or 500MiB, not " + tap::quoted(text);
      });
  add_metrics_options(app, options->metrics);
  add_keep_options(app, options->engine.keep);
  app.add_flag_function(
      "--progress,!--no-progress", [options](std::int64_t count) { options->progress = count > 0; },
      "Show the remaining time of a long run on a status line (default; only on a terminal)");
  app.add_flag_function(
      "--summary,!--no-summary", [options](std::int64_t count) { options->summary = count > 0; },
      "Print one line with the run time, threads and speed; default on a terminal");
  return [options](Session& session) {
    options->engine.cache.without = options->what.source.no_cache;
    options->what.machine_file = options->engine.machine_file;
    options->what.in_parts = options->mpi;
    return run(session, *options);
  };
}

}  // namespace tap::driver
