// Legality of an anchored group: each of its points computes exactly what is demanded.
#pragma once

#include <string>

#include "ir/graphs/demand.h"
#include "passes/caution.h"

namespace tap::passes {

// Why it does not. If that is for a dim of the group, without it it might.
struct Refusal {
  std::string reason;
  std::optional<std::uint32_t> dim = {};
};

// A reduction whose loop is one of the group's (streamed) has no value before its end: no operation inside reads it. Its blocks come
// one after another, so that it is the outermost one, or its monoid commutes; and what came before is combined with each, so
// that its laws must hold.
std::optional<Refusal> why_not_streamed(const ir::GroupView& group, const Caution& caution);

// Each point of the group writes a region of its own, without holes, and computes no other cell of a result.
std::optional<Refusal> why_not_writable_by_points(const ir::GroupView& group, const ir::MovingDemand& windows);

// A reduction inside that a dim of the group leaves as it is would be done again at each of that dim's points: who reads it
// there needs its finished value inside that loop.
std::optional<Refusal> why_not_once(const ir::GroupView& group, const ir::MovingDemand& windows);

// Whether the operation writes a result of the group.
bool writes_result(const ir::Graph& inner, std::size_t operation);

}  // namespace tap::passes
