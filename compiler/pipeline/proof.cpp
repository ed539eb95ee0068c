#include "compiler/pipeline/proof.h"

#include <fmt/format.h>

#include <chrono>
#include <map>

#include "compiler/pipeline/failures.h"
#include "ir/graphs/program_hash.h"
#include "ir/text.h"
#include "ir/text/stage_text.h"
#include "replay/replay.h"
#include "support/phase.h"
#include "support/plural.h"

namespace tap::pipeline {
namespace {

// Adds the duration of the check to the checking time.
template <class Check>
void timed(Compilation& made, Check check) {
  Phase phase("checking the certificate");
  const auto start = std::chrono::steady_clock::now();
  check();
  made.checking += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A step whose result is not a graph: its claim is the result, and the checker checks every task of it.
template <class Check, class Text>
void prove_last(Compilation& made, const Options& options, ir::StageKind kind, const char* name, Text text,
                Check check) {
  if (options.proof == Proof::none) return;
  timed(made, [&] {
    std::vector<ir::Step>& steps = made.certificate.steps;
    // Hashing a large text takes as long as checking it, and is only needed for a certificate that is written.
    if (options.proof == Proof::recorded) {
      std::string before = steps.empty() ? ir::hash_of(made.program) : steps.back().after;
      steps.push_back({name, std::move(before), ir::hash_of_text(text()), {}, kind});
    }
    const std::size_t step = options.proof == Proof::recorded ? steps.size() - 1 : steps.size();
    made.verdict.at = {step};
    check(fmt::format("step {} ({})", step, name));
  });
  if (options.proof == Proof::required) require_justified(made, options.caution.require_proof);
}

}  // namespace

void prove_steps(Compilation& made, const Options& options) {
  timed(made, [&] {
    // Without hashes in the steps the stages, which are the steps' own, have none either.
    std::vector<check::HashedStage> stages;
    for (const ir::Program& stage : made.stages)
      stages.push_back({&stage, options.proof == Proof::recorded ? ir::hash_of(stage) : ""});
    made.verdict = check::check(made.certificate, stages, made.rules ? &*made.rules : nullptr, true,
                                options.stop >= Stage::sharded);
  });
  if (options.proof == Proof::required) require_justified(made, options.caution.require_proof);
}

void prove_blocks(Compilation& made, const Options& options) {
  prove_last(
      made, options, ir::StageKind::blocks, "expand", [&] { return ir::print(*made.blocks); },
      [&](const std::string& where) {
        check::check_expansion(made.program, made.blocks->graphs, where, made.verdict);
      });
}

void prove_schedule(Compilation& made, const Options& options) {
  prove_last(
      made, options, ir::StageKind::schedule, "schedule", [&] { return ir::print(*made.schedule); },
      [&](const std::string& where) {
        for (const auto* one : {&made.schedule, &made.schedule_of_jobs})
          if (*one) check::check_schedule(made.program, **one, where, made.verdict);
      });
}

void require_justified(const Compilation& made, bool require_proof) {
  Phase phase("checking the certificate");
  const std::vector<check::Finding>& findings = made.verdict.findings;
  auto first = [&](check::Standing standing) {
    return std::ranges::find(findings, standing, &check::Finding::standing);
  };
  if (auto refused = first(check::Standing::refused); refused != findings.end()) throw UnjustifiedStep(made, *refused);
  auto assumed = first(check::Standing::assumed);
  if (assumed == findings.end() || !require_proof) return;
  throw Failure{exit_code::check_failed,
                Diagnostic(Code::not_justified, Span{},
                           fmt::format("{}: the obligation `{}` is assumed, not proved: {}", assumed->where,
                                       name_of(assumed->obligation), assumed->detail))};
}

std::string summary(const Compilation& made) {
  std::map<check::Obligation, std::size_t> proved;
  std::string rest;
  for (const check::Finding& finding : made.verdict.findings) {
    if (finding.standing == check::Standing::proved) {
      ++proved[finding.obligation];
      continue;
    }
    const char* standing = finding.standing == check::Standing::assumed ? "assumed" : "refused";
    rest += fmt::format("{} {}: {}: {}\n", standing, name_of(finding.obligation), finding.where, finding.detail);
  }
  std::string text = plural(made.certificate.steps.size(), "step") + "\n";
  for (auto [obligation, count] : proved)
    text += fmt::format("proved  {:<20} {:>6} {:<6} {}\n", name_of(obligation), count,
                        count == 1 ? "time:" : "times:", meaning_of(obligation));
  return text + rest;
}

}  // namespace tap::pipeline
