#include "passes/rewrites/match_rules.h"

#include <algorithm>
#include <set>

#include "ir/graphs/graph_algorithms.h"
#include "passes/pass_manager.h"
#include "passes/rewrites/canonical.h"
#include "passes/simplify/cell_facts.h"

namespace tap::passes {

using namespace ir;

using Code = std::vector<std::int64_t>;

namespace {

constexpr std::size_t most_variables = 6;
constexpr std::size_t most_instances = 5000;  // limit on the types at which rules are instantiated
constexpr int most_tries = 400;               // limit on bindings of one rule at one operation …
constexpr int most_steps = 2000;              // … and on sets of operations that are begun

// A choice's alternatives keep both graphs reachable.
Program with_choice(const RulePiece& piece) {
  Program with = piece.program;
  Operator both;
  both.name = "rule";
  const Graph& pattern = with[piece.pattern];
  for (ValueId v : pattern.inputs) both.operands.push_back(pattern[v].type);
  for (ValueId v : pattern.outputs) both.results.push_back(pattern[v].type);
  Graph main;
  Operation operation{OperatorId(with.operators.size()), {}, {}, {}};
  auto add = [&](const char* name, const TensorType& type) {
    main.values.push_back({name + std::to_string(main.values.size()), type});
    return ValueId(main.values.size() - 1);
  };
  for (const TensorType& type : both.operands) operation.operands.push_back(add("x", type));
  for (const TensorType& type : both.results) operation.results.push_back(add("y", type));
  main.inputs = operation.operands;
  main.outputs = operation.results;
  both.body = RegionBody{RegionKind::choice, piece.pattern, {}, {}, {{piece.replacement, ""}}};
  main.operations.push_back(std::move(operation));
  with.operators.push_back(std::move(both));
  with.graphs.push_back(std::move(main));
  with.main = GraphId(with.graphs.size() - 1);
  with.rewrites.clear();
  return with;
}

bool same_results(const RulePiece& piece) {
  auto types = [&](GraphId id) {
    std::vector<TensorType> all;
    for (ValueId v : piece.program[id].outputs) all.push_back(piece.program[id][v].type);
    return all;
  };
  return types(piece.pattern) == types(piece.replacement);
}

// A rule's sides in the form that is searched: after the passes that come before.
std::optional<RulePiece> lowered(std::optional<RulePiece> piece) {
  if (!piece || !same_results(*piece)) return std::nullopt;
  piece->program = run(passes_before("offer_choices"), with_choice(*piece)).program;
  const RegionBody* region = piece->program[piece->program[piece->program.main].operations[0].op].region();
  piece->pattern = region->graph;
  piece->replacement = region->alternatives[0].graph;
  const Graph& pattern = piece->program[piece->pattern];
  auto is_region = [&](const Operation& o) { return piece->program[o.op].region() != nullptr; };
  if (pattern.operations.empty() || std::any_of(pattern.operations.begin(), pattern.operations.end(), is_region))
    return std::nullopt;
  return piece;
}

}  // namespace

Fingerprint fingerprint_of(const Program& program, const Operator& op) {
  Fingerprint sketch;
  auto add = [&](const CellNode& node) {
    bool leaf = info(node.op).kind == CellKind::leaf || node.op == CellOp::cast;
    if (!leaf) sketch.push_back(static_cast<int>(node.op));
  };
  for (CellId id : needed_cells(op, roots_of(op))) add(op.exprs[id]);
  if (const ReduceBody* reduce = op.reduce())
    for (CellId id : reachable_from(program[reduce->monoid].exprs, program[reduce->monoid].combine)) {
      sketch.push_back(-1);
      add(program[reduce->monoid].exprs[id]);
    }
  std::sort(sketch.begin(), sketch.end());
  sketch.push_back(static_cast<int>(op.body.index()));
  return sketch;
}

RuleMatcher::RuleMatcher(const RuleSet& rules) : rules_(rules), shapes_(rules.texts.size()) {
  for (std::size_t rule = 0; rule < rules.texts.size(); ++rule) learn(rule);
}

void RuleMatcher::learn(std::size_t rule) {
  auto sample = lowered(rules_.sample(rule));
  if (!sample) return;
  const Graph& pattern = sample->program[sample->pattern];
  if (pattern.inputs.size() > most_variables) return;
  Shape& shape = shapes_[rule];
  shape.variables = pattern.inputs.size();
  shape.operations = pattern.operations.size();
  for (const Operation& operation : pattern.operations) {
    Fingerprint sketch = fingerprint_of(sample->program, sample->program[operation.op]);
    ++shape.sketches[sketches_.emplace(std::move(sketch), static_cast<int>(sketches_.size())).first->second];
  }
  for (auto [sketch, count] : shape.sketches) by_sketch_[sketch].push_back(rule);
}

const RuleMatcher::Instance& RuleMatcher::instance_of(std::size_t rule, const std::vector<TensorType>& types) {
  static const Instance none;
  std::string text;
  for (const TensorType& type : types) text += to_string(type) + ";";
  if (auto known = instances_.find({rule, text}); known != instances_.end()) return known->second;
  if (instances_.size() >= most_instances) return none;
  Instance& instance = instances_[{rule, text}];
  auto piece = lowered(rules_.instantiate(rule, types));
  if (!piece) return instance;
  for (const Operation& operation : piece->program[piece->pattern].operations)
    instance.codes.push_back(canonical_form(piece->program, piece->program[operation.op]).code);
  instance.piece = std::make_shared<RulePiece>(std::move(*piece));
  return instance;
}

// The matches in one graph.
class GraphMatcher {
 public:
  GraphMatcher(RuleMatcher& matcher, const Program& program, GraphId id)
      : matcher_(matcher), program_(program), graph_(program[id]), uses_(def_use(graph_)) {
    std::map<OperatorId, int> known;
    for (std::size_t o = 0; o < graph_.operations.size(); ++o) {
      const OperatorId id_of = graph_.operations[o].op;
      auto [entry, fresh] = known.emplace(id_of, -1);
      if (fresh) entry->second = sketch_number(program_[id_of]);
      sketches_.push_back(entry->second);
      if (entry->second < 0) continue;
      if (fresh) codes_.insert(canonical_form(program_, program_[id_of]).code);
      CanonicalForm form = labelled(program_[id_of], graph_.operations[o].operands);
      by_code_.emplace(std::move(form.code), Known{OperationId(o), std::move(form.dims), std::move(form.results)});
    }
  }

  Matches run() {
    for (std::size_t o = 0; o < graph_.operations.size(); ++o)
      if (sketches_[o] >= 0)
        for (std::size_t rule : matcher_.by_sketch_.at(sketches_[o])) try_rule(rule, OperationId(o));
    return std::move(matches_);
  }

 private:
  using Region = std::set<OperationId>;
  struct Known {
    OperationId operation;
    std::vector<std::uint32_t> dims, results;
  };

  int sketch_number(const Operator& op) const {
    if (op.region() || op.transfer()) return -1;
    auto known = matcher_.sketches_.find(fingerprint_of(program_, op));
    return known == matcher_.sketches_.end() ? -1 : known->second;
  }
  CanonicalForm labelled(const Operator& op, const std::vector<ValueId>& operands) const {
    std::vector<std::int64_t> labels;
    for (ValueId v : operands) labels.push_back(static_cast<std::int64_t>(v.index()));
    return canonical_form(program_, op, labels);
  }

  void try_rule(std::size_t rule, OperationId root) {
    const RuleMatcher::Shape& shape = matcher_.shapes_[rule];
    tries_ = most_tries;
    steps_ = most_steps;
    std::map<int, int> left = shape.sketches;
    --left[sketches_[root.index()]];
    if (!grow(rule, root, {root}, {}, left) && (tries_ <= 0 || steps_ <= 0))
      matches_.exhausted.emplace_back(rule, root);
  }

  // Operations outside the region that write its operands.
  std::set<OperationId> producers_of(const Region& region) const {
    std::set<OperationId> result;
    for (OperationId o : region)
      for (ValueId v : graph_[o].operands)
        for (OperationId writer : uses_.writers[v.index()])
          if (!region.contains(writer)) result.insert(writer);
    return result;
  }

  // Enumerates all sets of operations with the pattern's fingerprints whose values flow to the root inside the set,
  // each once, until one matches. `left`: how many operations of each fingerprint are still needed.
  bool grow(std::size_t rule, OperationId root, const Region& region, const Region& without, std::map<int, int>& left) {
    const RuleMatcher::Shape& shape = matcher_.shapes_[rule];
    if (--steps_ <= 0) return false;
    if (region.size() == shape.operations) {
      std::vector<ValueId> boundary = boundary_of(region);
      if (boundary.size() > shape.variables || boundary.empty()) return false;
      std::vector<ValueId> variables(shape.variables);
      return bind(rule, root, boundary, variables, 0);
    }
    Region excluded = without;
    for (OperationId next : producers_of(region)) {
      auto remaining = left.find(sketches_[next.index()]);
      if (excluded.contains(next) || remaining == left.end() || remaining->second == 0) continue;
      Region more = region;
      more.insert(next);
      --remaining->second;
      if (grow(rule, root, more, excluded, left)) return true;
      ++remaining->second;
      excluded.insert(next);
    }
    return false;
  }

  std::vector<ValueId> boundary_of(const Region& region) const {
    std::vector<ValueId> boundary;
    for (OperationId o : region)
      for (ValueId v : graph_[o].operands) {
        const auto& writers = uses_.writers[v.index()];
        bool inside = std::any_of(writers.begin(), writers.end(), [&](OperationId w) { return region.contains(w); });
        if (!inside && std::find(boundary.begin(), boundary.end(), v) == boundary.end()) boundary.push_back(v);
      }
    return boundary;
  }

  // Binds the variables from `next` on to values of the boundary, in every way that uses all of it, until one matches.
  bool bind(std::size_t rule, OperationId root, const std::vector<ValueId>& boundary, std::vector<ValueId>& variables,
            std::size_t next) {
    if (next == variables.size()) {
      std::set<ValueId> used(variables.begin(), variables.end());
      return used.size() == boundary.size() && --tries_ >= 0 && check(rule, root, variables);
    }
    for (ValueId v : boundary) {
      variables[next] = v;
      if (bind(rule, root, boundary, variables, next + 1)) return true;
      if (tries_ <= 0) return false;
    }
    return false;
  }

  bool check(std::size_t rule, OperationId root, const std::vector<ValueId>& variables) {
    std::vector<TensorType> types;
    for (ValueId v : variables) types.push_back(graph_[v].type);
    const RuleMatcher::Instance& instance = matcher_.instance_of(rule, types);
    if (!instance.piece) return false;
    for (const Code& code : instance.codes)
      if (!codes_.contains(code)) return false;
    Match match{rule, {}, variables, {}, instance.piece};
    if (!number_values(*instance.piece, match) || match.operations.back() != root) return false;
    matches_.found.push_back(std::move(match));
    return true;
  }

  // Finds the graph's value for each value of the pattern. False if some are missing.
  bool number_values(const RulePiece& piece, Match& match) const {
    const Graph& pattern = piece.program[piece.pattern];
    std::vector<ValueId> number(pattern.values.size());
    for (std::size_t k = 0; k < pattern.inputs.size(); ++k) number[pattern.inputs[k].index()] = match.variables[k];
    Region found;
    for (const Operation& operation : pattern.operations) {
      std::vector<std::int64_t> labels;
      for (ValueId v : operation.operands) labels.push_back(static_cast<std::int64_t>(number[v.index()].index()));
      CanonicalForm form = canonical_form(piece.program, piece.program[operation.op], labels);
      auto known = by_code_.find(form.code);
      if (known == by_code_.end()) return false;
      const Operation& same = graph_[known->second.operation];
      for (std::size_t k = 0; k < form.results.size(); ++k) {
        ValueId& value_number = number[operation.results[form.results[k]].index()];
        ValueId value = same.results[known->second.results[k]];
        if (value_number.valid() && value_number != value) return false;
        value_number = value;
      }
      found.insert(known->second.operation);
      match.in_order &= form.results == known->second.results;
      match.matched.push_back({known->second.operation, std::vector<std::uint32_t>(form.dims.size()), same.results});
      for (std::size_t k = 0; k < form.dims.size(); ++k)
        match.matched.back().dims[form.dims[k]] = known->second.dims[k];
    }
    for (ValueId v : pattern.outputs) match.results.push_back(number[v.index()]);
    match.operations.assign(found.begin(), found.end());
    match.values = std::move(number);
    return true;
  }

  RuleMatcher& matcher_;
  const Program& program_;
  const Graph& graph_;
  DefUse uses_;
  std::vector<int> sketches_;      // by operation; -1: no pattern has its fingerprint
  std::set<Code> codes_;           // of those operations, without operands
  std::map<Code, Known> by_code_;  // with operands
  Matches matches_;
  int tries_ = 0, steps_ = 0;
};

Matches RuleMatcher::find(const Program& program, GraphId graph) { return GraphMatcher(*this, program, graph).run(); }

}  // namespace tap::passes
