// --trace, --metrics, --slowest: what was predicted for a run and what was measured, task by task and transfer by transfer.
//
//   RunMetrics metrics(threads);
//   … an Executable with metrics.recorder() …
//   metrics.finish(executable, program, cluster, among);
//   MetricsReport report = report_metrics(metrics, options, host);      in all processes
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/driver/metrics/measured_calls.h"
#include "runtime/write_file.h"

namespace CLI {
class App;
}

namespace tap::driver {

class MpiHost;

struct MetricsOptions {
  std::string trace, metrics;  // files; empty: none
  std::size_t slowest = 0;     // how many tasks the tables list
  bool wanted() const { return !trace.empty() || !metrics.empty() || slowest > 0; }
};
void add_metrics_options(CLI::App& app, MetricsOptions& options);

class RunMetrics {
 public:
  explicit RunMetrics(std::size_t threads) : recording(threads), threads(threads) {}
  const executor::Recorder* recorder() const { return &recording.recorder(); }
  // After the run. Pre: the executable ran `program` with this recorder.
  void finish(const backend::Executable& executable, const ir::Program& program, const cost::Cluster& cluster,
              const executor::Distribution* among);

  Recording recording;
  std::size_t threads;
  PredictedRun predicted = {};
  std::string program = {};  // its hash (ir/graphs/program_hash.h)
  backend::KernelCounts kernels = {};
};

struct MetricsReport {  // empty in processes other than the first
  std::vector<OutputFile> files;
  std::string tables;
};
struct RunSource {
  std::string file;  // of the program, for people
  std::string plan;  // complete, as a text: a trace contains it
};
MetricsReport report_metrics(const RunMetrics& metrics, const MetricsOptions& options, const RunSource& source,
                             const MpiHost* host);

}  // namespace tap::driver
