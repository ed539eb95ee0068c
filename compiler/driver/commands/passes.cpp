#include "compiler/driver/commands/passes.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>

#include "compiler/driver/certify.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/write_outputs.h"
#include "ir/text.h"
#include "ir/text/certificate_text.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

Failure unknown_pass(const std::string& name, std::vector<std::string> candidates) {
  auto near = did_you_mean(name, candidates);
  return {exit_code::wrong_command_line,
          Diagnostic(Code::command_line, Span{}, fmt::format("there is no pass `{}`", name))
              .help(near ? "did you mean `" + *near + "`?"
                         : fmt::format("the passes are {}", fmt::join(candidates, ", ")))};
}

std::vector<passes::Pass> chosen_passes(const PassOptions& options) {
  std::vector<passes::Pass> chosen;
  auto add = [&](std::span<const passes::Pass> list) { chosen.insert(chosen.end(), list.begin(), list.end()); };
  if (!options.chosen) {
    add(passes::lowering());
    if (options.planned && !options.plan.decisions.empty()) add(passes::planned_passes());
    return chosen;
  }
  for (const std::string& name : options.passes) {
    if (name == "none") continue;
    const passes::Pass* pass = passes::find_pass(name);
    if (!pass) throw unknown_pass(name, passes::pass_names());
    chosen.push_back(*pass);
  }
  return chosen;
}

// How long each run of a pass took.
class Times {
 public:
  void add(const passes::PassRun& run, int number) {
    lines_ += fmt::format("{:>9.3f} {:>9.3f}  {:02} {}{}\n", run.seconds * 1e3, run.verifier * 1e3, number,
                          run.pass.name, run.before != run.after ? "" : " (no change)");
  }
  std::string text() const { return lines_.empty() ? "" : "  pass ms verify ms\n" + lines_; }

 private:
  std::string lines_;
};

// The steps of a plan that are no passes.
constexpr std::string_view plan_steps[] = {"apply_splits", "realise", "expand"};

void tell_remarks(Session& session, const std::vector<passes::Remark>& remarks) {
  for (const passes::Remark& remark : remarks)
    session.tell(
        Diagnostic(Code::pass_declined, Span{},
                   fmt::format("{} {} `{}` of `{}`{}: {}", remark.pass, remark.dropped ? "dropped" : "left",
                               remark.operation, remark.graph, remark.dropped ? "" : " as it is", remark.message)));
}

}  // namespace

Dumps::Dumps(const Session& session, const PassOptions& options)
    : session_(session), wanted_(options.dump_after), folder_(options.dump_dir) {
  std::vector<std::string> candidates = passes::pass_names();
  candidates.insert(candidates.end(), std::begin(plan_steps), std::end(plan_steps));
  candidates.insert(candidates.end(), {"all", "changed"});
  if (!wanted_.empty() && std::find(candidates.begin(), candidates.end(), wanted_) == candidates.end())
    throw unknown_pass(wanted_, candidates);
}

int Dumps::after(std::string_view pass, bool changed, const std::function<std::string()>& text) {
  ++number_;
  bool wanted = wanted_ == "changed" ? changed : !wanted_.empty() && (wanted_ == "all" || wanted_ == pass);
  if (!wanted) return number_;
  std::error_code ignored;  // if it cannot be made, writing tells
  std::filesystem::create_directories(folder_, ignored);
  write_outputs(session_, {{fmt::format("{}/{:02}-{}.txt", folder_, number_, pass), {text()}}});
  return number_;
}

std::function<void(std::string_view, const ir::Program&)> Dumps::of_steps() {
  return [this](std::string_view pass, const ir::Program& made) { after(pass, true, [&] { return ir::print(made); }); };
}

void take(PassOptions& options, const SourceOptions& source) {
  options.require_proof = source.require_proof;
  options.strict_fp = source.strict_fp;
  options.no_distribute = source.no_distribute;
}

void add_pass_options(CLI::App& app, PassOptions& options) {
  app.add_option_function<std::vector<std::string>>(
         "--passes",
         [&options](const std::vector<std::string>& names) {
           options.passes = names;
           options.chosen = true;
         },
         "The passes to run instead of the usual ones, in order: NAME,NAME, or none")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("Passes");
  app.add_option("--dump-after", options.dump_after,
                 "Write the program after a pass, after all of them, or after those that changed it (changed)")
      ->group("Passes");
  app.add_option("--dump-dir", options.dump_dir, "The folder of the dumps; the current one without it")
      ->group("Passes");
  app.add_option("--certificate", options.certificate, "Write what the passes claim, for tapc-check")->group("Passes");
  app.add_flag("!--no-verify", options.verify, "Do not check what the passes claim")->group("Passes");
  app.add_flag("--time-passes", options.time, "Tell how long each pass took, and the verifier after it")
      ->group("Passes");
  app.add_flag("--remarks", options.remarks, "Tell what the passes left as it is, and why")->group("Passes");
}

passes::Passed run_passes(Session& session, ir::Program program, const PassOptions& options, Dumps& dumps) {
  Phase phase("passes");
  std::vector<passes::Pass> chosen = chosen_passes(options);
  Times times;
  Certified certified;
  if (options.verify) certified.stages.push_back(program);
  const passes::PassContext context{options.plan, options.strict_fp, options.rules, options.require_proof,
                                    options.no_distribute};
  passes::Passed passed = passes::run(chosen, std::move(program), context, [&](const passes::PassRun& run) {
    int number = dumps.after(run.pass.name, run.before != run.after, [&] { return ir::print(run.after); });
    if (options.time) times.add(run, number);
    if (options.verify && run.before != run.after) certified.stages.push_back(run.after);
  });
  if (!passed.problems.empty()) throw PlanRefused(std::move(passed.problems), {});
  if (!options.certificate.empty())
    write_outputs(session, certificate_files(options.certificate, passed.certificate, passed.rules));
  if (options.verify) {
    certified.certificate = passed.certificate;
    certified.rules = passed.rules;
    check_steps(certified);
  }
  if (options.remarks) tell_remarks(session, passed.remarks);
  if (options.time) session.tell(times.text());
  if (options.time && options.verify) session.tell(fmt::format("{:>9.3f} the checker\n", certified.seconds * 1e3));
  require_justified(certified, options.require_proof);
  return passed;
}

std::string list_of_passes() {
  std::string text;
  int number = 0;
  for (const passes::Pass& pass : passes::all_passes())
    text += fmt::format("{:02} {:<24} {}\n", ++number, pass.name, pass.reason);
  return text;
}

}  // namespace tap::driver
