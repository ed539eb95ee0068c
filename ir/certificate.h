// Certificates: the claims of each step from the source graph to the schedule, in a form that can be checked without
// the step. A step's claims relate the program it made (`after`) to its input (`before`): which values correspond,
// and why every operation computes the right result. check/ trusts none of it.
//
//   step compose_maps  before 4f2a… after 91c0…
//     graph 0 of 0
//       value 0 is 0      value 1 is 2
//       operation 0 composed from 1, read 0 by 0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::ir {

// One step of a path into inner graphs: an operation with a region; for a choice, also which of its graphs (0 is the
// first).
struct PathStep {
  OperationId operation;
  std::uint32_t alternative = 0;

  PathStep() = default;
  PathStep(OperationId operation, std::uint32_t alternative = 0) : operation(operation), alternative(alternative) {}
  bool operator==(const PathStep&) const = default;
};
using Path = std::vector<PathStep>;

// A value or an operation of a graph of `before`; `path` leads through the regions of operations into inner graphs. In
// the body of an unrolled iterate, `step` is the trip of the innermost iterate on the path.
struct ValueRef {
  Path path = {};
  ValueId value = {};
  std::optional<std::int64_t> step = {};
  bool operator==(const ValueRef&) const = default;
};
struct OperationRef {
  Path path = {};
  OperationId operation = {};
  bool operator==(const OperationRef&) const = default;
};

// The same operator on corresponding values. If it has a region, the region's graph has its own claims.
struct Copied {
  OperationRef from;
  bool operator==(const Copied&) const = default;
};

// Like Copied, except for its cells (and the accesses and operands that only they needed), which are equal by these
// uses of axioms: `variables` are the terms that the axiom's variables stand for, in the order of first occurrence in
// its text. The leaves of `terms`, reads and index dims, are numbered as in `from`. check/axioms.def has the axioms.
struct AxiomUse {
  std::string axiom;  // its line of algebra: a * 1 = a
  std::vector<CellId> variables;
  bool operator==(const AxiomUse&) const = default;
};
struct Simplified {
  OperationRef from;
  CellExprs terms;
  std::vector<AxiomUse> uses;
  bool operator==(const Simplified&) const = default;
};

// `consumer`, in which some reads are replaced by the maps that compute what they read. Reads of these maps may be
// replaced, too.
struct ComposedRead {
  std::uint32_t read = 0;  // of the operator that reads
  OperationRef producer;
  std::vector<ComposedRead> reads = {};  // of the producer's operator
  bool operator==(const ComposedRead&) const = default;
};
struct Composed {
  OperationRef consumer;
  std::vector<ComposedRead> reads;
  bool operator==(const Composed&) const = default;
};

// `from` with additional dims, which number blocks of its dims, and with additional blockings; nothing else differs.
struct BlockedFrom {
  OperationRef from;
  bool operator==(const BlockedFrom&) const = default;
};

// The partials of the reduction `of`, one for each block of `dim`, numbered by `block_dim`, which is the first axis of
// every result (the last, for an outside kernel); and the operation that combines what `partial` (an operation of
// `after`) wrote.
struct PartialOf {
  OperationRef of;
  std::uint32_t dim = 0;
  std::uint32_t block_dim = 0;
  bool operator==(const PartialOf&) const = default;
};
struct CombinationOf {
  OperationRef of;
  OperationId partial;
  bool operator==(const CombinationOf&) const = default;
};

// A split scan  y[i] = sum[k] f(k) where k <= i  in the same blocks of i and k, numbered by r:
//   l[i] = sum[k] f(k) where k <= i, within i's block     the local scan
//   t[r] = sum[k in block r] f(k)                         the totals of the blocks
//   c[r] = sum[q] t[q] where q < r                        the total before each block: the carry
//   y[i] = c[r] + l[i]                                    the carried scan
// All four are new operations of `after`; the first three write values of the monoid's component types.
struct LocalScanOf {
  OperationRef of;
  bool operator==(const LocalScanOf&) const = default;
};
struct TotalsOf {
  OperationRef of;
  bool operator==(const TotalsOf&) const = default;
};
struct CarryOf {
  OperationRef of;
  OperationId totals;
  bool operator==(const CarryOf&) const = default;
};
struct CarriedScanOf {
  OperationRef of;
  OperationId carry, local;
  bool operator==(const CarriedScanOf&) const = default;
};

// A group: operation k of its inner graph is from[k] of the enclosing graph. Those after them copy whole values.
struct GroupOf {
  std::vector<OperationRef> from;
  bool operator==(const GroupOf&) const = default;
};

// A choice whose first graph holds these operations. Each other graph has its own claim (AlternativeClaim). A step that
// picks one claims its operations as copied, by paths through the choice.
struct OfferedFor {
  std::vector<OperationRef> from;
  bool operator==(const OfferedFor&) const = default;
};

// One trip of an unrolled iterate: `from`, an operation of the body, in trip `step`, which is the value of its counter.
// In a claim for several trips, `step` counts from 0. If only the first trips are unrolled, the results are the body's
// input in the next trip.
struct TripOf {
  OperationRef from;
  std::int64_t step = 0;
  bool operator==(const TripOf&) const = default;
};

// A copy of its operand, cell for cell: it writes the value that it reads.
struct TransferOf {
  bool operator==(const TransferOf&) const = default;
};

// A map that replaces a reduction of at most one point per cell: its value is combine(identity, operand) with each
// reduced dim at its only value, or the identity where a reduced dim has an empty range.
struct PointOf {
  OperationRef of;
  bool operator==(const PointOf&) const = default;
};

// A reduction in blocks of `size` points of its dim `dim`, each block folded by the monoid's `fold`, and their combination:
//   m[r, i]     = max[j] t[i, 64 r + j]                 a part: it writes a new value
//   e[r, i, j]  = exp(t[i, 64 r + j] - m[r, i])         likewise
//   y[i, …]     = online[r] (m[r, i], …)                the combination, which writes what `of` writes
struct FoldOf {
  OperationRef of;
  std::uint32_t dim = 0;
  std::int64_t size = 1;
  bool operator==(const FoldOf&) const = default;
};

// `of`, with a separate cell for what each point writes; and the map that copies it to where `of` writes it.
//   p[i, r] = f(i, r)          y[2 i + r] = p[i, r]
struct StagedOf {
  OperationRef of;
  bool operator==(const StagedOf&) const = default;
};
struct PlacedFrom {
  OperationRef of;
  OperationId staged;
  bool operator==(const PlacedFrom&) const = default;
};

// One step of a product ⊕ of a ⊗ b ⊗ c … that is computed a few factors at a time (`of`: the original product): dim d
// is dims[d] there. A step that writes a new value reduces over the dims that no other factor and no result needs:
//   t[i, k] = sum[j] a[i, j] * b[j, k]       new, dims (0, 3, 2)
//   y[i, l] = sum[k] t[i, k] * c[k, l]       what `of` writes, dims (0, 1, 3)
struct ProductOf {
  OperationRef of;
  std::vector<std::uint32_t> dims;
  bool operator==(const ProductOf&) const = default;
};

// `from`, an operation of a rule's pattern, with its dims in a different order: dim d is dims[d] there.
struct Reordered {
  OperationRef from;
  std::vector<std::uint32_t> dims;
  bool operator==(const Reordered&) const = default;
};

// A map that copies its whole operand: it writes the value that it reads.
struct WholeCopy {
  bool operator==(const WholeCopy&) const = default;
};

using Justification = std::variant<Copied, Simplified, Composed, BlockedFrom, PartialOf, CombinationOf, LocalScanOf,
                                   TotalsOf, CarryOf, CarriedScanOf, GroupOf, OfferedFor, TripOf, TransferOf, PointOf,
                                   FoldOf, StagedOf, PlacedFrom, ProductOf, Reordered, WholeCopy>;

// Two operations of `before` that compute the same from the same operands: their results are one value.
struct EqualOperations {
  OperationRef kept, other;
  bool operator==(const EqualOperations&) const = default;
};

// A graph of `after` and the graph of `before` that it is equal to: the main graphs of the programs, and the inner
// graphs of every copied operation. With `steps`, `before` is the body of an iterate and `after` does that many of its
// trips; trip s of them has the counter  steps * c + first + s, where c is the counter of `after`.
struct GraphClaim {
  GraphId after, before;
  std::vector<std::optional<ValueRef>> values;  // by value of `after`: what it is; none: a new one
  std::vector<Justification> operations;        // by operation of `after`
  std::vector<EqualOperations> equal;           // each follows from the previous ones
  std::vector<OperationRef> copies = {};        // maps of `before` that copy their whole operand: both are one value
  std::int64_t steps = 1;
  std::int64_t first = 0;
  bool operator==(const GraphClaim&) const = default;
};

// For an alternative by a rule: the rule's instance, which is operation `instance` of the rules' main graph, a choice
// between the pattern and the replacement. `pattern` claims that the choice's first graph equals the pattern.
struct RuleUse {
  std::uint32_t instance = 0;
  std::vector<std::uint32_t> inputs;   // by variable of the rule: the input of the choice's graphs that it stands for
  std::vector<std::uint32_t> outputs;  // by output of the choice's graphs: that of the rule's sides
  GraphClaim pattern;
  bool operator==(const RuleUse&) const = default;
};
// An alternative that a step offers, as graph `claim.after`. If it is derived, `claim.before` is the choice's first
// graph, also of `after`; if it follows from a rule, `claim.before` is the replacement in the rules.
struct AlternativeClaim {
  GraphClaim claim;
  std::optional<RuleUse> rule = {};
  bool operator==(const AlternativeClaim&) const = default;
};
// The suffix of an alternative's name that lists what it assumes:  …, assuming that values are finite
inline constexpr std::string_view assuming = ", assuming that ";

// What a step made, and so what it claims. program: its graphs, by GraphClaim. blocks: the block graphs of a program,
// whose tasks compute its graphs. schedule: the schedule of a program and its block graphs. The latter two list
// everything, down to the box of each task, so they need no further claims.
enum class StageKind : std::uint8_t { program, blocks, schedule };

struct Step {
  std::string pass;
  std::string before, after;  // hashes of the stages' text
  std::vector<GraphClaim> graphs;
  StageKind made = StageKind::program;
  std::vector<AlternativeClaim> alternatives = {};  // of new choices
  bool operator==(const Step&) const = default;
};

struct Certificate {
  std::vector<Step> steps;
  bool operator==(const Certificate&) const = default;
};

}  // namespace tap::ir
