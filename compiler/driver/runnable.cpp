#include "compiler/driver/runnable.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>

#include "compiler/driver/mpi_host.h"
#include "compiler/driver/process_messages.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/read_source.h"
#include "compiler/driver/shared_inputs.h"
#include "compiler/driver/unjustified_step.h"
#include "passes/placed.h"
#include "support/phase.h"

namespace tap::driver {

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

namespace {

// Reports a value of the wrong type or shape at the input's declaration.
Tensor load_input(const Session& session, const ir::Value& input, const InputSpec& spec, TensorFiles& files,
                  const TensorPart* part = nullptr) {
  try {
    return materialise(spec, input.type.element, input.type.shape, files, part);
  } catch (Failure& failure) {
    auto declared = session.inputs.find(input.name);
    bool unlike = failure.diagnostic.code == Code::data_type || failure.diagnostic.code == Code::data_shape;
    if (unlike && declared != session.inputs.end()) failure.diagnostic.span = declared->second;
    throw;
  }
}

// Inputs without a specification get one of random numbers.
std::vector<InputSpec> completed(std::vector<InputSpec> specs, const ir::Graph& graph) {
  for (std::size_t k = 0; k < graph.inputs.size(); ++k) {
    const ir::Value& input = graph[graph.inputs[k]];
    if (std::any_of(specs.begin(), specs.end(), [&](const InputSpec& spec) { return spec.name == input.name; }))
      continue;
    InputSpec spec;
    spec.name = input.name;
    spec.text = fmt::format("{}=rand:{}", input.name, k + 1);
    spec.value = Maker{Maker::Kind::rand, k + 1, {}};
    specs.push_back(std::move(spec));
  }
  return specs;
}

// With `in_parts` only checks types and shapes, by one cell of each.
void load_inputs(const Session& session, const std::vector<InputSpec>& specs, const RunnableOptions& options,
                 TensorFiles& files, Runnable& made) {
  const ir::Program& program = made.compiled.program;
  const ir::Graph& graph = program[program.main];
  Phase phase("reading inputs");
  std::vector<DeclaredInput> declared;
  for (ir::ValueId input : graph.inputs)
    declared.push_back({graph[input].name, graph[input].name + ": " + to_string(graph[input].type)});
  made.input_specs = match_inputs(options.make_up ? completed(specs, graph) : specs, declared);
  for (std::size_t i = 0; i < made.input_specs.size(); ++i) {
    const ir::Value& input = graph[graph.inputs[i]];
    const TensorPart cell = first_cell(input.type.shape);
    Tensor loaded = load_input(session, input, made.input_specs[i], files, options.in_parts ? &cell : nullptr);
    if (!options.in_parts) made.inputs.push_back(std::move(loaded));
  }
}

CompileOptions options_for(const RunnableOptions& options, const std::vector<InputSpec>& specs, TensorFiles& files) {
  CompileOptions compile = compile_options(options.source);
  for (const InputSpec& spec : specs)
    if (auto shape = own_shape(spec, files)) compile.input_shapes.emplace(spec.name, *shape);
  return compile;
}

// Up to the simplified stage, without the plan.
pipeline::Compilation simplified(Session& session, const ProgramFile& input, const pipeline::Options& config,
                                 const PassOptions& passes, Dumps& dumps) {
  try {
    return compile(session, input, config, passes, dumps);
  } catch (const Reported& reported) {
    // If a given shape does not match the declared type, the data is wrong; if the dims that it determines disagree, or
    // make the program illegal, the program is wrong, as if these sizes were in the source.
    bool data = !input.how.input_shapes.empty() &&
                (reported.code == Code::rank_mismatch || reported.code == Code::shape_mismatch) &&
                compiles_without_inputs(session, input);
    throw data ? Reported{exit_code::wrong_data, reported.code} : reported;
  }
}

// In a job the first process decides, and the others take its plan: they may be on machines that would decide otherwise. A
// process that was given another plan keeps it: the job ends before the run, since the programs differ.
class AgreedPlan {
 public:
  AgreedPlan(const MpiHost* host, pipeline::Options& config) : host_(host), given_(ir::print(config.plan)) {
    if (!host || host->is_first()) return;
    const ProcessMessages messages(*host);
    const std::string given = messages.receive_text(0), plan = messages.receive_text(0);
    auto parsed = ir::parse_plan_text(plan);
    auto* agreed = std::get_if<ir::PlanText>(&parsed);
    if (given != given_ || !agreed) return;
    config.plan = std::move(agreed->plan);
    config.decide.reset();
  }
  // Once; an empty text if the first process has none.
  void tell(const std::string& plan) {
    if (!host_ || !host_->is_first() || std::exchange(told_, true)) return;
    const ProcessMessages messages(*host_);
    for (std::int64_t other = 1; other < host_->size(); ++other) {
      messages.send_text(other, given_);
      messages.send_text(other, plan);
    }
  }

 private:
  const MpiHost* host_;
  std::string given_;
  bool told_ = false;
};

// Adds to `made` the program to run and, if the run may fall back, earlier programs that are certified to be equal.
void lower(Session& session, const ProgramFile& input, const RunnableOptions& options, Runnable& made) {
  PassOptions passes = options.passes;
  Dumps dumps(session, options.passes);
  take(passes, options.source);
  read_decisions(session, options.decisions, passes);
  const bool skip_unjustified = options.skip_unjustified && !passes.require_proof;
  pipeline::Options config = pipeline_options(passes, pipeline::Stage::simplified);
  let_decide(session, options.decisions, {options.machine_file, "native", options.source.no_cache}, config);
  AgreedPlan agreed(options.host, config);
  ir::Program& program = made.compiled.program;
  try {
    pipeline::Compilation first = simplified(session, input, config, passes, dumps);
    made.compiled = std::move(first.source);
    program = std::move(first.program);
    write_decisions(session, options.decisions, first.plan);
    made.plan = ir::print(first.plan);
    agreed.tell(made.plan);
    config.plan = std::move(first.plan);
    config.decide.reset();
    // With an explicit list of passes there may still be calls, which cannot be split. A placed program may lack
    // transfers.
    if (options.passes.chosen && options.decisions.plan.empty() && !tap::passes::is_placed(program)) return;
    config.begin = config.stop;
    config.stop = pipeline::Stage::sharded;
    ir::Program unplanned = std::move(program);
    if (skip_unjustified) {
      program = compile(session, unplanned, config, passes, dumps).program;
      if (program != unplanned) made.earlier.push_back(std::move(unplanned));
    } else {
      program = compile(session, std::move(unplanned), config, passes, dumps).program;
    }
  } catch (const pipeline::UnjustifiedStep& fault) {
    if (!skip_unjustified) throw;
    agreed.tell("");
    warn_step_left_out(session, fault);
    if (!fault.source.name.empty()) made.compiled = fault.source;
    program = fault.before.back();
  }
}

}  // namespace

void add_runnable_options(CLI::App& app, RunnableOptions& options) {
  app.add_option("FILE", options.file,
                 "A source file, a stage text, or (`run` only) the manifest of a compiled program")
      ->required();
  app.add_option("-i,--input", options.inputs,
                 "An input: X=@x.npy, @all.npz, X=rand:42, X=f32[4,8]=zeros, X=[[1, 2]]; may be repeated")
      ->allow_extra_args(false);
  add_source_options(app, options.source);
  add_reshard_option(app, options.source);
  add_pass_options(app, options.passes);
  add_decision_options(app, options.decisions);
}

Runnable make_runnable(Session& session, const RunnableOptions& options, TensorFiles& files) {
  std::vector<InputSpec> specs = options.first_reads
                                     ? specs_of_first(*options.first_reads, options.inputs, "input", files)
                                     : parse_inputs(options.inputs, "input", files);
  const CompileOptions how = options_for(options, specs, files);
  const FileId file = read_source(session, options.file);
  Runnable made;
  lower(session, make_program_file(session, file, how), options, made);
  load_inputs(session, specs, options, files, made);
  return made;
}

Tensor part_of_input(const Session& session, const Runnable& runnable, std::size_t input, const ir::Box& box,
                     TensorFiles& files) {
  Phase phase("reading inputs");
  const ir::Program& program = runnable.compiled.program;
  const ir::Graph& graph = program[program.main];
  const TensorPart part = part_of(box);
  return load_input(session, graph[graph.inputs[input]], runnable.input_specs[input], files, &part);
}

TensorPart part_of(const ir::Box& box) {
  TensorPart part{{}, box.shape()};
  for (const ir::Range& range : box.dims) part.begin.push_back(range.lo);
  return part;
}

}  // namespace tap::driver
