#include "compiler/driver/bindings/run_manifest.h"

#include <fmt/format.h>

#include <utility>

#include "compiler/driver/bindings/loaded_library.h"
#include "compiler/driver/bindings/manifest.h"
#include "compiler/driver/bindings/outside_kernels.h"
#include "compiler/driver/median.h"
#include "compiler/driver/runnable.h"
#include "runtime/failure.h"
#include "support/phase.h"
#include "support/read_file.h"

namespace tap::driver {
namespace {

constexpr std::uint64_t most_manifest_bytes = 64 << 20;

std::vector<Tensor> load_inputs(const Manifest& manifest, const RunnableOptions& options, TensorFiles& files) {
  std::vector<InputSpec> specs = parse_inputs(options.inputs, "input", files);
  Phase phase("reading inputs");
  std::vector<DeclaredInput> declared;
  for (const ManifestTensor& input : manifest.inputs)
    declared.push_back({input.name, input.name + ": " + to_string(input.type)});
  std::vector<InputSpec> ordered = match_inputs(specs, declared);
  std::vector<Tensor> tensors;
  for (std::size_t k = 0; k < ordered.size(); ++k) {
    const ir::TensorType& type = manifest.inputs[k].type;
    tensors.push_back(materialise(ordered[k], type.element, type.shape, files));
  }
  return tensors;
}

// Refuses options that apply to compiling a program.
void refuse_compiling(const RunnableOptions& options, const EngineOptions& engine) {
  const PassOptions& passes = options.passes;
  const std::pair<bool, const char*> given[] = {{!options.source.dims.empty(), "--dim"},
                                                {!options.source.program.empty(), "--program"},
                                                {options.source.require_proof, "--require-proof"},
                                                {options.source.strict_fp, "--strict-fp"},
                                                {options.source.fast_reduce, "--fast-reduce"},
                                                {options.source.no_distribute, "--no-distribute"},
                                                {!options.decisions.plan.empty(), "--plan"},
                                                {!options.decisions.plan_out.empty(), "--plan-out"},
                                                {options.decisions.evaluations >= 0, "--evaluations"},
                                                {passes.chosen, "--passes"},
                                                {!passes.dump_after.empty(), "--dump-after"},
                                                {!passes.certificate.empty(), "--certificate"},
                                                {!passes.verify, "--no-verify"},
                                                {passes.time, "--time-passes"},
                                                {passes.remarks, "--remarks"},
                                                {!engine.machine_file.empty(), "--machine"},
                                                {engine.engine != "native", "--engine"}};
  for (auto [is_given, option] : given)
    if (is_given)
      throw wrong_command(Code::command_line, fmt::format("{} has no effect on a compiled program", option),
                          "pass it to `tapc compile`, or to `tapc run` with the source");
}

}  // namespace

namespace {

struct Loaded {
  Manifest manifest;
  LoadedLibrary library;
  OutsideKernels kernels;
  std::vector<Tensor> inputs;
  Loaded(Manifest m, const std::string& path, const std::vector<std::string>& libraries)
      : manifest(std::move(m)), library(manifest, path), kernels(manifest.outside, libraries) {}
};

}  // namespace

std::optional<LoadedProgram> load_manifest(const RunnableOptions& options, const EngineOptions& engine,
                                           TensorFiles& files) {
  auto text = read_regular_file(options.file, most_manifest_bytes);
  if (!std::holds_alternative<std::string>(text) || !is_manifest(std::get<std::string>(text))) return std::nullopt;
  refuse_compiling(options, engine);
  auto loaded =
      std::make_shared<Loaded>(parse_manifest(std::get<std::string>(text), options.file), options.file, engine.kernels);
  loaded->inputs = load_inputs(loaded->manifest, options, files);
  LoadedProgram program;
  for (const ManifestTensor& output : loaded->manifest.outputs)
    program.outputs.push_back({output.name, output.type.element});
  program.run = [loaded, threads = engine.threads] {
    Phase phase("running native code");
    std::vector<OutsideFunction> kernels;
    for (const std::string& symbol : loaded->manifest.outside) kernels.push_back(loaded->kernels.function(symbol));
    Evaluation result;
    Stopwatch watch;
    result.results = loaded->library.run(loaded->inputs, threads, kernels);
    result.summary = {watch.seconds(), threads, loaded->manifest.shards, loaded->manifest.work};
    return result;
  };
  return program;
}

}  // namespace tap::driver
