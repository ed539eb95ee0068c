// A program compiled for this machine: its schedule, and one native kernel per distinct operator.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "backend/llvm/kernel_cache.h"
#include "backend/loops/loops.h"
#include "ir/block_graph.h"
#include "ir/schedule.h"
#include "runtime/kernel_abi.h"
#include "support/tensor.h"

namespace tap::backend {

struct CompiledProgram;  // compiled_program.h

struct ExecuteOptions {
  std::size_t threads = 1;
  std::int64_t parts = 0;  // into how many a kernel's box is split, as far as it can be; 0: as many as are worth it
  bool exact_arithmetic = false;            // floats are combined as they are written, and every operation rounds
  ir::Machine machine = {};                 // as it is assumed to be; changes no result
  std::shared_ptr<KernelCache> cache = {};  // of compiled kernels; may be none
  bool self_check = true;                   // every kernel is tried before it is used (self_check.h)
  // Told of the schedule before anything of it runs; what it throws comes through.
  std::function<void(const ir::Program& program, const ir::Schedule& schedule)> scheduled = {};
  // Outside kernels by symbol; null for one that is not there.
  std::function<OutsideFunction(const std::string& symbol)> kernel = {};
};

class Executable {
 public:
  // Pre: made from a verified and legal program. Runs its main graph.
  Executable(ir::BlockProgram program, const ExecuteOptions& options);
  // The same of what was lowered and scheduled before: of the options those that say how it is run count.
  Executable(CompiledProgram lowered, ir::Schedule schedule, const ExecuteOptions& options);
  ~Executable();
  Executable(Executable&&) noexcept;

  // What kernels want of `const` inputs is made of these, once and not in every run: later runs are given the same.
  void prepare(const std::vector<Tensor>& inputs);
  // Inputs match the graph's, in order. Throws ir::EvaluationError. Calls of one Executable must not overlap.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs);
  // The results go where `outputs` are, if these are of the graph's types, else into new memory. After a failure they hold
  // anything.
  void run(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs);
  std::size_t kernel_count() const;  // distinct ones
  std::int64_t shard_count() const;
  std::size_t cached_count() const;  // of those, how many the cache had
  std::size_t inner_bytes() const;   // the most that a thread has for the values inside a group

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tap::backend
