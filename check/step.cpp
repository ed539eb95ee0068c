// One step: every graph of `after` has a claim that relates it to a graph of `before`, and each claim is discharged
// operation by operation.
#include "check/check.h"
#include "check/justify.h"
#include "check/legal.h"

namespace tap::check {

void check_data_flow(const ir::Graph& graph) {
  const Uses writers = writers_of(graph);
  std::vector<bool> is_input(graph.values.size(), false);
  for (ir::ValueId v : graph.inputs) is_input[v.index()] = true;
  for (std::size_t v = 0; v < writers.size(); ++v)
    expect(Obligation::writes_exact, is_input[v] == writers[v].empty(), "value {} must be either an input or written",
           v);
  for (std::size_t o = 0; o < graph.operations.size(); ++o)
    for (ir::ValueId v : graph.operations[o].operands)
      expect(Obligation::data_flow, is_input[v.index()] || writers[v.index()].back().first.index() < o,
             "operation {} reads value {} before it is written", o, v.index());
}

void check_writes(const ir::Graph& graph, const ValueNumbering& numbering, const std::vector<Origins>& origins) {
  const Uses writers = writers_of(graph);
  for (std::size_t v = 0; v < writers.size(); ++v) {
    if (writers[v].empty()) continue;
    std::optional<std::pair<ir::Path, ir::ValueId>> whole;
    std::vector<ir::OperationRef> by;
    for (auto [o, r] : writers[v])
      for (const ir::OperationRef& ref : origins[o.index()]) {
        expect(Obligation::writes_exact, std::count(by.begin(), by.end(), ref) == 0,
               "value {} is written twice by the operations made from operation {}", v, ref.operation.index());
        std::pair written{ref.path, numbering.operation(ref).results[r]};
        expect(Obligation::writes_exact, !whole || *whole == written,
               "the writers of value {} correspond to the writers of two values", v);
        by.push_back(ref);
        whole = written;
      }
    std::size_t expected = whole ? numbering.writers(whole->first, whole->second).size() : 1;
    bool all = writers[v].size() == expected && (!whole || by.size() == expected);
    expect(Obligation::writes_exact, all, "value {} has {} writers, but {} before the step", v, writers[v].size(),
           expected);
  }
}

namespace {

// The assumptions of a picked rewrite, by the name under which it was offered and justified.
std::string assumed_of(const std::string& rule, const Believed* believed) {
  if (rule.starts_with("rewrite ")) return fmt::format("the rule `{}`", rule);
  std::size_t at = rule.find(ir::assuming);
  bool derived = !believed || believed->alternatives.count(rule) == 0;
  if (at == rule.npos) return derived ? "" : fmt::format("the alternative `{}`", rule);
  return fmt::format("{} ({})", rule.substr(at + ir::assuming.size()), rule.substr(0, at));
}

class GraphCheck {
 public:
  GraphCheck(Context& context, const ir::GraphClaim& claim, std::string where, Verdict& verdict)
      : context_(context), claim_(claim), where_(std::move(where)), verdict_(verdict) {}

  void run() {
    bool all = claim_.values.size() == after_.values.size() && claim_.operations.size() == after_.operations.size();
    expect(Obligation::well_formed, all, "the claims do not match the values and operations");
    expect(Obligation::unroll, claim_.steps >= 1, "the claim covers {} trips of an iterate, expected at least 1",
           claim_.steps);
    if (context_.rule) bind();
    for (const OperationRef& copy : claim_.copies) copies(copy);
    for (const ir::EqualOperations& equal : claim_.equal) equal_operations(equal);
    classes();
    attempt(Obligation::interface, "", [&] { interface(); });
    attempt(Obligation::data_flow, "", [&] { check_data_flow(after_); });
    Justify justify(context_, numbering_, claim_, classes_);
    for (std::size_t o = 0; o < after_.operations.size(); ++o) {
      origins_.emplace_back();
      verdict_.at.operation = o;
      attempt({}, fmt::format(", operation {} ({})", o, context_.after[after_.operations[o].op].name), [&] {
        auto [obligation, origins] = justify.operation(ir::OperationId(o));
        check_placements(context_.after, after_.operations[o]);
        origins_.back() = std::move(origins);
        verdict_.findings.push_back(
            {obligation, Standing::proved, fmt::format("{}, operation {}", where_, o), "", verdict_.at});
      });
    }
    verdict_.at.operation.reset();
    attempt(Obligation::writes_exact, "", [&] { check_writes(after_, numbering_, origins_); });
    for (const std::string& rule : numbering_.rules)
      if (std::string what = assumed_of(rule, context_.believed); !what.empty())
        verdict_.findings.push_back({Obligation::choice, Standing::assumed, where_, std::move(what), verdict_.at});
  }

 private:
  using OperationRef = ir::OperationRef;

  template <class Run>
  void attempt(std::optional<Obligation> obligation, const std::string& where, Run run) {
    verdict_.attempt(obligation, where_ + where, run);
    for (auto& [assumed, what] : context_.assumed)
      verdict_.findings.push_back({assumed, Standing::assumed, where_ + where, std::move(what), verdict_.at});
    context_.assumed.clear();
  }

  // Variables of a rule with the same input are one value.
  void bind() {
    const ir::Graph& before = context_.before[claim_.before];
    const std::vector<std::uint32_t>& variables = context_.rule->inputs;
    expect(Obligation::choice, variables.size() == before.inputs.size(), "the rule has {} variables",
           before.inputs.size());
    std::map<std::uint32_t, ir::ValueId> first;
    for (std::size_t k = 0; k < variables.size(); ++k) {
      ir::ValueId own = before.inputs[k];
      expect(Obligation::choice, variables[k] < after_.inputs.size(), "a variable does not correspond to an input");
      bool same = after_[after_.inputs[variables[k]]].type == before[own].type;
      expect(Obligation::choice, same, "variable {} of the rule has the wrong type", k);
      ir::ValueId known = first.emplace(variables[k], own).first->second;
      numbering_.merge(numbering_.class_of({{}, own, {}}), numbering_.class_of({{}, known, {}}));
    }
  }

  // A map that copies its whole operand: its result is the operand.
  void copies(const OperationRef& ref) {
    constexpr auto obligation = Obligation::equal_operations;
    Side side = numbering_.side(ref);
    const std::uint32_t read = check_copy(*side.op, obligation);
    expect(obligation, numbering_.writers(ref.path, side.operation->results[0]).size() == 1, "a copy is incomplete");
    numbering_.merge(side.results[0], side.operands[read]);
  }

  // The same operator on the same values. For values with several writers, the last pair of writers makes the values
  // equal.
  void equal_operations(const ir::EqualOperations& equal) {
    Side kept = numbering_.side(equal.kept), other = numbering_.side(equal.other);
    paired_.push_back(equal);
    std::vector<Class> own = kept.results;
    kept.results = other.results;  // results are compared by position only
    constexpr auto obligation = Obligation::equal_operations;
    Match match(other, kept, in_order(*kept.op, other.op->dims.size(), obligation), obligation);
    match.is(match.form());
    if (const ir::RegionBody* a = other.op->region(), *b = kept.op->region(); a)
      match.expect(*a == *b, "the regions differ");
    for (std::size_t r = 0; r < own.size(); ++r) {
      auto is_paired = [&](const auto& mine, const auto& other) {
        OperationRef a{equal.kept.path, mine.first}, b{equal.other.path, other.first};
        return std::find(paired_.begin(), paired_.end(), ir::EqualOperations{a, b}) != paired_.end();
      };
      bool all = std::ranges::equal(numbering_.writers(equal.kept.path, kept.operation->results[r]),
                                    numbering_.writers(equal.other.path, other.operation->results[r]), is_paired);
      if (all) numbering_.merge(own[r], other.results[r]);
    }
  }

  void classes() {
    for (std::size_t v = 0; v < claim_.values.size(); ++v) {
      const auto& ref = claim_.values[v];
      classes_.push_back(ref ? numbering_.class_of(*ref) : numbering_.fresh());
      bool same = !ref || numbering_.value(*ref).type == after_.values[v].type;
      expect(Obligation::interface, same, "value {} changed type", v);
    }
    // Transfers do not change a value.
    for (std::size_t o = 0; o < after_.operations.size(); ++o) {
      const ir::Operation& operation = after_.operations[o];
      if (!std::holds_alternative<ir::TransferOf>(claim_.operations[o]) || operation.operands.size() != 1) continue;
      for (ir::ValueId v : operation.results)
        if (!claim_.values[v.index()]) classes_[v.index()] = classes_[operation.operands[0].index()];
    }
  }

  void interface() {
    const ir::Graph& before = context_.before[claim_.before];
    bool several = claim_.steps != 1 || claim_.first != 0;
    auto same = [&](const auto& now, const auto& was, const char* what, std::int64_t step) {
      expect(Obligation::interface, now.size() == was.size(), "{} {}s, {} before", now.size(), what, was.size());
      for (std::size_t k = 0; k < now.size(); ++k) {
        expect(Obligation::interface, after_[now[k]].is_const == before[was[k]].is_const,
               "{} {} is const in only one of the two programs", what, k);
        Class value = numbering_.class_of({{}, was[k], several ? std::optional(step) : std::nullopt});
        expect(Obligation::interface, numbering_.same(classes_[now[k].index()], value), "{} {} differs", what, k);
      }
    };
    if (!context_.rule) {
      same(after_.inputs, before.inputs, "input", 0);
      return same(after_.outputs, before.outputs, "output", claim_.steps - 1);
    }
    auto pick = [](const std::vector<ir::ValueId>& from, const std::vector<std::uint32_t>& numbers) {
      std::vector<ir::ValueId> picked;
      for (std::uint32_t k : numbers) {
        expect(Obligation::choice, k < from.size(), "the rule has no input or output {}", k);
        picked.push_back(from[k]);
      }
      return picked;
    };
    same(pick(after_.inputs, context_.rule->inputs), before.inputs, "input", 0);
    same(after_.outputs, pick(before.outputs, context_.rule->outputs), "output", 0);
  }

  Context& context_;
  const ir::GraphClaim& claim_;
  const ir::Graph& after_ = context_.after[claim_.after];
  std::string where_;
  Verdict& verdict_;
  ValueNumbering numbering_{context_.before, claim_};
  std::vector<Class> classes_;  // by value of after
  std::vector<Origins> origins_;
  std::vector<ir::EqualOperations> paired_;
};

}  // namespace

void check_graphs(Context& context, const std::string& where, Verdict& verdict) {
  for (std::size_t k = 0; k < context.claims.size(); ++k) {
    std::string graph = fmt::format("{}, graph {}", where, context.claims[k].after.index());
    verdict.at = {verdict.at.step, context.claims[k].after.index()};
    verdict.attempt({}, graph, [&] { GraphCheck(context, context.claims[k], graph, verdict).run(); });
  }
}

// There are no claims for operators without operations; the verifier still requires them to be legal.
static void check_unused(const ir::Program& program) {
  std::vector<bool> used(program.operators.size());
  for (const ir::Graph& graph : program.graphs)
    for (const ir::Operation& operation : graph.operations) used[operation.op.index()] = true;
  for (std::size_t o = 0; o < used.size(); ++o)
    if (!used[o]) reads_are_inside(program.operators[o]);
}

void check_step(const ir::Program& before, const ir::Program& after, const ir::Step& step, const std::string& where,
                Verdict& verdict, const Believed& believed) {
  Context context{before, after, {step.graphs.begin(), step.graphs.end()}};
  context.believed = &believed;
  for (const ir::AlternativeClaim& alternative : step.alternatives) {
    bool fresh = context.alternatives.emplace(alternative.claim.after, &alternative).second;
    expect(Obligation::choice, fresh, "graph {} is offered twice", alternative.claim.after.index());
  }
  for (const ir::GraphClaim& claim : step.graphs) {
    auto same = std::ranges::count(step.graphs, claim.after, &ir::GraphClaim::after);
    bool exists = claim.after.index() < after.graphs.size() && claim.before.index() < before.graphs.size();
    expect(Obligation::well_formed, same == 1 && exists, "graph {} is claimed twice or missing", claim.after.index());
  }
  const ir::GraphClaim* main = context.claim_of(after.main, before.main);
  expect(Obligation::chain, main && main->steps == 1 && main->first == 0, "there is no claim for the main graph");
  check_graphs(context, where, verdict);
  verdict.attempt({}, where, [&] {
    expect(Obligation::interface, before.meshes == after.meshes, "the meshes differ");
    check_unused(after);
  });
}

}  // namespace tap::check
