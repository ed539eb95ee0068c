// A plan with the source positions of its text, so that errors are shown at their location.
//
//   plan 2
//   split H dim k into 4 over mesh.model      operation H at 13..14, dim k at 19..20, blocks, place
//
// A split may also be written as in a program: `split H on k into [0..2, 2..8] over model`.
#pragma once

#include <optional>

#include "ir/plan.h"

namespace tap::ir {

enum class PlanPart : std::uint8_t { whole, operation, dim, number, placement, tree };

struct TextPart {  // bytes begin … end - 1 of the text
  PlanPart part = PlanPart::whole;
  std::string name;  // of an operation or a dim
  std::size_t begin = 0, end = 0;
  bool operator==(const TextPart&) const = default;
};

struct PlanText {
  Plan plan;
  std::vector<std::vector<TextPart>> parts;  // of each decision; the first is the whole decision
};

struct PlanMistake : TextError {
  std::string help;  // the corrected line; empty if it is unknown
};
std::variant<PlanText, PlanMistake> parse_plan_text(std::string_view text);

// `on axis 0` names a dim by the axis of the value that it indexes; the dim's name is then `axis 0`. Nothing for other
// names.
std::optional<std::uint32_t> axis_of_dim(std::string_view dim);

// One decision as its line: fuse a, b over i
std::string decision_text(const Decision& decision);

inline constexpr std::uint32_t max_planned_axis = 1 << 20;

// The length of the name at the start of the text, if it needs no quotes: H, H.m, u/v2, Y@1, H#7, #2. A `//` is a
// comment.
std::size_t plain_length(std::string_view text);

// "`nowhere` is no place for blocks; they go over …"
std::string invalid_placement(std::string_view word);

// This part of the decision, with this name if one is given; the whole decision if there is no such part.
const TextPart& part_of(const std::vector<TextPart>& parts, PlanPart part, std::string_view name);

}  // namespace tap::ir
