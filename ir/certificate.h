// Certificates: what each step of the way from the source graph to the schedule claims, in terms that can be checked without
// the step. A step's claims tie the program it made (`after`) to the one it was given (`before`): which value is which, and
// for every operation why it computes what it should. check/ believes none of it.
//
//   step compose_maps  before 4f2a… after 91c0…
//     graph 0 of 0
//       value 0 is 0      value 1 is 2
//       operation 0 composed from 1, read 0 by 0
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/graph.h"

namespace tap::ir {

// A value or an operation of a graph of `before`; `path` leads through the regions of operations into inner graphs.
struct ValueRef {
  std::vector<OperationId> path = {};
  ValueId value = {};
  bool operator==(const ValueRef&) const = default;
};
struct OperationRef {
  std::vector<OperationId> path = {};
  OperationId operation = {};
  bool operator==(const OperationRef&) const = default;
};

// The same operator on corresponding values (also of a region, whose graph has claims of its own).
struct Copied {
  OperationRef from;
  bool operator==(const Copied&) const = default;
};

// Like the former save for its cells, which are equal by these uses of axioms: `variables` are the terms that the axiom's
// variables stand for, in the order in which they first occur in its text.
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

// `consumer` with what it reads by some accesses replaced by the map that computes it.
struct ComposedRead {
  std::uint32_t read = 0;  // of the consumer's operator
  OperationRef producer;
  bool operator==(const ComposedRead&) const = default;
};
struct Composed {
  OperationRef consumer;
  std::vector<ComposedRead> reads;
  bool operator==(const Composed&) const = default;
};

// `from` with dims appended that number blocks of its dims, and more blockings; nothing else differs.
struct BlockedFrom {
  OperationRef from;
  bool operator==(const BlockedFrom&) const = default;
};

// Partials of the reduction `of`, one for each block of `dim` (numbered by `block_dim`, the first axis of every result);
// and the operation that combines the partials that `partial` (an operation of `after`) wrote.
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

// A cut scan: the scan of each block alone; and what is combined of the blocks before (`totals`, partials of the blocks,
// and `carry`, their exclusive scan) with it.
struct LocalScanOf {
  OperationRef of;
  bool operator==(const LocalScanOf&) const = default;
};
struct CarriedScanOf {
  OperationRef of;
  OperationId totals, carry, local;
  bool operator==(const CarriedScanOf&) const = default;
};

// A group: operation k of its inner graph is from[k] of the graph around it.
struct GroupOf {
  std::vector<OperationRef> from;
  bool operator==(const GroupOf&) const = default;
};

// The operation of the chosen alternative's graph (a path through the choice) stands for the choice.
struct
    OfferedFor {  // a choice whose first graph holds these operations, the others by a rule that was tried, or proved
  std::vector<OperationRef> from;
  bool operator==(const OfferedFor&) const = default;
};

// Step `step` of a repetition, written out: the operation is `from`, of the body, with that number for its counter.
struct StepOf {
  OperationRef from;
  std::int64_t step = 0;
  bool operator==(const StepOf&) const = default;
};

// A copy of its operand, cell for cell.
struct TransferOf {
  bool operator==(const TransferOf&) const = default;
};

// A reduction by a monoid's `fold`: these operations of `after` compute what the fold says of `of`.
struct FoldOf {
  OperationRef of;
  bool operator==(const FoldOf&) const = default;
};

using Justification = std::variant<Copied, Simplified, Composed, BlockedFrom, PartialOf, CombinationOf, LocalScanOf,
                                   CarriedScanOf, GroupOf, OfferedFor, StepOf, TransferOf, FoldOf>;

// Two operations of `before` that compute the same from the same: their results are one.
struct EqualOperations {
  OperationRef kept, other;
  bool operator==(const EqualOperations&) const = default;
};

struct GraphClaim {
  GraphId after, before;
  std::vector<std::optional<ValueRef>> values;  // by value of `after`: what it is; none: a new one
  std::vector<Justification> operations;        // by operation of `after`
  std::vector<EqualOperations> equal;           // in an order in which each follows from the ones before
  bool operator==(const GraphClaim&) const = default;
};

struct Step {
  std::string pass;
  std::string before, after;  // hashes of the programs' text
  std::vector<GraphClaim> graphs;
  bool operator==(const Step&) const = default;
};

struct Certificate {
  std::vector<Step> steps;
  bool operator==(const Certificate&) const = default;
};

}  // namespace tap::ir
