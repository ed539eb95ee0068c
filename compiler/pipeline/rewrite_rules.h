// The rewrites of a text and of the libraries that it uses, for the passes that offer and pick them. They are parsed
// on first use.
#pragma once

#include <optional>

#include "compiler/frontend/rewrites/rule_source.h"
#include "compiler/pipeline/front.h"
#include "ir/plan.h"
#include "passes/rewrites/rules.h"

namespace tap::pipeline {

class RewriteRules {
 public:
  // Pre: the text was built without errors, or is a stage, which has no rewrites.
  explicit RewriteRules(const Text& text) : text_(text) {}
  RewriteRules(const RewriteRules&) = delete;

  const passes::RuleSet* all();  // null for a stage
  // Null if neither the plan nor the plan to start from chooses anything.
  const passes::RuleSet* chosen_from(const ir::Plan& plan, const ir::Plan& start = {});

 private:
  Text text_;
  std::optional<RuleSource> source_;
  passes::RuleSet rules_;
};

}  // namespace tap::pipeline
