#include "compiler/driver/metrics/run_metrics.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "compiler/driver/metrics/metrics_json.h"
#include "compiler/driver/metrics/metrics_table.h"
#include "compiler/driver/metrics/process_clocks.h"
#include "compiler/driver/metrics/trace_events.h"
#include "compiler/driver/mpi_host.h"
#include "compiler/driver/process_messages.h"
#include "ir/graphs/program_hash.h"
#include "support/memory_failure.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

using Json = nlohmann::ordered_json;

// By process, in the first one; else empty.
std::vector<std::string> gathered(std::string own, const MpiHost* host) {
  std::vector<std::string> all{std::move(own)};
  if (!host) return all;
  const ProcessMessages messages(*host);
  if (!host->is_first()) {
    messages.send_text(0, all.front());
    return {};
  }
  for (std::int64_t process = 1; process < host->size(); ++process) all.push_back(messages.receive_text(process));
  return all;
}

std::string trace_text(const RunName& name, const std::string& plan, std::int64_t processes,
                       const std::vector<std::string>& events) {
  const Json other = {{"format", "tap-trace"},   {"version", 1}, {"file", name.file},
                      {"program", name.program}, {"plan", plan}, {"processes", processes}};
  std::string text = fmt::format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{},\"traceEvents\":[\n", other.dump());
  for (std::size_t p = 0; p < events.size(); ++p) text += (p > 0 ? ",\n" : "") + events[p];
  return text + "\n]}\n";
}

std::vector<std::string> gathered_events(const RunMetrics& metrics, const MpiHost* host) {
  const auto& batches = metrics.recording.batches();
  TraceOptions options;
  options.origin = batches.empty() ? executor::nanoseconds() : batches.front().time.began;
  if (host) {
    options.process = host->rank();
    options.processes = host->size();
    options.origin = common_origin(*host, options.origin);
  }
  return gathered(trace_events(metrics.recording, metrics.predicted, options), host);
}

}  // namespace

void add_metrics_options(CLI::App& app, MetricsOptions& options) {
  app.add_option("--trace", options.trace,
                 "Write when each task and message began and ended, in Chrome's trace format, which Perfetto opens");
  app.add_option("--metrics", options.metrics,
                 "Write the measured and the predicted time of each shard and transfer, as JSON "
                 "(docs/schema/metrics.schema.json)");
  app.add_option("--slowest", options.slowest, "Show the N slowest operations, and the N that were predicted worst")
      ->check(CLI::Range(1, 1 << 20));
}

void RunMetrics::finish(const backend::Executable& executable, const ir::Program& ran, const cost::Cluster& cluster,
                        const executor::Distribution* among) {
  Phase phase("predicting the cost");
  predicted = predict({executable, cluster, static_cast<std::int64_t>(threads), among});
  program = ir::hash_of(ran);
  kernels = executable.kernel_counts();
}

MetricsReport report_metrics(const RunMetrics& metrics, const MetricsOptions& options, const RunSource& source,
                             const MpiHost* host) {
  Phase phase("writing metrics");
  AllocationMustSucceed memory_guard;
  const RunName name{source.file, metrics.program};
  MetricsReport report;
  if (!options.trace.empty()) {
    const std::vector<std::string> events = gathered_events(metrics, host);
    if (!events.empty())
      report.files.push_back(
          {options.trace, {trace_text(name, source.plan, static_cast<std::int64_t>(events.size()), events)}});
  }
  if (options.metrics.empty() && options.slowest == 0) return report;
  const std::vector<std::string> texts = gathered(metrics_of_process(metrics, host ? host->rank() : 0).dump(), host);
  if (texts.empty()) return report;
  std::vector<Json> processes;
  for (const std::string& text : texts) processes.push_back(Json::parse(text));
  const Json all = metrics_of_all(name, processes);
  if (!options.metrics.empty()) report.files.push_back({options.metrics, {all.dump(1) + "\n"}});
  if (options.slowest > 0) report.tables = metrics_tables(all, options.slowest);
  return report;
}

}  // namespace tap::driver
