#include "check/check.h"

#include <utility>

#include "ir/graph.h"
#include "ir/verify/verify.h"
#include "ir/verify/well_formed.h"
#include "replay/replay.h"

namespace tap::check {

namespace {

constexpr std::pair<std::string_view, std::string_view> obligations[] = {
#define TAP_OBLIGATION(name, text, meaning) {text, meaning},
#include "check/obligations.def"
#undef TAP_OBLIGATION
};

}  // namespace

std::string_view name_of(Obligation obligation) { return obligations[static_cast<std::size_t>(obligation)].first; }
std::string_view meaning_of(Obligation obligation) { return obligations[static_cast<std::size_t>(obligation)].second; }

// source → after of step 0 = before of step 1 → …
Verdict check(const ir::Certificate& certificate, const std::vector<HashedStage>& stages, const ir::Program* rules,
              bool is_legal, bool runs) {
  const std::vector<ir::Step>& steps = certificate.steps;
  auto where = [&](std::size_t k) { return fmt::format("step {} ({})", k, steps[k].pass); };
  Verdict verdict;
  bool readable = verdict.attempt(Obligation::chain, "the certificate", [&] {
    expect(Obligation::chain, stages.size() == steps.size() + 1, "{} programs for {} steps, expected {}", stages.size(),
           steps.size(), steps.size() + 1);
    for (std::size_t k = 0; k < steps.size(); ++k) {
      auto fits = [&](const char* side, const std::string& claimed, const std::string& found) {
        expect(Obligation::chain, claimed == found, "the program {} {} has hash {}, but the certificate claims {}",
               side, where(k), found, claimed);
      };
      fits("before", steps[k].before, stages[k].hash);
      fits("after", steps[k].after, stages[k + 1].hash);
    }
  });
  readable = readable && verdict.attempt({}, "the rules", [&] {
    if (auto fault = rules ? ir::ill_formed(*rules) : std::nullopt) throw Refusal{Obligation::well_formed, *fault};
  });
  // Steps after one that cannot be read refer to a program that cannot be read.
  Believed believed{rules};
  const ir::Program* program = nullptr;  // the last one
  std::vector<const ir::Program*> read;
  ir::StageKind is = ir::StageKind::program;
  for (std::size_t k = 0; k < stages.size() && readable; ++k) {
    if (k > 0) verdict.at = {k - 1};
    readable = verdict.attempt({}, k == 0 ? "the source" : where(k - 1), [&] {
      const auto& what = stages[k].what;
      auto kind = static_cast<ir::StageKind>(what.index());
      bool follows = kind >= std::exchange(is, kind) && kind == (k == 0 ? ir::StageKind::program : steps[k - 1].made);
      expect(Obligation::chain, follows, "it produces the wrong kind of stage");
      if (auto* blocks = std::get_if<1>(&what)) return check_expansion(*program, **blocks, where(k - 1), verdict);
      if (auto* schedule = std::get_if<2>(&what)) return check_schedule(*program, **schedule, where(k - 1), verdict);
      const ir::Program* made = std::get<0>(what);
      if (auto fault = ir::ill_formed(*made)) throw Refusal{Obligation::well_formed, *fault};
      if (k > 0) check_step(*program, *made, steps[k - 1], where(k - 1), verdict, believed);
      else check_source(*made, is_legal, verdict);
      for (std::size_t o = 0; k == 0 && o < made->operators.size(); ++o)
        if (const ir::RegionBody* region = made->operators[o].region())
          for (const ir::Alternative& offered : region->alternatives) believed.alternatives.insert(offered.rule);
      program = made;
      read.push_back(made);
    });
  }
  verdict.at = {};
  if (auto programs = std::ranges::count(steps, ir::StageKind::program, &ir::Step::made); programs > 0)
    verdict.at.step = static_cast<std::size_t>(programs - 1);
  if (readable && runs) check_held(*program, verdict);
  for (std::size_t k = 0; k < read.size(); ++k) {  // last, so that faults are reported with their own obligation
    if (k > 0) verdict.at = {k - 1};
    else verdict.at = {};
    verdict.attempt({}, k == 0 ? "the source" : where(k - 1), [&] {
      const std::vector<std::string> violations = ir::verify(*read[k]);
      if (!violations.empty()) throw Refusal{Obligation::well_formed, violations[0]};
    });
  }
  return verdict;
}

}  // namespace tap::check
