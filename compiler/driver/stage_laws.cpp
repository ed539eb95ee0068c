#include "compiler/driver/stage_laws.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/laws_text.h"

namespace tap::driver {
namespace {

using ir::Law;

bool is_claimed(Law law) { return law == Law::proved || law == Law::assumed; }

void settle(Law& claimed, Law found) {
  if (claimed == Law::proved && found != Law::proved) claimed = Law::assumed;
}

Failure refused(FileId file, const ir::Program& program, const ir::Monoid& monoid, const LawVerdict& verdict) {
  Diagnostic d(Code::bad_stage, Span{file, 0, 0},
               fmt::format("the text claims laws of the monoid `{}` that it does not have", monoid.name));
  for (const LawCounterexample& broken : verdict.broken) {
    std::string at;
    for (const auto& [name, value] : broken.values) at += (at.empty() ? "" : ", ") + name + " = " + values_text(value);
    d.note("with " + at + ": " + sides_text(program, monoid, broken));
  }
  return {exit_code::wrong_program, std::move(d)};
}

}  // namespace

void settle_laws(FileId file, ir::Program& program, LawMemory& memory) {
  for (ir::Monoid& monoid : program.monoids) {
    ir::MonoidLaws& laws = monoid.laws;
    bool claims = is_claimed(laws.associative) || is_claimed(laws.identity) || is_claimed(laws.commutative) ||
                  is_claimed(laws.fold);
    if (!claims) continue;
    const LawVerdict& verdict = memory.verdict(program, monoid);
    auto is_broken = [&](const LawCounterexample& broken) {
      return is_claimed(broken.law == "associative" ? laws.associative
                        : broken.law == "identity"  ? laws.identity
                                                    : laws.fold);
    };
    bool breaks = std::any_of(verdict.broken.begin(), verdict.broken.end(), is_broken);
    if (breaks || (is_claimed(laws.commutative) && verdict.laws.commutative == Law::broken))
      throw refused(file, program, monoid, verdict);
    settle(laws.associative, verdict.laws.associative);
    settle(laws.identity, verdict.laws.identity);
    settle(laws.commutative, verdict.laws.commutative);
    settle(laws.fold, verdict.laws.fold);
  }
}

}  // namespace tap::driver
