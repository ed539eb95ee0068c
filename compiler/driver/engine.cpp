#include "compiler/driver/engine.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "backend/llvm/executable.h"
#include "backend/llvm/kernel_cache.h"
#include "backend/llvm/library.h"
#include "compiler/driver/bindings/outside_kernels.h"
#include "compiler/driver/device_processes.h"
#include "compiler/driver/keep/kept_run.h"
#include "compiler/driver/keep/run_key.h"
#include "compiler/driver/machine_file.h"
#include "compiler/driver/machines/installed.h"
#include "compiler/driver/median.h"
#include "compiler/driver/memory_limit.h"
#include "compiler/driver/metrics/progress_line.h"
#include "compiler/driver/mpi_host.h"
#include "compiler/driver/supervisor.h"
#include "compiler/pipeline/limits.h"
#include "compiler/pipeline/pipeline.h"
#include "cost/machine/host.h"
#include "cost/model/longest_step.h"
#include "ir/graphs/program_hash.h"
#include "ir/interpret/interpret.h"
#include "runtime/pinning.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

constexpr int most_threads = 4096;

std::vector<std::string> engines() { return {"native", "interp"}; }

}  // namespace

void add_cache_options(CLI::App& app, KernelCacheOptions& options) {
  // Keeps the pointer: a lookup by name ends the process when memory runs out.
  CLI::Option* without = nullptr;
  for (CLI::Option* option : app.get_options())
    if (!option->get_lnames().empty() && option->get_lnames().front() == "no-cache") without = option;
  app.add_option("--cache-dir", options.folder,
                 "The folder of the kernel cache (default $XDG_CACHE_HOME/tapc/kernels, or ~/.cache/tapc/kernels)")
      ->excludes(without);
  app.add_option(
         "--cache-size", options.mib,
         "Size limit of the kernel cache in MiB (default 256); the least recently used kernels are removed first")
      ->check(CLI::Range(1, 1 << 20))
      ->excludes(without);
}

void add_self_check_option(CLI::App& app, bool& self_check) {
  app.add_flag("--self-check,!--no-self-check", self_check,
               "Self-check: compare every new kernel with a scalar evaluation on small boxes before use (default)");
}

std::shared_ptr<backend::KernelCache> open_cache(const KernelCacheOptions& options) {
  if (options.without) return nullptr;
  Phase phase("opening the kernel cache");
  bool chosen = !options.folder.empty();
  return std::make_shared<backend::KernelCache>(backend::CacheOptions{
      .folder = chosen ? options.folder : backend::default_cache_folder(),
      .chosen = chosen,
      .most_bytes = options.mib << 20,
  });
}

void show_warnings(const Session& session, backend::KernelCache* cache) {
  if (!cache) return;
  for (const Diagnostic& warning : cache->take_warnings()) session.report(warning);
}

void add_native_options(CLI::App& app, EngineOptions& options) {
  options.threads = 0;
  app.add_option("--threads", options.threads,
                 "Number of threads for native code (default: one for each core that this process may use)")
      ->check(CLI::Range(1, most_threads));
  add_cpus_option(app, options.cpus);
  app.add_flag("!--no-pin", options.pin,
               "Do not pin threads to processors; by default each has its own where the run takes all cores of the "
               "machine, or of --cpus");
  app.add_option("--kernels", options.kernels, "A shared library with the program's outside kernels; may be repeated")
      ->allow_extra_args(false);
  add_machine_option(app, options.machine_file);
  add_cache_options(app, options.cache);
  add_self_check_option(app, options.self_check);
}

void settle_threads(Session& session, EngineOptions& options, bool in_job) {
  const std::string file = options.engine == "native" ? options.machine_file : builtin_machine;
  options.has_chosen = keep_to_chosen(session, options.cpus, file, in_job ? Purpose::run_in_job : Purpose::run);
  if (options.threads == 0)
    options.threads = static_cast<std::size_t>(std::min<std::int64_t>(cost::usable_threads(), most_threads));
}

void read_machine([[maybe_unused]] Session& session, [[maybe_unused]] EngineOptions& options) {
  if (options.engine == "native")
    options.machine = machine_for(session, *backend::target_named("native"), options.machine_file);
}

void read_cluster(Session& session, EngineOptions& options) {
  if (options.engine == "native" && (options.metrics || options.progress || options.host))
    options.cluster = cluster_for(session, *backend::target_named("native"), options.machine_file);
}

void add_engine_options(CLI::App& app, EngineOptions& options) {
  options.engine = engines().front();
  app.add_option("--engine", options.engine,
                 "Native code (native, default), or the interpreter (interp), a slow reference")
      ->check(CLI::IsMember(engines()));
  add_native_options(app, options);
}

namespace {

// Code for another one may round otherwise.
std::string processor_of_code() {
  const backend::Target target = *backend::target_named("native");
  return target.triple + " " + target.cpu;
}

RunPlace place_in(const std::vector<std::int64_t>& node, const MpiHost* host) {
  if (!host) return {};
  return {std::find(node.begin(), node.end(), host->rank()) - node.begin(), static_cast<std::int64_t>(node.size())};
}

// Outside kernels may have threads of their own, which would all run on the processor of the one that starts them.
std::vector<std::int32_t> processors_of_threads(const EngineOptions& options, const std::vector<std::int64_t>& node) {
  if (!options.pin || !options.kernels.empty()) return {};
  return pinned_to(static_cast<std::int64_t>(options.threads), place_in(node, options.host),
                   own_processors(options.has_chosen));
}

}  // namespace

backend::Executable compile_native(const ir::Program& program, const EngineOptions& options, OutsideKernels& kernels,
                                   std::shared_ptr<backend::KernelCache> cache, const Watch& watch) {
  Phase phase("compiling native code");
  pipeline::Options how;
  how.begin = pipeline::Stage::sharded;
  how.stop = pipeline::Stage::schedule;
  how.caution.strict_fp = options.strict_fp;
  how.proof = options.verify ? pipeline::Proof::required : pipeline::Proof::none;
  how.machine = options.machine;
  backend::BufferFacts facts;
  if (options.host || options.metrics || options.keep.wanted()) how.scheduling.facts = &facts;
  how.scheduling.shared = options.host && options.host->size() > 1;
  pipeline::Compilation made = pipeline::compile(program, how);
  std::optional<executor::Distribution> among;
  if (options.host) among = distribution_of(*options.host, program, options.processes);
  std::vector<std::int64_t> node;
  if (options.host) node = options.host->of_node();
  const MemoryLimit limit{options.memory, static_cast<std::int64_t>(options.threads), options.host, among,
                          options.gathered.get()};
  return {std::move(*made.lowered),
          std::move(*made.schedule),
          {.threads = options.threads,
           .pinned_to = processors_of_threads(options, node),
           .cache = std::move(cache),
           .self_check = options.self_check,
           .divided = [&](const auto&... run) { require_memory(run..., limit); },
           .among = among,
           .facts = std::move(facts),
           .recorder = watch.recorder,
           .progress = watch.progress,
           .keeper = watch.keeper,
           .agreed = options.host ? ir::short_hash(ir::hash_of(program)) + (options.keep.wanted() ? 1 : 0) +
                                        (options.keep.resume ? 2 : 0) + (options.memory > 0 ? 4 : 0)
                                  : 0,
           .processor = options.host ? processor_of_code() : "",
           .node = node,
           .kernel = [&](const std::string& symbol) { return kernels.function(symbol); }}};
}

namespace {

// The inputs of a compiled program: all of them, or this process's parts.
using InputsOf = std::function<std::vector<Tensor>(const backend::Executable&)>;

Evaluation run_native(const Session& session, const ir::Program& program, const InputsOf& inputs_of,
                      const EngineOptions& options) {
  OutsideKernels kernels(program, options.kernels);
  Evaluation result;
  result.summary.work = work_of(program);
  auto cache = open_cache(options.cache);
  std::shared_ptr<RunMetrics> metrics;
  if (options.metrics) metrics = std::make_shared<RunMetrics>(options.threads);
  executor::Progress progress;
  Watch watch;
  if (metrics) watch.recorder = metrics->recorder();
  if (options.progress && !options.host) watch.progress = &progress;
  std::optional<KeptRun> kept;
  if (options.keep.wanted()) watch.keeper = kept.emplace(session, options.keep).keeper();
  backend::Executable executable = compile_native(program, options, kernels, cache, watch);
  show_warnings(session, cache.get());
  result.summary.threads = options.threads;
  result.summary.shards = executable.shard_count();
  result.parts = executable.result_parts();
  const std::vector<Tensor> inputs = inputs_of(executable);
  if (kept)
    kept->start(executable, key_of(executable, {program, options.kernels, options.strict_fp}, inputs, options.host),
                options.host);
  {
    Phase phase("running native code");
    std::optional<ProgressLine> line;
    if (options.host)
      expect_step_of(cost::longest_step(executable.schedule(), executable.compiled().kernels.kernels, options.cluster));
    if (watch.progress)
      line.emplace(predict_batches({executable, options.cluster, static_cast<std::int64_t>(options.threads)}),
                   progress);
    Stopwatch stopwatch;
    executable.run(inputs, result.results);
    result.summary.seconds = stopwatch.seconds();
  }
  if (kept) kept->finish();
  if (!metrics) return result;
  std::optional<executor::Distribution> among;
  if (options.host) among = distribution_of(*options.host, program, options.processes);
  metrics->finish(executable, program, options.cluster, among ? &*among : nullptr);
  result.metrics = std::move(metrics);
  return result;
}

Evaluation interpret(const ir::Program& program, const std::vector<Tensor>& inputs, const EngineOptions& options) {
  OutsideKernels kernels(program, options.kernels);
  Evaluation result;
  result.summary.work = work_of(program);
  auto call = [&](const ir::Operator& op, const std::vector<Tensor>& operands, std::vector<Tensor>& results) {
    kernels.call(op, operands, results);
    return true;
  };
  Phase phase("interpreting");
  Stopwatch watch;
  result.results = ir::interpret(program, program.main, inputs, {.kernel = call}).outputs;
  result.summary.seconds = watch.seconds();
  return result;
}

Evaluation run_native_shared(const Session& session, const ir::Program& program, const ReadParts& read,
                             const EngineOptions& options) {
  auto parts = [&](const backend::Executable& executable) { return read(executable.input_parts()); };
  try {
    return run_native(session, program, parts, options);
  } catch (const backend::DifferentSchedules& other) {
    if (other.by_processor)
      throw Failure{
          exit_code::run_time,
          Diagnostic(Code::command_line, Span{},
                     fmt::format("process {} of the job runs on another type of processor than process {} ({})",
                                 other.process, options.host->rank(), backend::target_named("native")->cpu))
              .help("start the job on nodes with the same processor, or compile the program for a common "
                    "target: `tapc compile --target x86-64-v3 --emit=exe --mpi 4`")};
    throw Failure{exit_code::run_time,
                  Diagnostic(Code::command_line, Span{},
                             fmt::format("process {} of the job has another program, plan, machine file, map of "
                                         "devices or --keep than process {}",
                                         other.process, options.host->rank()))
                      .help("give all processes the same files and options; --budget gives different plans, "
                            "--evaluations does not")};
  }
}

// Every process interprets all of it; the first one has the results.
Evaluation interpret_everywhere(const ir::Program& program, const ReadParts& read, const EngineOptions& options) {
  const ir::Graph& graph = program[program.main];
  std::vector<backend::HeldPart> whole;
  for (std::size_t k = 0; k < graph.inputs.size(); ++k)
    whole.push_back({k, ir::Box::of_shape(graph[graph.inputs[k]].type.shape)});
  Evaluation result = interpret(program, read(whole), options);
  result.parts.resize(static_cast<std::size_t>(options.host->size()));
  for (std::size_t k = 0; k < result.results.size(); ++k)
    result.parts[0].push_back({k, ir::Box::of_shape(result.results[k].shape())});
  if (!options.host->is_first()) result.results.clear();
  return result;
}

}  // namespace

Evaluation evaluate(const Session& session, const ir::Program& program, const std::vector<Tensor>& inputs,
                    const EngineOptions& options) {
  pipeline::require_addressable(program);
  if (options.engine != "native") return interpret(program, inputs, options);
  return run_native(
      session, program, [&](const backend::Executable&) { return inputs; }, options);
}

Evaluation evaluate_shared(const Session& session, const ir::Program& program, const ReadParts& read,
                           const EngineOptions& options) {
  pipeline::require_addressable(program);
  Evaluation result = options.engine == "native" ? run_native_shared(session, program, read, options)
                                                 : interpret_everywhere(program, read, options);
  for (ir::ValueId output : program[program.main].outputs) result.types.push_back(program[program.main][output].type);
  return result;
}

}  // namespace tap::driver
