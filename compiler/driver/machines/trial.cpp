#include "compiler/driver/machines/trial.h"

#include <algorithm>

#include "backend/llvm/executable.h"
#include "compiler/driver/compile_file.h"
#include "compiler/driver/median.h"
#include "compiler/pipeline/pipeline.h"
#include "support/check.h"

namespace tap::driver {
namespace {

constexpr std::size_t fifths = 5, least_runs = 10, most_runs = 200'000;

Tensor input_of(const ir::TensorType& type) {
  Tensor tensor(type.element, type.shape);
  for (std::int64_t k = 0; k < tensor.size(); ++k)
    if (is_float(type.element)) tensor.store_f64(k, 0.5 + static_cast<double>(k % 101) / 101);
    else tensor.store_i64(k, is_bool(type.element) ? k % 2 : 1 + k % 5);
  return tensor;
}

}  // namespace

TrialResult run_trial(Session& session, const Trial& trial, const ir::Machine& machine) {
  SourceOptions source;
  source.no_cache = true;
  const FileId file = session.sources.add("calibration.tap", trial.text);
  Compiled compiled = build_file(session, make_program_file(session, file, compile_options(source)));
  std::vector<Tensor> inputs;
  const ir::Graph& graph = compiled.program[compiled.program.main];
  for (ir::ValueId v : graph.inputs) inputs.push_back(input_of(graph[v].type));
  pipeline::Options how;
  how.stop = pipeline::Stage::schedule;
  how.machine = machine;
  how.caution.strict_fp = trial.strict;
  how.proof = pipeline::Proof::none;
  pipeline::Compilation made = pipeline::compile(std::move(compiled.program), how);

  TrialResult result;
  result.kernels = made.lowered->kernels.kernels;
  result.boxes.resize(result.kernels.size());
  for (const ir::Sequence& sequence : made.schedule->sequences)
    for (const ir::Batch& batch : sequence)
      for (const ir::ScheduledTask& task : batch)
        if (auto* call = std::get_if<ir::KernelCall>(&task.what); call && result.boxes[call->kernel].dims.empty())
          result.boxes[call->kernel] = call->box;

  backend::ExecuteOptions options;
  options.threads = trial.threads;
  options.pinned_to = trial.pinned_to;
  options.self_check = false;
  backend::Executable executable(std::move(*made.lowered), std::move(*made.schedule), options);
  std::vector<Tensor> results;
  executable.prepare(inputs);
  executable.run(inputs, results);
  std::vector<double> least(fifths, 1e9);
  Stopwatch all;
  for (std::size_t run = 0; run < most_runs && (run < least_runs || all.seconds() < trial.seconds); ++run) {
    Stopwatch one;
    executable.run(inputs, results);
    const double seconds = one.seconds();
    double& part = least[std::min(fifths - 1, static_cast<std::size_t>(all.seconds() / trial.seconds * fifths))];
    part = std::min(part, seconds);
  }
  std::erase(least, 1e9);
  TAP_CHECK(!least.empty(), "nothing was run");
  result.least = *std::ranges::min_element(least);
  std::ranges::sort(least);
  result.spread = least[least.size() / 2] / result.least - 1;
  return result;
}

}  // namespace tap::driver
