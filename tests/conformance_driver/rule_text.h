// Sharding rules as text, and operations that are given by such a rule alone.
//
//   ([ij, k], [ij, k])->([ij, k]) {i=4, j=2, k=8} reduction={j}, custom
#pragma once

#include <map>

#include "tests/conformance_driver/op_text.h"

namespace tap::conformance {

using RuleAxes = std::vector<std::vector<std::string>>;  // by axis: factors, major to minor
struct Rule {
  std::vector<RuleAxes> operands, results;
  std::map<std::string, std::int64_t> sizes;
  std::map<std::string, std::vector<std::string>> sets;  // reduction, need_replication, permutation
};
// Throws Untranslatable.
Rule parse_rule(const std::string& text);

// The rule's factors make up the shapes.
bool rule_fits(const CaseOp& op);
// Of one result: an equation that reads and writes as the rule says; of several, where something must not be split, or where
// there is no rule: an operator with an outside kernel.
void write_by_rule(const CaseOp& op, TapLines& lines);

}  // namespace tap::conformance
