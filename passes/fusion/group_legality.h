// Legality of an anchored group: each of its points computes exactly what is demanded.
#pragma once

#include <string>

#include "ir/graphs/demand.h"
#include "passes/caution.h"

namespace tap::passes {

// Why it does not. If `dim` is set, the group might be legal without that dim.
struct Refusal {
  std::string reason;
  std::optional<std::uint32_t> dim = {};
};

// A streamed reduction (its loop is one of the group's) has no value until the loop ends, so no inner operation may
// read it. Its blocks come in order, so it must be the outermost reduction dim, or its monoid must commute. Each block
// is combined with the previous ones, so the monoid's laws must hold.
std::optional<Refusal> why_not_streamed(const ir::GroupView& group, const Caution& caution);

// Each point of the group must write its own region, without holes, and compute no other cell of a result.
std::optional<Refusal> why_not_writable_by_points(const ir::GroupView& group, const ir::MovingDemand& windows);

// An inner reduction that does not depend on a dim of the group would be repeated at each point of that dim, if its
// readers need its finished value inside that loop.
std::optional<Refusal> why_not_once(const ir::GroupView& group, const ir::MovingDemand& windows);

// Whether the operation writes a result of the group.
bool writes_result(const ir::Graph& inner, std::size_t operation);

}  // namespace tap::passes
