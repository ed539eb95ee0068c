#include "compiler/driver/passes.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>

#include "compiler/driver/certify.h"
#include "compiler/driver/read_plan.h"
#include "ir/certificate_text.h"
#include "ir/text.h"
#include "runtime/write_file.h"
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
    if (!options.plan.decisions.empty()) add(passes::planned_passes());
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

// What was shown of each run of a pass.
class Observer {
 public:
  explicit Observer(const PassOptions& options) : options_(options) {
    const std::string& after = options_.dump_after;
    if (after.empty() || after == "all" || after == "changed" || passes::find_pass(after)) return;
    std::vector<std::string> candidates = passes::pass_names();
    candidates.insert(candidates.end(), {"all", "changed"});
    throw unknown_pass(after, candidates);
  }

  void operator()(const passes::PassRun& run) {
    ++number_;
    bool changed = run.before != run.after;
    if (wants_dump(run.pass.name, changed)) dump(run);
    if (options_.time)
      times_ += fmt::format("{:>9.3f} {:>9.3f}  {:02} {}{}\n", run.seconds * 1e3, run.verifier * 1e3, number_,
                            run.pass.name, changed ? "" : " (no change)");
  }

  std::string times() const { return times_.empty() ? "" : "  pass ms verify ms\n" + times_; }

 private:
  bool wants_dump(std::string_view pass, bool changed) const {
    if (options_.dump_after == "changed") return changed;
    return options_.dump_after == "all" || (!options_.dump_after.empty() && options_.dump_after == pass);
  }

  void dump(const passes::PassRun& run) const {
    std::error_code ignored;  // if it cannot be made, writing tells
    std::filesystem::create_directories(options_.dump_dir, ignored);
    std::string path = fmt::format("{}/{:02}-{}.txt", options_.dump_dir, number_, run.pass.name);
    write_files({{path, {ir::print(run.after)}}});
  }

  const PassOptions& options_;
  int number_ = 0;
  std::string times_;
};

void tell_remarks(Session& session, const std::vector<passes::Remark>& remarks) {
  for (const passes::Remark& remark : remarks)
    session.tell(Diagnostic(Code::pass_declined, Span{},
                            fmt::format("{} {} `{}` of `{}`{}: {}", remark.pass, remark.dropped ? "dropped" : "left",
                                        remark.operation, remark.graph, remark.dropped ? "" : " as it is",
                                        remark.message)));
}

}  // namespace

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

passes::Passed run_passes(Session& session, ir::Program program, const PassOptions& options) {
  Phase phase("passes");
  std::vector<passes::Pass> chosen = chosen_passes(options);
  Observer observer(options);
  Certified certified;
  if (options.verify) certified.stages.push_back(program);
  passes::Passed passed = passes::run(chosen, std::move(program), {options.plan}, [&](const passes::PassRun& run) {
    observer(run);
    if (options.verify && run.before != run.after) certified.stages.push_back(run.after);
  });
  if (!passed.problems.empty()) throw PlanRefused(std::move(passed.problems), 0);
  if (!options.certificate.empty()) write_files({{options.certificate, {ir::print(passed.certificate)}}});
  if (options.verify) {
    certified.certificate = passed.certificate;
    check_steps(certified);
  }
  if (options.remarks) tell_remarks(session, passed.remarks);
  if (options.time) session.tell(observer.times());
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
