// tapc run FILE: compiles a program, gives it its inputs, and shows, writes or compares its results.
//
//   tapc run mlp.tap -i X=@x.npy -i W=f32[4,8]=rand:42 -i @all.npz -o Y=@y.npy --expect Y=@wanted.npy
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>

#include "compiler/driver/certify.h"
#include "compiler/driver/choices.h"
#include "compiler/driver/command.h"
#include "compiler/driver/compare.h"
#include "compiler/driver/compile_file.h"
#include "compiler/driver/engine.h"
#include "compiler/driver/passes.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/read_source.h"
#include "compiler/driver/read_stage.h"
#include "runtime/input_spec.h"
#include "runtime/output_spec.h"
#include "runtime/print_tensor.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

struct RunOptions {
  std::string file;
  SourceOptions source;
  std::vector<std::string> inputs, outputs, expected;
  Tolerance tolerance;
  EngineOptions engine;
  PassOptions passes;
  std::string plan;
  bool fuse = false;
};

std::vector<InputSpec> parse_inputs(const std::vector<std::string>& texts, const char* role, TensorFiles& files) {
  Phase phase("reading inputs");
  std::vector<InputSpec> specs;
  for (const std::string& text : texts) {
    InputSpec parsed = parse_input_spec(text);
    parsed.role = role;
    for (InputSpec& spec : expand(parsed, files)) specs.push_back(std::move(spec));
  }
  return specs;
}

// A value of another type or shape than declared is told where the input is declared.
Tensor load_input(const Session& session, const ir::Value& input, const InputSpec& spec, TensorFiles& files) {
  try {
    return materialise(spec, input.type.element, input.type.shape, files);
  } catch (Failure& failure) {
    auto declared = session.inputs.find(input.name);
    bool unlike = failure.diagnostic.code == Code::data_type || failure.diagnostic.code == Code::data_shape;
    if (unlike && declared != session.inputs.end()) failure.diagnostic.span = declared->second;
    throw;
  }
}

std::vector<Tensor> load_inputs(const Session& session, const ir::Graph& graph, const std::vector<InputSpec>& specs,
                                TensorFiles& files) {
  Phase phase("reading inputs");
  std::vector<DeclaredInput> declared;
  for (ir::ValueId input : graph.inputs)
    declared.push_back({graph[input].name, graph[input].name + ": " + to_string(graph[input].type)});
  std::vector<InputSpec> ordered = match_inputs(specs, declared);
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < ordered.size(); ++i)
    tensors.push_back(load_input(session, graph[graph.inputs[i]], ordered[i], files));
  return tensors;
}

std::vector<OutputSpec> parse_outputs(const std::vector<std::string>& texts) {
  std::vector<OutputSpec> specs;
  for (const std::string& text : texts) specs.push_back(parse_output_spec(text));
  if (specs.empty()) specs.push_back(parse_output_spec("-"));
  return specs;
}

void publish(Session& session, const std::vector<OutputSpec>& specs, const std::vector<NamedTensor>& results) {
  Phase phase("writing results");
  PlannedOutputs planned = plan_outputs(specs, results);
  write_files(planned.files);
  std::string text;
  for (const NamedTensor& result : planned.printed)
    text += fmt::format("{}: {}{} =\n{}\n", result.name, name_of(result.tensor.type()),
                        to_string(result.tensor.shape()), print_tensor(result.tensor));
  session.print(text);
}

// Compares with what was expected; tells every difference. Pre: the specs name results.
bool as_expected(Session& session, const std::vector<InputSpec>& expected, const std::vector<NamedTensor>& results,
                 const Tolerance& tolerance, TensorFiles& files) {
  Phase phase("comparing results");
  bool good = true;
  for (const InputSpec& spec : expected)
    for (const NamedTensor& result : results) {
      if (result.name != spec.name) continue;
      Tensor wanted = materialise(spec, result.tensor.type(), result.tensor.shape(), files);
      if (auto difference = compare(result, wanted, tolerance)) {
        session.tell(*difference);
        good = false;
      }
    }
  return good;
}

void require_results(const std::vector<InputSpec>& expected, const std::vector<DeclaredOutput>& declared) {
  std::vector<std::string> names;
  for (const DeclaredOutput& output : declared) names.push_back(output.name);
  for (const InputSpec& spec : expected) {
    if (std::find(names.begin(), names.end(), spec.name) != names.end()) continue;
    auto near = did_you_mean(spec.name, names);
    throw Failure{
        exit_code::wrong_command_line,
        Diagnostic(Code::output_spec, Span{},
                   fmt::format("the program has no result `{}`, which --expect names", spec.name))
            .help(near ? "did you mean `" + *near + "`?" : fmt::format("its results are {}", fmt::join(names, ", ")))};
  }
}

CompileOptions options_for(const RunOptions& options, const std::vector<InputSpec>& specs, TensorFiles& files) {
  CompileOptions compile = compile_options(options.source);
  for (const InputSpec& spec : specs)
    if (auto shape = own_shape(spec, files)) compile.input_shapes.emplace(spec.name, *shape);
  return compile;
}

Compiled compile_for(Session& session, FileId file, const CompileOptions& compile) {
  try {
    return compile_or_read(session, file, compile);
  } catch (const Reported& reported) {
    // Where a given shape does not fit the declared type, the data are wrong; where the sizes that it gives to dims
    // disagree, or make the program illegal, the program is, as it would be with these sizes written in it.
    bool data = !compile.input_shapes.empty() &&
                (reported.code == Code::rank_mismatch || reported.code == Code::shape_mismatch) &&
                compiles_without_inputs(session, file, compile);
    throw data ? Reported{exit_code::wrong_data, reported.code} : reported;
  }
}

int run(Session& session, const RunOptions& options) {
  TensorFiles files;
  std::vector<InputSpec> specs = parse_inputs(options.inputs, "input", files);
  std::vector<OutputSpec> outputs = parse_outputs(options.outputs);
  const CompileOptions how = options_for(options, specs, files);
  FileId file = read_source(session, options.file);
  Compiled compiled = compile_for(session, file, how);
  tell_unused_shardings(session, compiled.program);
  ir::Plan plan = read_plan(session, options.plan);
  Dumps dumps(options.passes);
  Rewrites rewrites(session, file, how);
  PassOptions passes = options.passes;
  passes.plan = plan;
  passes.rules = rewrites.chosen_from(plan);
  compiled.program = run_passes(session, std::move(compiled.program), passes, dumps).program;
  // With a list of passes of one's own, calls may still be there, which cannot be cut.
  if (!options.passes.chosen || !options.plan.empty() || options.fuse)
    compiled.program =
        apply_plan(std::move(compiled.program), plan,
                   {options.passes.verify, options.passes.require_proof, options.fuse, dumps.of_steps()});
  const ir::Graph& graph = compiled.program[compiled.program.main];

  std::vector<DeclaredOutput> declared;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i)
    declared.push_back({compiled.results[i], graph[graph.outputs[i]].type.element});
  std::vector<Tensor> inputs = load_inputs(session, graph, specs, files);
  check_outputs(outputs, declared, files.paths());
  std::vector<InputSpec> expected = parse_inputs(options.expected, "result", files);
  require_results(expected, declared);

  std::vector<Tensor> tensors = evaluate(session, compiled.program, inputs, options.engine);
  files.require_intact();
  std::vector<NamedTensor> results;
  for (std::size_t i = 0; i < tensors.size(); ++i) results.push_back({declared[i].name, tensors[i]});
  // Before anything is published: files of an earlier run are not replaced by results that are known to be wrong.
  if (!as_expected(session, expected, results, options.tolerance, files)) return exit_code::check_failed;
  if (options.expected.empty() || !options.outputs.empty()) publish(session, outputs, results);
  return exit_code::done;
}

const CLI::Validator is_tolerance(
    [](std::string& text) {
      double value = 0;
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      bool good = error == std::errc() && end == text.data() + text.size() && value >= 0 && std::isfinite(value);
      return good ? std::string() : "`" + text + "` is no tolerance: a number is wanted that is not negative";
    },
    "TOLERANCE");

}  // namespace

Action declare_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  app.add_option("FILE", options->file, "The source file, or the text of a stage")->required();
  app.add_option("-i,--input", options->inputs,
                 "An input: X=@x.npy, @all.npz, X=rand:42, X=f32[4,8]=zeros, X=[[1, 2]]; may be repeated")
      ->allow_extra_args(false);
  app.add_option("-o,--output", options->outputs,
                 "A result: Y=@y.npy, @all.npz, Y=- (printed, as all are without this option); may be repeated")
      ->allow_extra_args(false);
  app.add_option("--expect", options->expected,
                 "What a result must be, in the form of an input; if it differs, exit code 5")
      ->allow_extra_args(false);
  app.add_option("--rtol", options->tolerance.relative,
                 "Relative tolerance of --expect for floats (default 1e-5; of f16 1e-3, of bf16 1e-2)")
      ->check(is_tolerance);
  app.add_option(
         "--atol", options->tolerance.absolute,
         "Absolute tolerance of --expect for floats (default 1e-8 of f64, 1e-6 of f32, 1e-3 of f16, 1e-2 of bf16)")
      ->check(is_tolerance);
  add_source_options(app, options->source);
  add_engine_options(app, options->engine);
  add_pass_options(app, options->passes);
  app.add_option("--plan", options->plan, "A plan: what is fused and cut, and where the blocks go");
  app.add_flag("--fuse", options->fuse, "Fuse operations into groups, so that values between them need no memory");
  return [options](Session& session) {
    options->passes.require_proof = options->source.require_proof;
    return run(session, *options);
  };
}

}  // namespace tap::driver
