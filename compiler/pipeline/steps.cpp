#include "compiler/pipeline/steps.h"

#include <utility>

#include "compiler/pipeline/failures.h"
#include "compiler/pipeline/proof.h"
#include "ir/shardings/mesh_position.h"
#include "support/phase.h"

namespace tap::pipeline {
namespace {

// The plan's meshes that the program does not declare.
void add_meshes(ir::Program& program, const ir::Plan& plan) {
  for (const ir::Mesh& mesh : plan.meshes) {
    const auto known = ir::find_mesh(program.meshes, mesh.name);
    if (!known) program.meshes.push_back(mesh);
    else if (program[*known] != mesh)
      throw Failure{exit_code::wrong_program,
                    Diagnostic(Code::plan_not_applicable, Span{},
                               "the program declares the mesh `" + mesh.name + "` with other axes than the plan")};
    if (const ir::Mesh* other = ir::with_other_devices(program.meshes, mesh))
      throw Failure{exit_code::wrong_program,
                    Diagnostic(Code::plan_not_applicable, Span{},
                               "the plan's mesh `" + mesh.name + "` has " + ir::devices_in_words(mesh) +
                                   ", and the mesh `" + other->name + "` has " + ir::devices_in_words(*other) +
                                   "; all meshes of a program are views of one set of devices")};
  }
}

// The operations of the leading decisions: those that are not the user's.
std::vector<std::string> operations_in_front(const ir::Plan& plan, std::size_t users) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d + users < plan.decisions.size(); ++d)
    names.push_back(std::get<ir::PlannedSplit>(plan.decisions[d]).operation);
  return names;
}

}  // namespace

Steps::Steps(Source source, const Options& options, const Observer& observer)
    : options_(options),
      observer_(observer),
      context_{options.plan,
               options.caution.strict_fp,
               options.rules,
               options.caution.require_proof,
               options.no_distribute,
               options.no_implicit_reshard,
               options.proof == Proof::recorded,
               options.caution.fast_reduce || options.plan.fast_reduce} {
  if (context_.strict_fp && context_.fast_reduce)
    throw Failure{exit_code::wrong_program,
                  Diagnostic(Code::plan_not_applicable, Span{},
                             "the plan has the line `fast_reduce`, which combines floats in another order than "
                             "`--strict-fp` asks for")
                      .help("remove the line or the option")};
  context_.plan.fast_reduce = context_.fast_reduce;
  planned_ = context_.plan.decisions.size();
  made_.plan = context_.plan;
  if (auto* text = std::get_if<Text>(&source)) {
    text_ = std::move(*text);
  } else {
    made_.program = std::move(std::get<ir::Program>(source));
    add_meshes(made_.program, context_.plan);
    if (options.proof != Proof::none) made_.stages.push_back(made_.program);
  }
}

Stage Steps::begin() const { return text_ ? Stage::text : options_.begin; }

void Steps::parse() { parsed_ = pipeline::parse(*text_); }

void Steps::build() {
  made_.source = pipeline::build(std::move(parsed_), *text_);
  if (observer_.after_build) observer_.after_build(made_.source);
  made_.program = std::exchange(made_.source.program, {});
  add_meshes(made_.program, context_.plan);
  if (options_.proof != Proof::none) made_.stages.push_back(made_.program);
  if (context_.rules) return;
  rewrites_.emplace(*text_);
  const ir::Plan start = options_.decide ? options_.decide->start : ir::Plan();
  context_.rules = options_.offer_rewrites ? rewrites_->all() : rewrites_->chosen_from(options_.plan, start);
}

std::span<const passes::Pass> Steps::simplifying() const {
  return options_.simplify ? std::span<const passes::Pass>(*options_.simplify) : passes::lowering();
}

void Steps::decide() {
  if (!options_.decide || context_.plan.evaluations || options_.simplify) return;
  cost::Decided decided = decided_plan(made_.program, context_, simplifying(), *options_.decide);
  context_.plan = std::move(decided.plan);
  context_.plan.fast_reduce = context_.fast_reduce;
  made_.considered = std::move(decided.considered);
  planned_ = context_.plan.decisions.size();
  made_.plan = context_.plan;
}

void Steps::run(std::span<const passes::Pass> list) {
  Phase phase("passes");
  auto after = [this](const passes::PassRun& run) {
    if (observer_.after_pass) observer_.after_pass(run);
    if (options_.proof != Proof::none && run.before != run.after) made_.stages.push_back(run.after);
  };
  passes::Passed passed = passes::run(list, std::move(made_.program), context_, after);
  made_.program = std::move(passed.program);
  context_.plan = std::move(passed.plan);
  if (passed.rules) made_.rules = std::move(passed.rules);
  for (ir::Step& step : passed.certificate.steps) made_.certificate.steps.push_back(std::move(step));
  for (passes::Remark& remark : passed.remarks) made_.remarks.push_back(std::move(remark));
  for (Diagnostic& diagnostic : passed.diagnostics) {
    if (diagnostic.severity() == Severity::error) throw Failure{exit_code::wrong_program, std::move(diagnostic)};
    made_.reported.push_back(std::move(diagnostic));
  }
  if (!passed.problems.empty())
    throw PlanRefused(std::move(passed.problems), operations_in_front(context_.plan, planned_));
}

Compilation Steps::finish() {
  if (options_.proof != Proof::none && !made_.certificate.steps.empty()) prove_steps(made_, options_);
  return std::move(made_);
}

}  // namespace tap::pipeline
