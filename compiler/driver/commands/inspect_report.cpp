#include "compiler/driver/commands/inspect_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>

#include "backend/llvm/library.h"
#include "backend/schedule/schedule.h"
#include "compiler/driver/commands/passes.h"
#include "compiler/driver/commands/report_kernels.h"
#include "compiler/driver/machine_file.h"
#include "compiler/driver/metrics/read_trace.h"
#include "compiler/driver/metrics/time_line_json.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/read_source.h"
#include "compiler/driver/show/report.h"
#include "compiler/pipeline/failures.h"
#include "cost/decide/mesh_splits.h"
#include "ir/graphs/program_hash.h"
#include "passes/pass_table.h"
#include "passes/shardings/plan_shardings.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

constexpr std::size_t most_kernels = 100;
constexpr std::size_t most_trace_bytes = std::size_t{64} << 20;

Span span_of(FileId file, ByteRange at) {
  return {file, static_cast<std::uint32_t>(at.begin), static_cast<std::uint32_t>(at.end)};
}

// The graph that shardings propagate over: after the passes that always run.
const ir::Program& graph_to_shard(const pipeline::Compilation& made) {
  std::size_t last = 0;
  for (std::size_t step = 0; step < made.certificate.steps.size(); ++step)
    for (const passes::Pass& pass : passes::lowering())
      if (pass.name == made.certificate.steps[step].pass) last = step + 1;
  return made.stages[std::min(last, made.stages.size() - 1)];
}

struct TraceFile {
  FileId file;
  Trace trace;
};

TraceFile read_trace(Session& session, const std::string& path) {
  const FileId file = read_source(session, path);
  const std::string_view text = session.sources.file(file).text();
  if (text.size() > most_trace_bytes)
    throw Failure{exit_code::wrong_program, Diagnostic(Code::data_limit, Span{},
                                                       fmt::format("`{}` is larger than {} MiB, the limit for traces",
                                                                   path, most_trace_bytes >> 20))
                                                .help("trace a shorter run")};
  auto parsed = parse_trace(text);
  if (const auto* mistake = std::get_if<JsonMistake>(&parsed)) {
    Diagnostic diagnostic(Code::data_malformed, span_of(file, mistake->at), mistake->message);
    if (!mistake->other.empty()) diagnostic.label(span_of(file, mistake->other_at), mistake->other);
    throw Failure{exit_code::wrong_program, std::move(diagnostic).help("`tapc run --trace` writes traces")};
  }
  return {file, std::move(std::get<Trace>(parsed))};
}

Failure of_another_program(const TraceFile& read, const std::string& why, const std::string& plan) {
  return {exit_code::wrong_program,
          Diagnostic(Code::plan_not_applicable, span_of(read.file, read.trace.program_at),
                     "this trace is of another program, plan or mesh: " + why)
              .help(plan.empty() ? "give the file and the sizes of the run, or trace again: `tapc run FILE --trace T`"
                                 : "trace a run with this plan, `tapc run FILE --plan P --trace T`, or leave `--plan` "
                                   "out: the trace contains its plan")};
}

// A trace names the program that ran: sharded, with all decisions of its plan.
void require_trace_of(const TraceFile& read, const ir::Program& program, const std::string& plan) {
  const std::string hash = ir::hash_of(program);
  if (read.trace.program != hash)
    throw of_another_program(read, fmt::format("the sharded program of this report has the hash \"{}\"", hash), plan);
}

// Without --plan, a report is of the plan that the trace contains.
void take_plan_of(const TraceFile& read, ir::Plan& plan) {
  auto parsed = ir::parse_plan_text(read.trace.plan);
  auto* own = std::get_if<ir::PlanText>(&parsed);
  if (!own) throw of_another_program(read, "the plan in the trace cannot be read", "");
  plan = std::move(own->plan);
}

// Loop nests and assembly, for this machine's processor.
nlohmann::ordered_json code_of(const pipeline::Compilation& made, const backend::Target& target) {
  Phase phase("generating code");
  const std::vector<backend::Kernel>& kernels = made.lowered->kernels.kernels;
  if (kernels.size() > most_kernels)
    throw Failure{exit_code::wrong_command_line,
                  Diagnostic(Code::command_line, Span{},
                             fmt::format("`--code` shows at most {} kernels, and this program has {}", most_kernels,
                                         kernels.size()))
                      .help("leave out `--code`; `tapc compile FILE -o OUT.s` writes the assembly of all kernels")};
  const backend::LibraryText code =
      backend::emit({"report", &kernels, backend::encode(*made.schedule, kernels, backend::features_of(target))},
                    target, {.assembly = true, .located = true});
  return report_kernels(*made.schedule, kernels, code);
}

// What the cost model considers where the plan leaves something open, and what values would cost with other shardings. Of programs
// of this size; the number of evaluations is limited, too.
class OtherDecisions {
 public:
  static constexpr std::size_t most_operations = 200, most_evaluations = 240;

  OtherDecisions(Session& session, const ProgramFile& input, const PassOptions& passes, const ReportOptions& options,
                 const ir::Program& graph)
      : cluster_(cluster_for(session, *backend::target_named("native"), options.machine)),
        threads_(cluster_.types.front().threads),
        pricer_(cluster_, threads_, {passes.strict_fp, passes.require_proof}, {most_evaluations}) {
    if (operations_in(graph) > most_operations) return;
    consider(session, input, passes);
    const auto& lines = passes.plan.decisions;
    if (graph.meshes.empty() || std::any_of(lines.begin(), lines.end(), cost::is_over_mesh)) return;
    passes::PassContext context{passes.plan, passes.strict_fp, nullptr, passes.require_proof, passes.no_distribute};
    context.hash_stages = false;
    const std::span<const passes::Pass> planned = passes::planned_passes();
    alternatives_.emplace(graph, std::vector(planned.begin(), planned.end()), std::move(context), pricer_);
  }
  ReportedCosts costs() { return {cluster_, considered_, alternatives_ ? &*alternatives_ : nullptr, &pricer_}; }

 private:
  static std::size_t operations_in(const ir::Program& program) {
    std::size_t count = 0;
    for (const ir::Graph& graph : program.graphs) count += graph.operations.size();
    return count;
  }
  void consider(Session& session, const ProgramFile& input, PassOptions passes) {
    passes.verify = false;
    pipeline::Options config = pipeline_options(passes, pipeline::Stage::decided);
    config.decide = pipeline::Deciding{.cluster = cluster_, .threads = threads_};
    considered_ = compile_file(session, input, config).considered;
  }

  cost::Cluster cluster_;
  std::int64_t threads_;
  cost::Pricer pricer_;
  std::vector<cost::Consideration> considered_;
  std::optional<cost::ShardingAlternatives> alternatives_;
};

nlohmann::ordered_json data_of(Session& session, const std::string& file, PassOptions passes,
                               const ReportOptions& options, const SourceOptions& source, const ReportedPlans* plans) {
  std::optional<TraceFile> traced;
  if (!options.trace.empty()) traced = read_trace(session, options.trace);
  const bool with_its_plan = traced && options.plan.empty() && !traced->trace.plan.empty();
  if (with_its_plan) take_plan_of(*traced, passes.plan);
  const ProgramFile input = read_program_file(session, file, source);
  ValueLocations locations;
  passes::PassSeconds seconds;
  if (options.times) passes.seconds = &seconds;
  const backend::Target target = *backend::target_named("native");
  pipeline::Options config =
      pipeline_options(passes, options.code ? pipeline::Stage::schedule : pipeline::Stage::sharded);
  if (options.code) config.machine = machine_for(session, target, "");
  Dumps none(session, passes);
  const pipeline::Compilation made = [&] {
    try {
      return compile(session, input, std::move(config), passes, none,
                     [&](const Compiled& built) { locations = locations_of_values(built); });
    } catch (const pipeline::PlanRefused&) {
      if (!with_its_plan) throw;
      throw of_another_program(*traced, "the plan that ran does not apply to this program", options.plan);
    }
  }();
  nlohmann::ordered_json time_line;
  if (traced) {
    require_trace_of(*traced, made.program, options.plan);
    time_line = time_line_json(traced->trace, options.trace);
  }
  nlohmann::ordered_json kernels;
  if (options.code) kernels = code_of(made, target);
  Phase phase("writing the report");
  std::optional<passes::Propagated> propagated;
  const ir::Program& graph = graph_to_shard(made);
  if (passes::has_shardings(graph) && !passes::has_calls(graph)) {
    passes::PropagationOptions how;
    how.keep_net = true;
    propagated = passes::propagate(graph, how);
  }
  OtherDecisions others(session, input, passes, options, graph);
  const ReportedCosts costs = others.costs();
  return report_json(
      session, {input.file, with_its_plan ? options.trace : options.plan, made, propagated ? &*propagated : nullptr,
                locations, plans, options.times ? &seconds : nullptr, &costs, &kernels, &time_line});
}

}  // namespace

std::string inspect_report(Session& session, const std::string& file, const ReportOptions& options,
                           const SourceOptions& source, bool as_page) {
  PassOptions passes;
  passes.plan = read_plan(session, options.plan);
  take(passes, source);
  nlohmann::ordered_json data = data_of(session, file, passes, options, source, nullptr);
  if (as_page) return report_page(std::move(data));
  return data.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string plans_report(Session& session, const std::string& file, const ir::Plan& plan, const SourceOptions& source,
                         const ReportedPlans& plans) {
  PassOptions passes;
  passes.plan = plan;
  take(passes, source);
  return report_page(data_of(session, file, passes, {}, source, &plans));
}

}  // namespace tap::driver
