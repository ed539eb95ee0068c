// How devices combine partials of which all need the result.
//
//   by slices     each device combines a slice of all partials, and the slices are gathered: two rounds, in which a device
//                 receives n−1 slices each
//   in rounds     groups of 2 or 3 devices give each other all that they have, and combine it in order; 8 devices take
//                 three rounds with one message each (recursive doubling), 2 and 3 devices one round
//
//   p[r] on device r, y = sum[r] p[r], four devices      p2[s] = sum[r in pair s] p[r] on both devices of the pair; y = sum[s] p2[s]
//
// Rounds send fewer messages, slices less bytes: results of a few KiB are combined in rounds. One round combines in the order
// of the blocks, as slices do; several rounds combine pairs first. So they are for combinations that do not round, and for
// others with --fast-reduce.
#pragma once

#include <vector>

#include "passes/caution.h"
#include "passes/shardings/explicit_reshards.h"

namespace tap::passes {

// The size of the groups of each round; none: by slices. `bytes`: of the result on one device.
using Rounds = std::vector<std::int64_t>;
Rounds rounds_of_all_reduce(std::int64_t devices, double bytes, bool in_order);
// How often a device receives the result's size.
std::int64_t messages_of(const Rounds& rounds);

// Whether partials of such elements may be combined in groups: that the monoid is associative suffices, as groups keep the
// order of the blocks.
bool combines_in_groups(const ir::Program& program, const std::string& monoid, ElementType element,
                        const Caution& caution);

// Whether devices need the value: not a result of the program that no operation reads, of which each keeps what it combined.
bool is_needed_again(const ir::Program& program, const ir::Graph& graph, ir::ValueId value);

// Of the partials along an axis at a site of the graph. None where the result is not needed again.
Rounds rounds_of_site(const ir::Program& program, const ir::Graph& graph, const SiteShardings& site,
                      const ir::AxisRef& over, const Caution& caution);

// Where each block of a reduction has one point, as in `y[j] = sum[d] x[d, j]` with a device for each d, its partials are
// what it reads: each device reduces its slice of that, unless operands of several times the size would move.
bool is_combined_at_once(const ir::Operator& op, const SiteShardings& site, const ir::Mesh& mesh,
                         const ir::AxisRef& over);

}  // namespace tap::passes
