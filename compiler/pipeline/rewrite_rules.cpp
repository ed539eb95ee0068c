#include "compiler/pipeline/rewrite_rules.h"

#include <algorithm>
#include <variant>

namespace tap::pipeline {

const passes::RuleSet* RewriteRules::all() {
  if (is_stage(text_.sources->file(text_.file).text())) return nullptr;
  if (source_) return &rules_;
  source_.emplace(*text_.sources, text_.file, text_.how);
  auto piece = [](std::optional<RuleAtTypes> rule) -> std::optional<passes::RulePiece> {
    if (!rule) return std::nullopt;
    return passes::RulePiece{std::move(rule->program), rule->instance.pattern, rule->instance.replacement, rule->holds,
                             std::move(rule->guard)};
  };
  rules_.texts = source_->texts();
  rules_.sample = [this, piece](std::size_t rule) { return piece(source_->sample(rule)); };
  rules_.instantiate = [this, piece](std::size_t rule, const auto& types) { return piece(source_->at(rule, types)); };
  return &rules_;
}

const passes::RuleSet* RewriteRules::chosen_from(const ir::Plan& plan, const ir::Plan& start) {
  auto chooses = [](const ir::Decision& d) { return std::holds_alternative<ir::PlannedChoice>(d); };
  return std::ranges::any_of(plan.decisions, chooses) || std::ranges::any_of(start.decisions, chooses) ? all()
                                                                                                       : nullptr;
}

}  // namespace tap::pipeline
