#include "backend/llvm/executable.h"

#include <llvm/ADT/SmallVector.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "backend/compiled_program.h"
#include "backend/llvm/shared_objects.h"
#include "backend/trial/self_check.h"
#include "ir/block_program.h"
#include "ir/graph.h"
#include "ir/interpret/interpret.h"
#include "runtime/executor.h"
#include "runtime/executor_bound.h"
#include "runtime/guarded_results.h"
#include "support/check.h"

namespace tap::backend {

using namespace ir;

namespace {

// What all processes have in common.
struct Common {
  std::uint64_t schedule = 0, processor = 0;
};
// The first process where it is another than in process 0; -1: none.
struct Differing {
  std::int64_t schedule = -1, processor = -1;
};

std::uint64_t hash_of(const std::vector<std::int64_t>& words) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::int64_t word : words) {
    hash = (hash ^ static_cast<std::uint64_t>(word)) * 0x100000001b3;
    hash ^= hash >> 32;
  }
  return hash;
}

Differing differing(const std::vector<Common>& all) {
  Differing found;
  for (std::size_t rank = all.size(); rank-- > 1;) {
    if (all[rank].schedule != all[0].schedule) found.schedule = static_cast<std::int64_t>(rank);
    if (all[rank].processor != all[0].processor) found.processor = static_cast<std::int64_t>(rank);
  }
  return found;
}

// Messages match only if all processes have the same schedule and the same devices for each process: they may have been
// given different programs, plans, machine files or maps. Code for another processor may round otherwise. The first one
// compares.
void require_agreement(const executor::Distribution& among, std::vector<std::int64_t> agreed,
                       const std::string& processor) {
  for (std::int64_t device = 0; device < among.devices; ++device) agreed.push_back(among.rank_of(device));
  const Common own{hash_of(agreed), hash_of({processor.begin(), processor.end()})};
  std::vector<Common> all(static_cast<std::size_t>(among.ranks), own);
  Differing different;
  const executor::Messages& messages = among.messages;
  bool lost = false;
  auto wait = [&] { lost |= messages.wait(messages.self) != 0; };
  for (std::int64_t rank = 1; rank < among.ranks && among.rank == 0; ++rank)
    lost |= messages.receive(messages.self, rank, &all[static_cast<std::size_t>(rank)], sizeof own) != 0;
  if (among.rank != 0) lost |= messages.send(messages.self, 0, &own, sizeof own) != 0;
  wait();
  if (among.rank == 0) different = differing(all);
  for (std::int64_t rank = 1; rank < among.ranks && among.rank == 0; ++rank)
    lost |= messages.send(messages.self, rank, &different, sizeof different) != 0;
  if (among.rank != 0) lost |= messages.receive(messages.self, 0, &different, sizeof different) != 0;
  wait();
  if (lost) throw EvaluationError{"a message of another process did not arrive", ""};
  // Other processors may have other schedules, too.
  const bool by_processor = different.processor >= 0;
  const std::int64_t other = by_processor ? different.processor : different.schedule;
  if (other >= 0) throw DifferentSchedules{among.rank == 0 ? other : 0, by_processor};
}

// The kernels that tasks call.
std::vector<bool> called_kernels(const Schedule& schedule) {
  std::vector<bool> called(schedule.kernels.size());
  for (const ir::Sequence& sequence : schedule.sequences)
    for (const ir::Batch& batch : sequence)
      for (const ScheduledTask& task : batch)
        if (const auto* call = std::get_if<KernelCall>(&task.what)) called[call->kernel] = true;
  return called;
}

}  // namespace

struct Executable::Impl {
  SelfCheckOptions checks;
  Jit jit;
  CompiledProgram compiled;
  Schedule schedule;  // of this process
  std::int64_t shards = 0;
  std::vector<HeldPart> input_parts;
  std::vector<std::vector<HeldPart>> result_parts;
  std::vector<BufferDevice> devices;
  std::vector<std::int64_t> tables;
  std::vector<OutsideFunction> outside;
  std::optional<executor::Distribution> among;
  executor::Executor executor;
  bool prepared = false;

  Impl(CompiledProgram lowered, std::optional<Schedule> scheduled, const ExecuteOptions& options)
      : checks(self_check_options(options.self_check)),
        jit({.cache = options.cache, .cache_immediately = !checks.on}),
        compiled(std::move(lowered)),
        among(options.among) {
    ScheduleOptions how;
    how.parts = options.parts;
    schedule = scheduled ? std::move(*scheduled) : backend::schedule(compiled.blocks, compiled.kernels, how);
    if (options.scheduled) options.scheduled(compiled.blocks.program, schedule);
    shards = backend::shard_count(schedule);
    devices = among ? keep_own_part(options) : options.facts.devices;
    if (options.divided) options.divided(compiled, schedule, devices);
    compile(options.node);
    tables = encode(schedule, compiled.kernels.kernels, {}, devices);
    for (const std::string& symbol : schedule.outside)
      outside.push_back(options.kernel ? options.kernel(symbol) : nullptr);
    executor::Code code{tables.data(), compiled.functions.data(), outside.data()};
    if (executor.start(code, static_cast<std::int64_t>(options.threads),
                       options.pinned_to.empty() ? nullptr : options.pinned_to.data()) != executor::Status::done)
      throw std::bad_alloc();
    executor.watch(options.progress);
    executor.record(options.recorder);
    executor.keep(options.keeper);
    if (among) executor.distribute(&*among);
  }
  ~Impl() { executor.stop(); }

  // Before anything is compiled: with other schedules, processes would wait for each other for ever.
  std::vector<BufferDevice> keep_own_part(const ExecuteOptions& options) {
    std::vector<std::int64_t> agreed = encode(schedule, compiled.kernels.kernels, {}, options.facts.devices);
    agreed.push_back(options.agreed);
    require_agreement(*among, std::move(agreed), options.processor);
    ProcessSchedule own = process_schedule(schedule, options.facts, compiled.blocks.program, *among);
    schedule = std::move(own.schedule);
    input_parts = std::move(own.inputs);
    result_parts = std::move(own.results);
    return std::move(own.devices);
  }

  // Every kernel, or those that this process calls; the others stay null.
  void compile(const std::vector<std::int64_t>& node) {
    std::vector<std::size_t> numbers;
    std::vector<Kernel> kernels;
    const std::vector<bool> called = called_kernels(schedule);
    for (std::size_t k = 0; k < called.size(); ++k) {
      if (among && !called[k]) continue;
      numbers.push_back(k);
      kernels.push_back(compiled.kernels.kernels[k]);
    }
    std::optional<SharedObjects> shared;
    if (among && node.size() > 1) shared.emplace(among->messages, among->rank, node);
    const std::vector<KernelFunction> made =
        jit.compile(kernels, checks.on ? trial(numbers) : KernelTrial{}, shared ? &*shared : nullptr);
    compiled.functions.resize(called.size());
    for (std::size_t n = 0; n < numbers.size(); ++n) compiled.functions[numbers[n]] = made[n];
  }

  // Of the kernels with these numbers.
  KernelTrial trial(std::vector<std::size_t> numbers) const {
    KernelTrial result;
    const Program& program = compiled.blocks.program;
    for (std::size_t k : numbers)
      result.against.push_back(self_check_key(program, compiled.kernels.sources[k], checks));
    result.run = [this, &program, numbers = std::move(numbers)](std::size_t n, KernelFunction function) {
      const std::size_t k = numbers[n];
      check_kernel(program, compiled.kernels.sources[k], k, compiled.kernels.kernels[k], function, checks);
    };
    return result;
  }

  void check(const std::vector<Tensor>& inputs) const {
    TAP_CHECK(inputs.size() == schedule.inputs.size(), "a graph received a wrong number of inputs");
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const TensorType& type = schedule.inputs[k].type;
      TAP_CHECK(inputs[k].type() == type.element && inputs[k].shape() == type.shape,
                "an input does not have the graph's type");
    }
  }
};

Executable::Executable(BlockProgram program, const ExecuteOptions& options)
    : impl_(std::make_unique<Impl>(lower(std::move(program), options.exact_arithmetic, options.machine), std::nullopt,
                                   options)) {}
Executable::Executable(CompiledProgram lowered, Schedule schedule, const ExecuteOptions& options)
    : impl_(std::make_unique<Impl>(std::move(lowered), std::move(schedule), options)) {}
Executable::~Executable() = default;
Executable::Executable(Executable&&) noexcept = default;

namespace {

// Kernels do not write inputs.
using Views = llvm::SmallVector<executor::TensorView, 8>;  // short runs allocate nothing

Views views_of(const std::vector<Tensor>& inputs) {
  Views views;
  for (const Tensor& input : inputs) views.push_back({const_cast<std::byte*>(input.data()), nullptr});
  return views;
}

void require_done(executor::Status status, const executor::Message& message, const executor::Message& result) {
  if (status == executor::Status::no_memory) throw std::bad_alloc();
  if (status == executor::Status::lost_process)
    throw EvaluationError{"a message of another process did not arrive", ""};
  if (status != executor::Status::done) throw EvaluationError{message.text(), result.text()};
}

}  // namespace

void Executable::prepare(const std::vector<Tensor>& inputs) {
  impl_->check(inputs);
  executor::Message message;
  require_done(impl_->executor.prepare(views_of(inputs).data(), message), message, {});
  impl_->prepared = true;
}

std::vector<Tensor> Executable::run(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> outputs;
  run(inputs, outputs);
  return outputs;
}

void Executable::run(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
  impl_->check(inputs);
  outputs.resize(impl_->schedule.outputs.size());
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const TensorType& type = impl_->schedule.outputs[k].type;
    if (outputs[k].type() != type.element || outputs[k].shape() != type.shape || !outputs[k].data())
      outputs[k] = Tensor(type.element, type.shape);
  }
  Views in = views_of(inputs), out;
  out.reserve(outputs.size() + 1);  // not null, even if this process has no part of any result
  GuardedResults guarded;
  const bool guard = tests_are_thorough();
  for (Tensor& output : outputs) out.push_back({guard ? guarded.add(output) : output.mutable_data(), nullptr});
  executor::Message message, result;
  executor::Status status = executor::Status::done;
  if (!impl_->prepared) status = impl_->executor.prepare(in.data(), message);
  if (status == executor::Status::done) status = impl_->executor.run(in.data(), out.data(), message, &result);
  require_done(status, message, result);
  guarded.take();
}

std::function<void()> Executable::bound(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
  run(inputs, outputs);  // makes the outputs, and prepares constants
  Views in = views_of(inputs), out;
  for (Tensor& output : outputs) out.push_back({output.mutable_data(), nullptr});
  std::shared_ptr<executor::Bound> bound(executor::bind(impl_->executor, in.data(), out.data()), executor::unbind);
  if (!bound) throw std::bad_alloc();
  return [bound] {
    if (executor::run_listed(*bound)) return;
    executor::Message message;
    require_done(executor::run_unlisted(*bound, message), message, {});
  };
}

std::size_t Executable::inner_bytes() const {
  std::size_t most = 0;
  for (std::size_t k = 0; k < impl_->compiled.blocks.program.operators.size(); ++k)
    if (auto kernel = impl_->compiled.kernels.of[k]; kernel && impl_->compiled.blocks.program.operators[k].region())
      most = std::max(most, scratch_bytes(impl_->compiled.kernels.kernels[*kernel]));
  return most;
}

const ir::Schedule& Executable::schedule() const { return impl_->schedule; }

const std::vector<BufferDevice>& Executable::devices() const { return impl_->devices; }

const CompiledProgram& Executable::compiled() const { return impl_->compiled; }

const std::vector<std::int64_t>& Executable::tables() const { return impl_->tables; }

std::size_t Executable::kernel_count() const { return impl_->compiled.kernels.kernels.size(); }

std::int64_t Executable::shard_count() const { return impl_->shards; }

const std::vector<HeldPart>& Executable::input_parts() const { return impl_->input_parts; }

const std::vector<std::vector<HeldPart>>& Executable::result_parts() const { return impl_->result_parts; }

std::size_t Executable::cached_count() const { return impl_->jit.cached(); }

const KernelCounts& Executable::kernel_counts() const { return impl_->jit.counts(); }

}  // namespace tap::backend
