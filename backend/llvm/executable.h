// A program compiled for this machine: its schedule, and one native kernel per distinct operator.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/llvm/jit.h"
#include "backend/llvm/kernel_cache.h"
#include "backend/loops/loops.h"
#include "backend/schedule/process_schedule.h"
#include "ir/block_graph.h"
#include "ir/schedule.h"
#include "runtime/distribution.h"
#include "runtime/keeper.h"
#include "runtime/kernel_abi.h"
#include "runtime/recorder.h"
#include "support/tensor.h"

namespace tap::backend {

struct CompiledProgram;  // compiled_program.h

struct ExecuteOptions {
  std::size_t threads = 1;
  std::vector<std::int32_t> pinned_to = {};  // the processor of each thread; empty: any (runtime/pinning.h)
  std::int64_t parts = 0;                    // parts of a kernel's box, if it can be split that far; 0: as many as pay
  bool exact_arithmetic = false;             // no contraction or reassociation: every float operation rounds
  ir::Machine machine = {};                  // assumed parameters; do not affect results
  std::shared_ptr<KernelCache> cache = {};   // of compiled kernels; may be null
  bool self_check = true;                    // every kernel is tested before it is used (self_check.h)
  // Called with the schedule before anything runs; may throw.
  std::function<void(const ir::Program& program, const ir::Schedule& schedule)> scheduled = {};
  // Called with what this process is going to run, before kernels are compiled; may throw.
  std::function<void(const CompiledProgram& program, const ir::Schedule& own, const std::vector<BufferDevice>& devices)>
      divided = {};
  // For a run that is shared with other processes: how, and what the given schedule does not say of its buffers.
  std::optional<executor::Distribution> among = {};
  BufferFacts facts = {};
  const executor::Recorder* recorder = nullptr;  // receives the times of tasks
  executor::Progress* progress = nullptr;        // receives how far a run is; of a shared run: that of `among`
  const executor::Keeper* keeper = nullptr;      // keeps results
  std::int64_t agreed = 0;                       // of a shared run: the same in all processes, as the schedule
  std::string processor = {};                    // likewise
  // The processes of `among` that share this one's node, with it, in order: a kernel is compiled by one of them. May be
  // empty: this process compiles all of its kernels.
  std::vector<std::int64_t> node = {};
  // Outside kernels by symbol; null if missing.
  std::function<OutsideFunction(const std::string& symbol)> kernel = {};
};

// Thrown where a run is shared with a process whose schedule, or whose processes of devices, differ; or its processor.
struct DifferentSchedules {
  std::int64_t process;
  bool by_processor = false;
};

class Executable {
 public:
  // Pre: made from a verified and legal program. Runs its main graph.
  Executable(ir::BlockProgram program, const ExecuteOptions& options);
  // The same for a program that is already lowered and scheduled; uses only the options about execution. If runs are
  // shared, all processes do this at the same time; each compiles the kernels of its own devices, and inputs and results
  // of its runs are parts. Throws DifferentSchedules.
  Executable(CompiledProgram lowered, ir::Schedule schedule, const ExecuteOptions& options);
  ~Executable();
  Executable(Executable&&) noexcept;

  // Packs the `const` inputs once, for all later runs, which must be given the same inputs.
  void prepare(const std::vector<Tensor>& inputs);
  // Inputs match the graph's, in order. Throws ir::EvaluationError. Calls of one Executable must not overlap.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs);
  // Writes the results to `outputs` if these have the graph's types, else to new memory. Undefined after a failure.
  void run(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs);
  // Runs once, then again with each call, from and to the same memory; the executable and the tensors must stay
  // (runtime/executor_bound.h).
  std::function<void()> bound(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs);
  const std::vector<HeldPart>& input_parts() const;                // of shared runs, of this process
  const std::vector<std::vector<HeldPart>>& result_parts() const;  // by process
  const ir::Schedule& schedule() const;                            // what this process runs
  const std::vector<BufferDevice>& devices() const;                // of its buffers; empty if no facts were given
  const CompiledProgram& compiled() const;
  const std::vector<std::int64_t>& tables() const;  // what the executor runs
  std::size_t kernel_count() const;                 // distinct ones
  std::int64_t shard_count() const;
  std::size_t cached_count() const;  // how many of them were cached
  const KernelCounts& kernel_counts() const;
  std::size_t inner_bytes() const;  // the maximum that a thread needs for inner values of a group

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tap::backend
