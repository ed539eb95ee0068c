#include "compiler/driver/certify.h"

#include <fmt/format.h>

#include <chrono>
#include <map>

#include "compiler/driver/propagated_file.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/show/listing_limits.h"
#include "compiler/driver/show/sharding_moves.h"
#include "compiler/driver/unjustified_step.h"
#include "ir/graphs/program_hash.h"
#include "ir/text/certificate_text.h"
#include "ir/text/stage_text.h"
#include "passes/pipeline.h"
#include "passes/shardings/plan_shardings.h"
#include "passes/shardings/propagate.h"
#include "passes/splits/apply_splits.h"
#include "passes/splits/expand.h"
#include "passes/splits/realise.h"
#include "replay/replay.h"
#include "support/phase.h"
#include "support/plural.h"
#ifdef TAP_HAVE_BACKEND
#include "backend/compiled_program.h"
#endif

namespace tap::driver {
namespace {

void require_applicable(const std::vector<passes::PlanProblem>& problems, std::vector<std::string> requested = {}) {
  if (!problems.empty()) throw PlanRefused(problems, std::move(requested));
}

class Way {
 public:
  explicit Way(ir::Program source, bool no_implicit_reshard) : no_implicit_reshard_(no_implicit_reshard) {
    certified_.stages.push_back(std::move(source));
  }

  void passes(std::span<const passes::Pass> list, const passes::PassContext& context) {
    Phase phase("passes");
    auto collect = [this](const passes::PassRun& run) {
      if (run.before != run.after) certified_.stages.push_back(run.after);
    };
    passes::Passed passed = passes::run(list, now(), context, collect);
    if (passed.rules) certified_.rules = std::move(passed.rules);
    for (ir::Step& step : passed.certificate.steps) certified_.certificate.steps.push_back(std::move(step));
    require_applicable(passed.problems);
  }

  // Unrolls, then fusions, then splits: what is written out can be fused, and a group is cut as one operation.
  void plan(const ir::Plan& plan, const passes::Caution& caution, bool fuse_more) {
    passes(passes::planned_passes(), {plan, caution.strict_fp, nullptr, caution.require_proof});
    if (fuse_more) passes({passes::find_pass("fuse_auto"), 1}, {{}, caution.strict_fp, nullptr, caution.require_proof});
    splits(plan, caution);
  }

  Certified finish(bool verify = true) {
    if (verify) check_steps(certified_);
    return std::move(certified_);
  }

 private:
  void splits(const ir::Plan& plan, const passes::Caution& caution) {
    Phase phase("splits");
    ir::Plan written = passes::requested_splits(now());
    const std::size_t asked = written.decisions.size();
    written.decisions.insert(written.decisions.end(), plan.decisions.begin(), plan.decisions.end());
    ir::Plan all = sharded(written, caution);
    const std::size_t own = all.decisions.size() + asked;
    all.decisions.insert(all.decisions.end(), written.decisions.begin(), written.decisions.end());
    std::vector<std::string> requested;
    for (std::size_t k = 0; k < own; ++k) requested.push_back(std::get<ir::PlannedSplit>(all.decisions[k]).operation);
    passes::SplitResult result = passes::apply_splits(now(), all, caution);
    require_applicable(result.problems, std::move(requested));
    for (const std::string& why : result.gathered)
      certified_.told.emplace_back(Code::pass_declined, Span{},
                                   why + "; each point is written apart first, and all devices put all in its place");
    for (std::size_t k = 0; k < result.steps.size(); ++k) add(std::move(result.steps[k]), result.stages[k]);
    passes::RealiseResult realised = passes::realise(now());
    if (!realised.step.graphs.empty()) add(std::move(realised.step), std::move(realised.program));
  }

  // What the shardings ask for, spread over all values, where nothing else is said about an operation.
  ir::Plan sharded(const ir::Plan& written, const passes::Caution& caution) {
    if (!passes::has_shardings(now())) return {};
    if (passes::has_calls(now())) {
      unfollowed("calls are followed only once the pass `inline_calls` has written them out");
      return {};
    }
    passes::PropagationOptions options;
    options.prepare = false;
    passes::Propagated spread = passes::propagate(now(), options);
    if (!spread.conflicts.empty()) throw contradicting_group(spread.conflicts.front());
    passes::ShardedPlan found = passes::plan_of_shardings(spread.program, caution, written);
    for (const passes::LeftWhole& left : found.left) unfollowed(to_string(left));
    std::optional<Diagnostic> moves = implicit_moves(spread.program, no_implicit_reshard_);
    if (moves && no_implicit_reshard_) throw Failure{exit_code::wrong_program, *moves};
    if (moves) certified_.told.push_back(std::move(*moves));
    return std::move(found.plan);
  }

  void unfollowed(const std::string& what) {
    certified_.told.emplace_back(Code::pass_declined, Span{}, "a sharding is not followed: " + what);
  }

  const ir::Program& now() const { return certified_.stages.back(); }
  void add(ir::Step step, ir::Program after) {
    step.before = ir::hash_of(now());
    step.after = ir::hash_of(after);
    certified_.certificate.steps.push_back(std::move(step));
    certified_.stages.push_back(std::move(after));
  }

  bool no_implicit_reshard_;
  Certified certified_;
};

}  // namespace

Certified certify(ir::Program program, const ir::Plan& plan, passes::PassContext context, bool fuse_more,
                  bool no_implicit_reshard) {
  context.plan = plan;
  Way way(std::move(program), no_implicit_reshard);
  way.passes(passes::lowering(), context);
  way.plan(plan, caution_of(context), fuse_more);
  return way.finish();
}

ir::Program apply_plan(ir::Program lowered, const ir::Plan& plan, const PlanOptions& options) {
  Way way(std::move(lowered), options.no_implicit_reshard);
  way.plan(plan, options.caution, options.fuse_more);
  Certified certified = way.finish(options.verify);
  require_justified(certified, options.caution.require_proof);
  if (options.tell)
    for (const Diagnostic& diagnostic : certified.told) options.tell(diagnostic);
  for (std::size_t k = 0; options.after && k < certified.certificate.steps.size(); ++k)
    options.after(certified.certificate.steps[k].pass, certified.stages[k + 1]);
  return std::move(certified.stages.back());
}

namespace {

// Checks the tasks of the step that was added last.
template <class Check>
void check_last(Certified& certified, ir::StageKind made, const char* pass, const std::string& text, Check check) {
  std::vector<ir::Step>& steps = certified.certificate.steps;
  std::string before = steps.empty() ? ir::hash_of(certified.stages.back()) : steps.back().after;
  steps.push_back({pass, std::move(before), ir::hash_of_text(text), {}, made});
  Phase phase("checking the certificate");
  auto start = std::chrono::steady_clock::now();
  certified.verdict.at = {steps.size() - 1};
  check(fmt::format("step {} ({})", steps.size() - 1, pass));
  certified.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class Check, class Text>
void require(const ir::Program& program, Check check, Text text) {
  Phase phase("checking the certificate");
  check::Verdict verdict;
  check(verdict);
  for (const check::Finding& finding : verdict.findings)
    if (finding.standing == check::Standing::refused) throw UnjustifiedStep(program, text(), finding);
}

}  // namespace

void expand(Certified& certified) {
  require_listable(certified.stages.back());
  certified.blocks = passes::expand(certified.stages.back());
  check_last(certified, ir::StageKind::blocks, "expand", ir::print(*certified.blocks), [&](const std::string& where) {
    check::check_expansion(certified.stages.back(), certified.blocks->graphs, where, certified.verdict);
  });
}

void schedule([[maybe_unused]] Certified& certified, [[maybe_unused]] bool strict_fp) {
#ifdef TAP_HAVE_BACKEND
  require_addressable(certified.stages.back());
  backend::CompiledProgram lowered = backend::lower(*certified.blocks, strict_fp);
  certified.schedule = backend::schedule(lowered.blocks, lowered.kernels);
  check_last(certified, ir::StageKind::schedule, "schedule", ir::print(*certified.schedule),
             [&](const std::string& where) {
               check::check_schedule(certified.stages.back(), *certified.schedule, where, certified.verdict);
             });
#endif
}

ir::BlockProgram expand_and_check(const ir::Program& program, bool verify) {
  require_listable(program);
  require_addressable(program);
  ir::BlockProgram blocks = passes::expand(program);
  if (verify)
    require(
        program, [&](auto& verdict) { check::check_expansion(program, blocks.graphs, "expand", verdict); },
        [&] { return ir::print(blocks); });
  return blocks;
}
void require_right(const ir::Program& program, const ir::Schedule& schedule) {
  require(
      program, [&](auto& verdict) { check::check_schedule(program, schedule, "schedule", verdict); },
      [&] { return ir::print(schedule); });
}

void check_steps(Certified& certified) {
  Phase phase("checking the certificate");
  auto start = std::chrono::steady_clock::now();
  std::vector<check::Stage> stages;
  for (const ir::Program& stage : certified.stages) stages.push_back({&stage, ir::hash_of(stage)});
  if (certified.blocks) stages.push_back({&certified.blocks->graphs, ir::hash_of_text(ir::print(*certified.blocks))});
  if (certified.schedule) stages.push_back({&*certified.schedule, ir::hash_of_text(ir::print(*certified.schedule))});
  certified.verdict = check::check(certified.certificate, stages, certified.rules ? &*certified.rules : nullptr, true);
  certified.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<OutputFile> certificate_files(const std::string& file, const ir::Certificate& certificate,
                                          const std::optional<ir::Program>& rules) {
  std::vector<OutputFile> files{{file, {ir::print(certificate)}}};
  if (rules) files.push_back({file + ".rules.ir", {ir::print(*rules)}});
  return files;
}

std::string summary(const Certified& certified) {
  std::map<check::Obligation, std::size_t> proved;
  std::string rest;
  for (const check::Finding& finding : certified.verdict.findings) {
    if (finding.standing == check::Standing::proved) {
      ++proved[finding.obligation];
      continue;
    }
    const char* standing = finding.standing == check::Standing::assumed ? "assumed" : "refused";
    rest += fmt::format("{} {}: {}: {}\n", standing, name_of(finding.obligation), finding.where, finding.detail);
  }
  std::string text = plural(certified.certificate.steps.size(), "step") + "\n";
  for (auto [obligation, count] : proved)
    text += fmt::format("proved  {:<20} {:>6} times: {}\n", name_of(obligation), count, meaning_of(obligation));
  return text + rest;
}

void require_justified(const Certified& certified, bool require_proof) {
  Phase phase("checking the certificate");
  const std::vector<check::Finding>& findings = certified.verdict.findings;
  auto first = [&](check::Standing standing) {
    return std::ranges::find(findings, standing, &check::Finding::standing);
  };
  if (auto refused = first(check::Standing::refused); refused != findings.end())
    throw UnjustifiedStep(certified, *refused);
  auto assumed = first(check::Standing::assumed);
  if (assumed == findings.end() || !require_proof) return;
  throw Failure{exit_code::check_failed,
                Diagnostic(Code::not_justified, Span{},
                           fmt::format("{}: the obligation `{}` is only assumed: {}", assumed->where,
                                       name_of(assumed->obligation), assumed->detail))};
}

}  // namespace tap::driver
