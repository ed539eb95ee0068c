#include "check/check.h"

#include <fmt/format.h>

#include <algorithm>

namespace tap::check {

namespace {

struct Words {
  std::string_view text, meaning;
};
constexpr Words obligations[] = {
#define TAP_OBLIGATION(name, text, meaning) {text, meaning},
#include "check/obligations.def"
#undef TAP_OBLIGATION
};

}  // namespace

std::string_view name_of(Obligation obligation) { return obligations[static_cast<std::size_t>(obligation)].text; }
std::string_view meaning_of(Obligation obligation) { return obligations[static_cast<std::size_t>(obligation)].meaning; }

bool Verdict::refused() const { return count(Standing::refused) > 0; }
std::size_t Verdict::count(Standing standing) const {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.standing == standing; }));
}

namespace {

std::string where_of(const ir::Certificate& certificate, std::size_t k) {
  return fmt::format("step {} ({})", k, certificate.steps[k].pass);
}

// source → after of step 0 = before of step 1 → …
void check_chain(const ir::Certificate& certificate, const std::vector<Stage>& stages, Verdict& verdict) {
  auto refuse = [&](std::string where, std::string why) {
    verdict.findings.push_back({Obligation::chain, Standing::refused, std::move(where), std::move(why)});
  };
  if (stages.size() != certificate.steps.size() + 1)
    return refuse("the certificate", fmt::format("{} steps, and {} programs instead of {}", certificate.steps.size(),
                                                 stages.size(), certificate.steps.size() + 1));
  for (std::size_t k = 0; k < certificate.steps.size(); ++k) {
    const ir::Step& step = certificate.steps[k];
    auto fits = [&](const char* side, const std::string& claimed, const std::string& found) {
      if (claimed == found) return;
      refuse(where_of(certificate, k),
             fmt::format("the program {} it has the hash {}, and it is claimed of {}", side, found, claimed));
    };
    fits("before", step.before, stages[k].hash);
    fits("after", step.after, stages[k + 1].hash);
  }
}

}  // namespace

Verdict check(const ir::Certificate& certificate, const std::vector<Stage>& stages) {
  Verdict verdict;
  check_chain(certificate, stages, verdict);
  if (verdict.refused()) return verdict;
  verdict.findings.push_back({Obligation::chain, Standing::proved, "the certificate", ""});
  for (std::size_t k = 0; k < stages.size(); ++k) {
    std::string where = k == 0 ? "the source" : where_of(certificate, k - 1);
    try {
      check_well_formed(*stages[k].program);
      if (k > 0) check_step(*stages[k - 1].program, *stages[k].program, certificate.steps[k - 1], where, verdict);
    } catch (const Refusal& refusal) {
      verdict.findings.push_back({refusal.obligation, Standing::refused, where, refusal.detail});
      break;  // later steps speak of a program that cannot be read
    }
  }
  return verdict;
}

}  // namespace tap::check
