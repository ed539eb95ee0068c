// A memory of decided laws, by the structure of monoids and not their names: a proof may take seconds, and a program
// may use one monoid in many places. Callers that compile many programs share one memory, and optionally a store on
// disk.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "compiler/frontend/proofs/laws.h"
#include "support/text_store.h"

namespace tap {

class LawMemory {
 public:
  explicit LawMemory(TextStore* store = nullptr) : store_(store) {}

  // The verdict on the monoid, whose `fold` may use others of the program. The reference stays valid.
  const LawVerdict& verdict(const ir::Program& program, const ir::Monoid& monoid);

 private:
  std::map<std::string, LawVerdict> known_;
  TextStore* store_;
};

// The monoid in a form without names: equal for monoids that have the same laws for the same reasons. It also contains
// the prover's version, since another version of Z3 may prove less.
std::string law_key(const ir::Program& program, const ir::Monoid& monoid);

// A verdict without refuted laws as text, and back. Empty if the text is malformed.
std::string to_text(const LawVerdict& verdict);
std::optional<LawVerdict> parse_verdict(const std::string& text);

}  // namespace tap
