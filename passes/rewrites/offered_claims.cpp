#include "passes/rewrites/offered_claims.h"

#include <algorithm>

#include "passes/rewrites/match_rules.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;

const RuleBook::Instance& RuleBook::instance(const std::shared_ptr<const RulePiece>& piece, const std::string& rule) {
  auto [known, fresh] = known_.try_emplace(piece);
  if (!fresh) return known->second;
  const Program& from = piece->program;
  known->second = {static_cast<std::uint32_t>(main_.operations.size()), adder_.import(from, piece->pattern),
                   adder_.import(from, piece->replacement)};
  const Graph& pattern = from[piece->pattern];
  Operator op;
  op.name = "rule";
  Operation operation;
  auto add = [this](const TensorType& type) {
    main_.values.push_back({"v" + std::to_string(main_.values.size()), type});
    return ValueId(main_.values.size() - 1);
  };
  for (ValueId v : pattern.inputs) {
    op.operands.push_back(pattern[v].type);
    operation.operands.push_back(add(pattern[v].type));
  }
  for (ValueId v : pattern.outputs) {
    op.results.push_back(pattern[v].type);
    operation.results.push_back(add(pattern[v].type));
  }
  main_.inputs.insert(main_.inputs.end(), operation.operands.begin(), operation.operands.end());
  main_.outputs.insert(main_.outputs.end(), operation.results.begin(), operation.results.end());
  op.body = RegionBody{RegionKind::choice, known->second.pattern, {}, {}, {{known->second.replacement, rule}}};
  operation.op = adder_.add(std::move(op));
  main_.operations.push_back(std::move(operation));
  return known->second;
}

std::optional<Program> RuleBook::take() {
  if (known_.empty()) return std::nullopt;
  main_.name = "rules";
  program_.graphs = adder_.take();
  program_.main = GraphId(program_.graphs.size());
  program_.graphs.push_back(std::move(main_));
  return std::move(program_);
}

namespace {

std::uint32_t index_in(const std::vector<ValueId>& list, ValueId value) {
  return static_cast<std::uint32_t>(std::find(list.begin(), list.end(), value) - list.begin());
}

// Inputs correspond, and the last operation writes the result of the replaced operation.
GraphClaim claim_by_derivation(const Replaced& replaced, const GraphAdder::Added& added, const Graph& made) {
  GraphClaim claim{added.graph, replaced.id, {}, {}, {}};
  claim.values.resize(made.values.size());
  auto is = [&](const std::vector<ValueId>& own, const std::vector<ValueId>& were) {
    for (std::size_t k = 0; k < own.size(); ++k) claim.values[own[k].index()] = ValueRef{{}, were.at(k), {}};
  };
  is(made.inputs, replaced.graph.inputs);
  is(made.operations.back().results, replaced.graph.operations.at(0).results);
  for (const auto& operation : added.operations) {
    TAP_CHECK(operation, "a derivation copies a value");
    claim.operations.push_back(replaced.offer.why.at(operation->index()));
  }
  return claim;
}

// The original, as an instance of the rule's pattern.
GraphClaim claim_of_pattern(const Replaced& replaced, const Match& match, GraphId pattern) {
  std::map<ValueId, ValueId> in_pattern;  // the graph's values
  for (std::size_t v = match.values.size(); v-- > 0;)
    if (match.values[v].valid()) in_pattern[match.values[v]] = ValueId(v);
  GraphClaim claim{replaced.id, pattern, {}, {}, {}};
  claim.values.resize(replaced.graph.values.size());
  auto is = [&](ValueId own, ValueId around) {
    if (auto known = in_pattern.find(around); known != in_pattern.end())
      claim.values[own.index()] = ValueRef{{}, known->second, {}};
  };
  for (std::size_t k = 0; k < replaced.boundary.inputs.size(); ++k)
    is(replaced.graph.inputs[k], replaced.boundary.inputs[k]);
  auto operation = replaced.graph.operations.begin();
  for (OperationId around : replaced.offer.operations) {
    auto found =
        std::find_if(match.matched.begin(), match.matched.end(), [&](auto& h) { return h.operation == around; });
    TAP_CHECK(found != match.matched.end(), "a match has no operation for one that it replaces");
    for (std::size_t k = 0; k < found->results.size(); ++k) is(operation->results[k], found->results[k]);
    const auto number = static_cast<std::size_t>(found - match.matched.begin());
    claim.operations.push_back(Reordered{{{}, OperationId(number)}, found->dims});
    ++operation;
  }
  return claim;
}

GraphClaim claim_of_replacement(const GraphAdder::Added& added, GraphId replacement) {
  GraphClaim claim{added.graph, replacement, {}, {}, {}};
  for (const auto& value : added.values)
    claim.values.push_back(value ? std::optional(ValueRef{{}, *value, {}}) : std::nullopt);
  for (const auto& operation : added.operations)
    claim.operations.push_back(operation ? Justification(Copied{{{}, *operation}}) : WholeCopy{});
  return claim;
}

}  // namespace

AlternativeClaim claim_of(const Replaced& replaced, const GraphAdder::Added& added, const Graph& made,
                          RuleBook& rules) {
  const Offer& offer = replaced.offer;
  if (!offer.match) return {claim_by_derivation(replaced, added, made)};
  const RuleBook::Instance& instance = rules.instance(offer.match->piece, offer.rule);
  RuleUse use{instance.number, {}, {}, claim_of_pattern(replaced, *offer.match, instance.pattern)};
  for (ValueId v : offer.inputs) use.inputs.push_back(index_in(replaced.boundary.inputs, v));
  for (ValueId v : replaced.boundary.results) use.outputs.push_back(index_in(offer.results, v));
  return {claim_of_replacement(added, instance.replacement), std::move(use)};
}

}  // namespace tap::passes
