// tapc bench FILE: measures the run time and the compile time of a program.
//
//   $ tapc bench product.tap --threads 1
//   run      1.92 ms, the median of 412 runs; 95 % confidence: 1.91 ms to 1.93 ms
//            17.5 GFLOP/s, 1.64 GB/s
//   compile  87.1 ms cold, 4.02 ms from the cache; 1 kernel
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "backend/llvm/executable.h"
#include "backend/llvm/kernel_cache.h"
#include "compiler/driver/bindings/outside_kernels.h"
#include "compiler/driver/commands/command.h"
#include "compiler/driver/engine.h"
#include "compiler/driver/median.h"
#include "compiler/driver/metrics/run_metrics.h"
#include "compiler/driver/runnable.h"
#include "compiler/driver/show/run_summary.h"
#include "compiler/driver/work.h"
#include "runtime/write_file.h"
#include "support/exit_code.h"
#include "support/memory_failure.h"
#include "support/phase.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

struct BenchOptions {
  RunnableOptions what;
  EngineOptions engine;
  double seconds = 1;
  std::size_t least = 5;
  bool json = false;
  MetricsOptions metrics;
};

struct Compiling {
  double cold = 0, warm = 0;  // seconds; warm: from the cache
  bool has_cache = false;
};

struct Figures {
  Median run;
  Compiling compiling;
  ProgramWork work;
  std::size_t kernels = 0;
  MetricsReport metrics;
};

// One warm-up run, then runs until the time is up. Results use the same memory each time, as a library's callers would.
Median time_runs(backend::Executable& executable, const std::vector<Tensor>& inputs, const BenchOptions& options) {
  Phase phase("running native code");
  std::vector<double> seconds;
  std::vector<Tensor> results;
  executable.prepare(inputs);
  executable.run(inputs, results);
  for (Stopwatch all;
       seconds.size() < options.least || (all.seconds() < options.seconds && seconds.size() < 100'000);) {
    Stopwatch one;
    executable.run(inputs, results);
    seconds.push_back(one.seconds());
  }
  return median_of(std::move(seconds));
}

// Task by task, in a run after a warm-up: a clock is read around each, which takes time, so this is a run of its own.
MetricsReport report_tasks(const ir::Program& program, const Runnable& runnable, const BenchOptions& options,
                           const EngineOptions& engine, OutsideKernels& kernels) {
  RunMetrics metrics(engine.threads);
  Watch watch;
  watch.recorder = metrics.recorder();
  backend::Executable executable = compile_native(program, engine, kernels, nullptr, watch);
  {
    Phase phase("running native code");
    std::vector<Tensor> results;
    executable.prepare(runnable.inputs);
    executable.run(runnable.inputs, results);
    metrics.recording.forget();
    executable.run(runnable.inputs, results);
  }
  metrics.finish(executable, program, engine.cluster, nullptr);
  return report_metrics(metrics, options.metrics, {options.what.file, runnable.plan}, nullptr);
}

Figures measure(Session& session, const BenchOptions& options) {
  TensorFiles files;
  Runnable runnable = make_runnable(session, options.what, files);
  const ir::Program& program = runnable.compiled.program;
  OutsideKernels kernels(program, options.engine.kernels);
  Figures figures;
  EngineOptions engine = options.engine;
  engine.strict_fp = options.what.source.strict_fp;
  engine.verify = options.what.passes.verify;
  engine.metrics = options.metrics.wanted();
  read_machine(session, engine);
  read_cluster(session, engine);
  auto compiled = [&](double& seconds, const std::shared_ptr<backend::KernelCache>& cache) {
    Stopwatch watch;
    backend::Executable executable = compile_native(program, engine, kernels, cache);
    seconds = watch.seconds();
    return executable;
  };
  backend::Executable executable = compiled(figures.compiling.cold, nullptr);
  if (auto cache = open_cache(options.engine.cache)) {
    compiled(figures.compiling.warm, cache);  // fills it
    figures.compiling.has_cache = compiled(figures.compiling.warm, cache).cached_count() == executable.kernel_count();
    show_warnings(session, cache.get());
  }
  figures.kernels = executable.kernel_count();
  figures.work = work_of(program);
  figures.run = time_runs(executable, runnable.inputs, options);
  if (engine.metrics) figures.metrics = report_tasks(program, runnable, options, engine, kernels);
  files.require_intact();
  return figures;
}

std::string for_people(const Figures& figures) {
  const Median& run = figures.run;
  std::string text = fmt::format("run      {}, the median of {} runs; 95 % confidence: {} to {}\n",
                                 duration_text(run.middle), run.count, duration_text(run.low), duration_text(run.high));
  text += fmt::format("         {:.3g} GFLOP/s, {:.3g} GB/s\n", figures.work.flops / run.middle / 1e9,
                      figures.work.bytes / run.middle / 1e9);
  text += fmt::format("compile  {} cold", duration_text(figures.compiling.cold));
  if (figures.compiling.has_cache) text += fmt::format(", {} from the cache", duration_text(figures.compiling.warm));
  return text + fmt::format("; {}\n", plural(figures.kernels, "kernel"));
}

std::string as_json(const Figures& figures, const BenchOptions& options) {
  AllocationMustSucceed memory_guard;
  const Median& run = figures.run;
  nlohmann::ordered_json out = {
      {"format", "tap-bench"},
      {"version", 1},
      {"file", options.what.file},
      {"threads", options.engine.threads},
      {"run",
       {{"median", run.middle}, {"low", run.low}, {"high", run.high}, {"least", run.least}, {"count", run.count}}},
      {"work", {{"flops", figures.work.flops}, {"bytes", figures.work.bytes}}},
      {"gflops", figures.work.flops / run.middle / 1e9},
      {"gbytes", figures.work.bytes / run.middle / 1e9},
      {"compile", {{"cold", figures.compiling.cold}, {"warm", nullptr}, {"kernels", figures.kernels}}}};
  if (figures.compiling.has_cache) out["compile"]["warm"] = figures.compiling.warm;
  return out.dump(1) + "\n";
}

}  // namespace

Action declare_bench(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  options->what.make_up = true;
  add_runnable_options(app, options->what);
  add_native_options(app, options->engine);
  app.add_option("--seconds", options->seconds, "Total time of all runs in seconds (default 1)")
      ->check(CLI::Range(0.0, 86400.0))
      ->check([](const std::string& text) {  // a NaN is not outside a range
        return text.find_first_of("nN") == text.npos ? "" : "Value " + text + " not in range 0 to 86400";
      });
  app.add_option("--runs", options->least, "Minimum number of timed runs (default 5)")->check(CLI::Range(1, 100000));
  add_metrics_options(app, options->metrics);
  app.add_flag("--json", options->json, "Print JSON (docs/schema/bench.schema.json)");
  return [options](Session& session) {
    options->engine.cache.without = options->what.source.no_cache;
    options->what.machine_file = options->engine.machine_file;
    settle_threads(session, options->engine);
    Figures figures = measure(session, *options);
    session.print(options->json ? as_json(figures, *options) : for_people(figures));
    session.report(figures.metrics.tables);
    write_files(figures.metrics.files);
    for (const OutputFile& file : figures.metrics.files) session.wrote(file.path);
    return exit_code::done;
  };
}

}  // namespace tap::driver
