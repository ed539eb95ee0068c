// The independent checker: re-reads the programs on both sides of every step of a certificate and discharges the
// step's claims. It trusts neither the steps nor the code that made them: it shares nothing with passes/, and from
// ir/ it uses only data types and the text form.
#pragma once

#include <set>
#include <string>
#include <variant>
#include <vector>

#include "check/verdict.h"
#include "ir/block_graph.h"
#include "ir/schedule.h"

namespace tap::check {

// A stage (in the order of ir::StageKind) and the hash of its text: a program, or what was made of the previous one.
struct HashedStage {
  std::variant<const ir::Program*, const std::vector<ir::BlockGraph>*, const ir::Schedule*> what;
  std::string hash;
};

// The stages are the source and the result of each step, in order. Never throws for faults in them. `rules` is trusted
// like the source: instances of the source's rewrite rules, which make alternatives of choices equal. Each is an
// operation of its main graph, a choice between the rule's pattern and its replacement. `is_legal`: the compiler has
// already proved that the source's reads are in bounds and that every cell is written once. `runs`: the last program
// must run as it is; otherwise cells that its devices lack may still be missing.
Verdict check(const ir::Certificate& certificate, const std::vector<HashedStage>& stages,
              const ir::Program* rules = nullptr, bool is_legal = false, bool runs = true);

// Checks a well-formed program that is not the result of a step.
void check_source(const ir::Program& program, bool is_legal, Verdict& verdict);

// What no step derives: the rules, and the alternatives of choices in the source, by name.
struct Believed {
  const ir::Program* rules = nullptr;
  std::set<std::string> alternatives = {};
};
// Checks the claims of one step only.
void check_step(const ir::Program& before, const ir::Program& after, const ir::Step& step, const std::string& where,
                Verdict& verdict, const Believed& believed = {});
// Checks the last program, which runs: each device holds what it reads.
void check_held(const ir::Program& program, Verdict& verdict);
}  // namespace tap::check
