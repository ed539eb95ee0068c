// Parses a plan, without the locations of its parts (ir/text/plan_text.h):  parse_plan(print(p)) == p
#pragma once

#include "ir/text/plan_text.h"

namespace tap::ir {

inline std::variant<Plan, TextError> parse_plan(std::string_view text) {
  auto parsed = parse_plan_text(text);
  if (auto* mistake = std::get_if<PlanMistake>(&parsed)) return TextError(std::move(*mistake));
  return std::move(std::get<PlanText>(parsed).plan);
}

}  // namespace tap::ir
