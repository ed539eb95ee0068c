// Checks one operation of `after` against its justification: each kind of justification has its own obligations.
#pragma once

#include <deque>

#include "check/check.h"
#include "check/match.h"

namespace tap::check {

// Assumptions, with their obligations.
using Assumptions = std::vector<std::pair<Obligation, std::string>>;
// Assumed by a product or a fold that relies on a * (b + c) = a * b + a * c: 0 * inf is NaN, and -1 * (1 - 1) is -0,
// but -1 * 1 + -1 * -1 is 0.
inline constexpr const char* distributing_floats = "values are finite and the sign of a zero does not matter";

// The pairs of graphs that one step claims to be equal, and the assumptions so far. Without a claim for two graphs, the
// claim is that each operation was copied; it is checked like any other.
struct Context {
  const ir::Program& before;
  const ir::Program& after;
  std::deque<ir::GraphClaim> claims;  // grows during the check
  Assumptions assumed = {};
  // For a step that offers alternatives: the claim for each, by its graph, and the rules.
  std::map<ir::GraphId, const ir::AlternativeClaim*> alternatives = {};
  const Believed* believed = nullptr;
  // For an alternative, or the graph that a rule replaces: the rule, and whether `before` is the rule's pattern.
  bool offered = false, pattern = false;
  const ir::RuleUse* rule = nullptr;

  // Null if no claim exists or can be made.
  const ir::GraphClaim* claim_of(ir::GraphId now, ir::GraphId was);
};

// What an operation of `after` writes, by result: cells of a value of `before`, as those operations write it; if there
// are none, a new value.
using Origins = std::vector<ir::OperationRef>;

// Requires a monoid to be associative, to have its identity, and to commute if it is combined in any order
// (blocks.cpp).
void require_laws(const ir::Monoid& monoid, bool in_any_order, bool folded, Assumptions& assumed);

class Justify {
 public:
  Justify(Context& context, ValueNumbering& numbering, const ir::GraphClaim& claim, const std::vector<Class>& classes)
      : context_(context), numbering_(numbering), claim_(claim), classes_(classes) {}

  // Throws Refusal. Returns the discharged obligation, and the operations of `before` whose results these are.
  std::pair<Obligation, Origins> operation(ir::OperationId id);

 private:
  using Result = std::pair<Obligation, Origins>;
  // Each is in the file for its subject.
  Result justify(const ir::Copied&j), justify(const ir::Simplified&j), justify(const ir::Composed&j),
      justify(const ir::BlockedFrom&j), justify(const ir::PartialOf&j), justify(const ir::CombinationOf&j),
      justify(const ir::PointOf&j), justify(const ir::FoldOf&j), justify(const ir::LocalScanOf&j),
      justify(const ir::TotalsOf&j), justify(const ir::CarryOf&j), justify(const ir::CarriedScanOf&j),
      justify(const ir::TripOf&j), justify(const ir::GroupOf&j), justify(const ir::OfferedFor&j),
      justify(const ir::TransferOf&j), justify(const ir::StagedOf&j), justify(const ir::PlacedFrom&j),
      justify(const ir::ProductOf&j), justify(const ir::Reordered&j), justify(const ir::WholeCopy&j);
  // justify.cpp
  void same_operation(const Side& after, const Side& before);
  void same_region(const Side& after, const Side& before);
  Side after_side(ir::OperationId id) const;
  // compose.cpp
  void composed(Match& match, Cells& into, const Side& reader, const std::vector<ir::ComposedRead>& reads,
                const ir::Path& path);
  void composed(Match& match, Cells& into, const Side& reader, const ir::ComposedRead& read, const ir::Path& path);
  // blocks.cpp
  const ir::Monoid& monoid(const ir::Operator& reduction) const {
    const ir::KernelBody* kernel = reduction.kernel();
    return context_.before[kernel ? *kernel->reduced_by : reduction.reduce()->monoid];
  }
  void laws(const ir::Monoid& monoid, bool in_any_order, bool folded = false);
  // Turns the form's writes into writes of partials: they have the component types, no axis along a removed dim, and
  // the block number as their first axis. An outside kernel's partials have the result's own type, and the block number
  // as their last axis. Unless `old`, the partials must be new values.
  void parts(const Match& match, Form& form, const Side& of, std::optional<std::uint32_t> along,
             std::optional<std::uint32_t> block, bool old = false) const;
  void combines_kernel(const Side& before, const Side& partial, const ir::CombinationOf& j) const;
  template <class J>
  std::pair<const J*, Side> part(ir::OperationId id, const ir::OperationRef& of, Obligation obligation) const;
  // alternatives.cpp
  void alternative(const ir::RegionBody& choice, const ir::Alternative& alternative);
  // iterates.cpp
  void same_iterate(const Side& before, const ir::OperationRef& from);
  // regions.cpp
  void check_region(ir::RegionKind kind, const std::vector<ir::OperationRef>& from, Obligation obligation);

  Context& context_;
  ValueNumbering& numbering_;
  const ir::GraphClaim& claim_;
  const std::vector<Class>& classes_;  // by value of after's graph
  Side side_ = {};                     // of the current operation
  Uses readers_ = {};                  // in after's graph, once it has a transfer
};

// Checks every claimed graph, operation by operation (step.cpp).
void check_graphs(Context& context, const std::string& where, Verdict& verdict);
// Each new blocking of an operator, from number `from` on, splits `cuts` dims by a new block dim into blocks that tile
// them.
void check_blocks(const ir::Operator& op, std::size_t from, std::size_t splits = 1);
inline bool is_on_devices(const ir::BlockPlacement& p) { return p.axis || !p.devices.empty(); }
void check_placements(const ir::Program& program, const ir::Operation& operation);
// The number of the block that the device has in a list, or -1; a device has at most one block of each list.
std::int64_t listed_at(const ir::DeviceSets& lists, std::int64_t device);
// Checks the regions of a group, and the order in which it combines what it streams (streams.cpp).
void check_group(const ir::Program& program, const ir::Operator& op, Assumptions& assumed);
void check_streams(const ir::Program& program, const ir::Operator& group, Assumptions& assumed);
// Checks that a map writes the cells of an operand where it reads them, and all of them; returns which (alternatives.cpp).
std::uint32_t check_copy(const ir::Operator& op, Obligation obligation);
std::uint32_t check_whole_copy(const ir::Operator& op, Obligation obligation);
// Checks that a transfer moves all that its readers read (regions.cpp); `readers`: of all values of the graph.
void check_moved(const ir::Program& program, const ir::Graph& graph, const Uses& readers, const ir::Operation& moves);
// Checks that every value is written before it is read, and that no input is written (step.cpp).
void check_data_flow(const ir::Graph& graph);
// Checks that the writers of a value correspond to all the writers of one value of `before`, each once. A new value has
// one writer, which must cover it.
void check_writes(const ir::Graph& graph, const ValueNumbering& numbering, const std::vector<Origins>& origins);

template <class J>
std::pair<const J*, Side> Justify::part(ir::OperationId id, const ir::OperationRef& of, Obligation obligation) const {
  const auto& all = claim_.operations;
  const J* claim = id.index() < all.size() ? std::get_if<J>(&all[id.index()]) : nullptr;
  expect(obligation, claim && claim->of == of, "operation {} is not the expected part of the split", id.index());
  return {claim, after_side(id)};
}

}  // namespace tap::check
