#include "compiler/pipeline/stage_laws.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/proofs/laws_text.h"
#include "ir/graph.h"
#include "support/exit_code.h"

namespace tap::pipeline {
namespace {

using ir::Law;

bool is_claimed(Law law) { return law == Law::proved || law == Law::assumed; }

void settle(Law& claimed, Law found) {
  if (claimed == Law::proved && found != Law::proved) claimed = Law::assumed;
}

// The line that declares the monoid; the text has been parsed before.
Span declared_at(const SourceMap& sources, FileId file, std::size_t number) {
  const std::string& text = sources.file(file).text();
  const std::string begin = fmt::format("monoid {} ", number);
  std::size_t at = text.starts_with(begin) ? 0 : text.find("\n" + begin);
  if (at == text.npos) return {file, 0, 0};
  if (at > 0) ++at;
  return {file, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(std::min(text.find('\n', at), text.size()))};
}

Failure refused(Span declared, const ir::Program& program, const ir::Monoid& monoid, const LawVerdict& verdict) {
  Diagnostic d(Code::law_broken, declared,
               fmt::format("the text claims laws that the monoid `{}` does not have", monoid.name));
  for (const LawCounterexample& broken : verdict.broken) {
    std::string at;
    for (const auto& [name, value] : broken.values) at += (at.empty() ? "" : ", ") + name + " = " + values_text(value);
    d.note("with " + at + ": " + sides_text(program, monoid, broken));
  }
  return {exit_code::wrong_program, std::move(d)};
}

}  // namespace

void settle_laws(const SourceMap& sources, FileId file, ir::Program& program, LawMemory& memory) {
  for (std::size_t m = 0; m < program.monoids.size(); ++m) {
    ir::Monoid& monoid = program.monoids[m];
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
      throw refused(declared_at(sources, file, m), program, monoid, verdict);
    settle(laws.associative, verdict.laws.associative);
    settle(laws.identity, verdict.laws.identity);
    settle(laws.commutative, verdict.laws.commutative);
    settle(laws.fold, verdict.laws.fold);
  }
}

}  // namespace tap::pipeline
