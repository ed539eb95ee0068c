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

// A stage (in the order of ir::StageKind) and the hash of its text: a program, or what was made of the last one before it.
struct HashedStage {
  std::variant<const ir::Program*, const std::vector<ir::BlockGraph>*, const ir::Schedule*> what;
  std::string hash;
};

// The stages are the source and what each step made of it, in order. Never throws for what is wrong with them.
// `rules` is believed, as the source is: instances of the source's rewrite rules, by which alternatives of choices are equal.
// Each is an operation of its main graph: a choice between the rule's pattern and its replacement. `is_legal`: that the reads
// of the source lie inside, and that it writes every cell once, has been proved by the compiler that made it. `runs`: the last program runs
// as it stands; else what its devices lack is still to be moved.
Verdict check(const ir::Certificate& certificate, const std::vector<HashedStage>& stages,
              const ir::Program* rules = nullptr, bool is_legal = false, bool runs = true);

// Of a program that no step made, and that is well formed.
void check_source(const ir::Program& program, bool is_legal, Verdict& verdict);

// What no step has derived: the rules, and the alternatives of choices that the source has itself, by name.
struct Believed {
  const ir::Program* rules = nullptr;
  std::set<std::string> alternatives = {};
};
// The claims of one step alone.
void check_step(const ir::Program& before, const ir::Program& after, const ir::Step& step, const std::string& where,
                Verdict& verdict, const Believed& believed = {});
// Of the last program, which is what runs: what each device reads is there.
void check_held(const ir::Program& program, Verdict& verdict);
}  // namespace tap::check
