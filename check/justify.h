// One operation of `after` and why it computes what it should: what each kind of justification obliges to.
#pragma once

#include <deque>

#include "check/match.h"

namespace tap::check {

// The graphs that are claimed to compute the same, of one step; and what was assumed on the way. Where nothing is claimed of
// two graphs, the claim is that each operation was copied; it is checked like any other.
struct Context {
  const ir::Program& before;
  const ir::Program& after;
  std::deque<ir::GraphClaim> claims;  // it grows while they are checked
  std::vector<std::pair<Obligation, std::string>> assumed = {};

  // Null if there is none, and cannot be.
  const ir::GraphClaim* claim_of(ir::GraphId now, ir::GraphId was);
};

// What an operation of `after` writes, by result: cells of a value of before as those operations write it; or, without any,
// a value that nobody had before.
using StandsFor = std::vector<ir::OperationRef>;

class Justify {
 public:
  Justify(Context& context, Places& places, const ir::GraphClaim& claim, const std::vector<Class>& classes);

  // Throws Refusal. Gives the obligation that was discharged, and whose results these are.
  std::pair<Obligation, StandsFor> operation(ir::OperationId id);

 private:
  using Result = std::pair<Obligation, StandsFor>;
  Result justify(const ir::Copied& j);
  Result justify(const ir::Simplified& j);
  Result justify(const ir::Composed& j);
  Result justify(const ir::BlockedFrom& j);
  Result justify(const ir::PartialOf& j);
  Result justify(const ir::CombinationOf& j);
  Result justify(const ir::GroupOf& j);
  Result justify(const ir::OfferedFor& j);
  Result justify(const ir::StepOf& j);
  Result justify(const ir::TransferOf& j);
  Result justify(const ir::PointOf& j);
  Result justify(const ir::LocalScanOf& j);
  Result justify(const ir::TotalsOf& j);
  Result justify(const ir::CarryOf& j);
  Result justify(const ir::CarriedScanOf& j);
  Result justify(const ir::FoldOf&) { throw Refusal{Obligation::fold, "there is no rule for this justification"}; }

  Obligation same_operation(const Side& after, const Side& before);
  void same_region(const Side& after, const Side& before);
  Obligation same_repetition(const Side& after, const Side& before, const ir::OperationRef& from);
  void holds(const std::vector<ir::OperationRef>& from, Obligation obligation);
  void composed(Match& match, Cells& into, const Side& reader, const ir::ComposedRead& read, const ir::Path& path);
  void laws(const ir::Monoid& monoid, bool in_any_order);
  void new_block(const ir::Operator& op, const ir::Blocking& blocking, std::size_t among, std::size_t cuts = 1) const;
  void components(const ir::Operator& of, const ir::Monoid& monoid) const;
  Side after_side(ir::OperationId id) const;

  Context& context_;
  Places& places_;
  const ir::GraphClaim& claim_;
  const std::vector<Class>& classes_;  // by value of after's graph
  Side side_ = {};                     // of the operation at hand
};

// combine(earlier, later), by component.
std::vector<Term> combined(Terms& terms, const ir::Monoid& monoid, const std::vector<Term>& earlier,
                           const std::vector<Term>& later);
void check_group(const ir::Program& program, const ir::Operator& op);  // the regions of a group

}  // namespace tap::check
