#include "compiler/driver/commands/passes.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>

#include "compiler/driver/read_plan.h"
#include "compiler/pipeline/proof.h"
#include "ir/text.h"
#include "ir/text/certificate_text.h"
#include "ir/text/stage_text.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

Failure unknown_pass(const std::string& name, std::vector<std::string> candidates) {
  auto near = did_you_mean(name, candidates);
  return {exit_code::wrong_command_line,
          Diagnostic(Code::command_line, Span{}, fmt::format("unknown pass `{}`", name))
              .help(near ? "did you mean `" + *near + "`?"
                         : fmt::format("the passes are {}", fmt::join(candidates, ", ")))};
}

std::vector<passes::Pass> chosen_passes(const PassOptions& options) {
  std::vector<passes::Pass> chosen;
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

// Stages that no pass makes.
constexpr std::string_view listed_stages[] = {"expand"};

void show_remarks(Session& session, const std::vector<passes::Remark>& remarks) {
  for (const passes::Remark& remark : remarks)
    session.report(
        Diagnostic(Code::pass_declined, Span{},
                   fmt::format("{} {} `{}` of `{}`{}: {}", remark.pass, remark.dropped ? "dropped" : "kept",
                               remark.operation, remark.graph, remark.dropped ? "" : " unchanged", remark.message)));
}

}  // namespace

Dumps::Dumps(const Session& session, const PassOptions& options)
    : session_(session), dump_after_(options.dump_after), folder_(options.dump_dir) {
  std::vector<std::string> candidates = passes::pass_names();
  candidates.insert(candidates.end(), std::begin(listed_stages), std::end(listed_stages));
  candidates.insert(candidates.end(), {"all", "changed"});
  if (!dump_after_.empty() && std::find(candidates.begin(), candidates.end(), dump_after_) == candidates.end())
    throw unknown_pass(dump_after_, candidates);
}

int Dumps::after(std::string_view pass, bool changed, const std::function<std::string()>& text) {
  ++number_;
  bool dump = dump_after_ == "changed" ? changed
                                       : !dump_after_.empty() && (dump_after_ == "all" || dump_after_ == pass);
  if (!dump) return number_;
  std::error_code ignored;  // writing reports the failure
  std::filesystem::create_directories(folder_, ignored);
  write_outputs(session_, {{fmt::format("{}/{:02}-{}.txt", folder_, number_, pass), {text()}}});
  return number_;
}

void take(PassOptions& options, const SourceOptions& source) {
  options.require_proof = source.require_proof;
  options.strict_fp = source.strict_fp;
  options.fast_reduce = source.fast_reduce;
  options.no_distribute |= source.no_distribute;  // `--plan none` may have set it
  options.no_implicit_reshard = source.no_implicit_reshard;
}

void add_pass_options(CLI::App& app, PassOptions& options) {
  app.add_option_function<std::vector<std::string>>(
         "--passes",
         [&options](const std::vector<std::string>& names) {
           options.passes = names;
           options.chosen = true;
         },
         "The passes to run instead of the default ones, in order: NAME,NAME, or none")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("Passes");
  app.add_option("--dump-after", options.dump_after,
                 "Write the program after the named pass, after every pass (all), or after every pass that changed it "
                 "(changed)")
      ->group("Passes");
  app.add_option("--dump-dir", options.dump_dir, "The folder for the dumps (default: the current one)")
      ->group("Passes");
  app.add_option("--certificate", options.certificate, "Write the certificate to this file; tapc-check verifies it")
      ->group("Passes");
  app.add_flag("!--no-verify", options.verify, "Do not check the certificate")->group("Passes");
  app.add_flag("--time-passes", options.time, "Print the time of each pass and of the verifier after it")
      ->group("Passes");
  app.add_flag("--remarks", options.remarks, "Print what the passes declined to do, and why")->group("Passes");
}

pipeline::Options pipeline_options(const PassOptions& options, pipeline::Stage stop) {
  pipeline::Options how;
  how.plan = options.plan;
  how.caution = {options.strict_fp, options.require_proof, options.fast_reduce};
  how.no_distribute = options.no_distribute;
  how.no_implicit_reshard = options.no_implicit_reshard;
  how.fuse_more = options.fuse;
  if (options.chosen) how.simplify = chosen_passes(options);
  how.proof = options.verify ? pipeline::Proof::required : pipeline::Proof::none;
  how.stop = stop;
  return how;
}

pipeline::Compilation compile(Session& session, PipelineInput input, pipeline::Options how, const PassOptions& options,
                              Dumps& dumps, const std::function<void(const Compiled& built)>& after_build) {
  Times times;
  pipeline::Observer observer;
  observer.after_build = after_build;
  observer.after_pass = [&](const passes::PassRun& run) {
    int number = dumps.after(run.pass.name, run.before != run.after, [&] { return ir::print(run.after); });
    if (options.time) times.add(run, number);
    if (options.seconds) (*options.seconds)[&run.pass] += run.seconds;
  };
  // The certificate is written before the check, so that it can be inspected.
  const bool justify_after = how.proof == pipeline::Proof::required && how.stop <= pipeline::Stage::sharded;
  if (justify_after) how.proof = pipeline::Proof::recorded;
  const auto* file = std::get_if<ProgramFile>(&input);
  pipeline::Compilation made = file ? compile_file(session, *file, how, observer)
                                    : pipeline::compile(std::get<ir::Program>(std::move(input)), how, observer);
  if (!options.certificate.empty()) write_outputs(session, certificate_files(options.certificate, made));
  if (made.expanded()) dumps.after("expand", true, [&] { return ir::print(*made.expanded(), true); });
  if (options.remarks) show_remarks(session, made.remarks);
  if (options.time) session.report(times.text());
  if (options.time && options.verify) session.report(fmt::format("{:>9.3f} the checker\n", made.checking * 1e3));
  if (justify_after) pipeline::require_justified(made, options.require_proof);
  for (const Diagnostic& diagnostic : made.reported) session.report(diagnostic);
  return made;
}

std::vector<OutputFile> certificate_files(const std::string& file, const pipeline::Compilation& made) {
  std::vector<OutputFile> files{{file, {ir::print(made.certificate)}}};
  if (made.rules) files.push_back({file + ".rules.ir", {ir::print(*made.rules)}});
  return files;
}

std::string list_of_passes() {
  std::string text;
  int number = 0;
  for (const pipeline::StageInfo& stage : pipeline::stages()) {
    text += fmt::format("{:<27} {}\n", stage.name, stage.reason);
    for (const passes::Pass& pass : passes_of(stage.stage))
      text += fmt::format("{:02} {:<24} {}\n", ++number, pass.name, pass.reason);
  }
  return text;
}

}  // namespace tap::driver
