// Evaluates a program: with the interpreter (slow and simple) or native code, and the outside kernels that it calls.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/schedule/process_schedule.h"
#include "compiler/driver/device_processes.h"
#include "compiler/driver/keep/keep_options.h"
#include "compiler/driver/metrics/run_metrics.h"
#include "compiler/driver/session.h"
#include "compiler/driver/show/run_summary.h"
#include "cost/machine/device.h"
#include "ir/graph_ids.h"
#include "ir/machine.h"
#include "ir/operator.h"
#include "support/tensor.h"

namespace CLI {
class App;
}

namespace tap::backend {
class Executable;
class KernelCache;
}  // namespace tap::backend

namespace tap::driver {

class MpiHost;  // mpi_host.h

struct KernelCacheOptions {
  bool without = false;
  std::string folder;  // empty: the default (kernel_cache.h)
  std::uint64_t mib = 256;
};
void add_cache_options(CLI::App& app, KernelCacheOptions& options);
void add_self_check_option(CLI::App& app, bool& self_check);
std::shared_ptr<backend::KernelCache> open_cache(const KernelCacheOptions& options);  // null: no cache
void show_warnings(const Session& session, backend::KernelCache* cache);

struct EngineOptions {
  std::string engine = "native";
  std::size_t threads = 1;
  bool pin = true;         // threads to processors, where they take all (runtime/pinning.h)
  bool strict_fp = false;  // no reassociation of floats
  bool verify = true;      // tasks that do not compute what the program says are an error
  bool self_check = true;  // kernels are tested before they are used
  KernelCacheOptions cache;
  std::string cpus;                  // processors by name; empty: those of the machine file, or all
  bool has_chosen = false;           // these are the user's choice, so threads may be pinned to them
  std::string machine_file;          // empty: this machine
  ir::Machine machine;               // as read by read_machine
  std::vector<std::string> kernels;  // shared libraries with outside kernels
  const MpiHost* host = nullptr;     // the processes that share the run; null: this one alone
  DeviceProcesses processes;         // of which each has some devices; must outlive what is compiled
  bool metrics = false;              // tasks are timed
  bool progress = false;             // of a long run the time left is shown
  KeepOptions keep = {};             // results that outlive the run
  cost::Cluster cluster = {};        // as read by read_cluster, for metrics, progress and jobs
  std::int64_t memory = 0;           // that a process may need, in bytes; 0: any
  std::shared_ptr<const std::vector<bool>> gathered =
      {};  // the results that the first process of a job gathers; may be null
};
void add_engine_options(CLI::App& app, EngineOptions& options);
void add_native_options(CLI::App& app, EngineOptions& options);  // without a choice of the engine
// Before a run: the processors that it may use, and so its number of threads.
void settle_threads(Session& session, EngineOptions& options, bool in_job = false);
void read_machine(Session& session, EngineOptions& options);
void read_cluster(Session& session, EngineOptions& options);

class OutsideKernels;
// Who learns about a run while it goes on; null: nobody.
struct Watch {
  const executor::Recorder* recorder = nullptr;
  executor::Progress* progress = nullptr;
  const executor::Keeper* keeper = nullptr;
};
// Only in builds with a backend. The kernels must outlive the result; without a cache every kernel is compiled.
backend::Executable compile_native(const ir::Program& program, const EngineOptions& options, OutsideKernels& kernels,
                                   std::shared_ptr<backend::KernelCache> cache, const Watch& watch = {});

struct Evaluation {
  std::vector<Tensor> results;  // of a shared run: this process's parts
  RunSummary summary;
  // Of a shared run: the types of the results, and their parts by process.
  std::vector<ir::TensorType> types = {};
  std::vector<std::vector<backend::HeldPart>> parts = {};
  std::string plan = {};                           // complete; of a source file
  std::shared_ptr<const RunMetrics> metrics = {};  // if they are wanted and native code ran
};
Evaluation evaluate(const Session& session, const ir::Program& program, const std::vector<Tensor>& inputs,
                    const EngineOptions& options);
// The run of `options.host`, shared with the other processes. `read` gives boxes of inputs; all processes call it.
using ReadParts = std::function<std::vector<Tensor>(const std::vector<backend::HeldPart>& parts)>;
Evaluation evaluate_shared(const Session& session, const ir::Program& program, const ReadParts& read,
                           const EngineOptions& options);

}  // namespace tap::driver
