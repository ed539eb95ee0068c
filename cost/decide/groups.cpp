#include "cost/decide/groups.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <numeric>

#include "cost/decide/part.h"
#include "ir/graphs/operation_names.h"
#include "passes/fusion/choose_groups.h"
#include "passes/fusion/fuse.h"
#include "passes/shardings/plan_writers.h"

namespace tap::cost {

using namespace ir;
using passes::GroupMaker, passes::MadeGroup;

namespace {

using Members = std::vector<OperationId>;

constexpr std::size_t window = 48;  // operations among which groups are searched at once

// Some operations fused, over some dims of the last one; others stay single.
struct Piece {
  Members operations;
  std::vector<std::uint32_t> over;
  bool operator==(const Piece&) const = default;
};
using Variant = std::vector<Piece>;

struct Tried {
  Variant variant;
  Prediction price;
  bool justified = true;
};

// The parallel dims of the last operation, and its reduced dims.
std::vector<std::uint32_t> dims_over(const Operator& op, bool reduced) {
  std::vector<std::uint32_t> over;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d)
    if (!op.dims[d].keep &&
        (op.dims[d].role == DimRole::parallel || (reduced && op.dims[d].role == DimRole::reduction)))
      over.push_back(d);
  return over;
}

// The group's dims, as dims of its last operation.
std::vector<std::uint32_t> dims_of_last(const MadeGroup& group) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> dims;
  const auto last = static_cast<std::uint32_t>(group.inner.operations.size() - 1);
  for (const GroupAnchor& anchor : group.op.region()->anchors)
    if (anchor.operation == last) dims.emplace_back(anchor.dim, anchor.inner_dim);
  std::sort(dims.begin(), dims.end());
  std::vector<std::uint32_t> over;
  for (auto [dim, inner] : dims) over.push_back(inner);
  return over;
}

// The splits of some operations, by their number among them.
SplitsOfGraph splits_of(const SplitsOfGraph& all, const Members& operations) {
  SplitsOfGraph some;
  for (std::size_t k = 0; k < operations.size(); ++k)
    if (auto found = all.find(operations[k]); found != all.end()) some.emplace(OperationId(k), found->second);
  return some;
}

// The operations of one candidate, as a separate program, divided over a mesh as the graph's are.
class Candidate {
 public:
  Candidate(Program part, SplitsOfGraph splits, const passes::Caution& caution, Pricer& pricer)
      : part_(std::move(part)),
        splits_(std::move(splits)),
        names_(operation_names(part_[part_.main])),
        caution_(caution),
        pricer_(pricer),
        maker_(part_, part_[part_.main], caution) {}

  const GroupMaker& maker() const { return maker_; }
  std::size_t size() const { return maker_.graph().operations.size(); }

  // Prices variants. `known`: groups to be tried as well.
  void search(const Variant& known) {
    const Plan as_they_are = plan_of({}, {});
    if (!pricer_.may_price(part_, as_they_are)) return;
    std::vector<Option> all = with_group(range(0, size()));
    if (!known.empty()) add(known, all);
    const std::vector<Option> fewer = with_fewer(1), still_fewer = with_fewer(2);
    prepare(as_they_are, {&all, &fewer, &still_fewer});
    auto separate = pricer_.of(part_, as_they_are);
    if (!separate) return;
    tried_ = {{{}, *separate}};
    consider(all);
    // Drops operations from the front and from the back, as long as that pays.
    std::size_t improved = 1;
    for (std::size_t k = 1; k + 1 < size() && k <= improved + 1; ++k) {
      const double before = best().price.seconds;
      consider(k == 1 ? fewer : k == 2 ? still_fewer : with_fewer(k));
      if (best().price.seconds < before) improved = k;
    }
  }
  // In the order in which they were priced: first the operations as they are. Empty: not even these.
  const std::vector<Tried>& tried() const { return tried_; }
  std::size_t taken() const { return best_; }

 private:
  static Members range(std::size_t from, std::size_t to) {
    Members members;
    for (std::size_t o = from; o < to; ++o) members.push_back(OperationId(o));
    return members;
  }

  // The ways to make these operations one group.
  std::vector<Piece> pieces(const Members& operations) const {
    std::vector<Piece> made;
    if (operations.size() < 2) return made;
    auto add = [&](const passes::GroupOutcome& outcome, std::vector<std::uint32_t> over) {
      if (std::holds_alternative<passes::Refusal>(outcome) || over.empty()) return;
      if (!splits_of_group(part_, maker_.graph(), splits_, operations, over)) return;
      if (std::none_of(made.begin(), made.end(), [&](const Piece& p) { return p.over == over; }))
        made.push_back({operations, std::move(over)});
    };
    passes::GroupOutcome usual = maker_.make(operations, passes::RecomputeLimit{});
    if (auto* group = std::get_if<MadeGroup>(&usual)) add(usual, dims_of_last(*group));
    const Operator last = maker_.last_of(operations);
    for (bool reduced : {false, true}) {
      std::vector<std::uint32_t> over = dims_over(last, reduced);
      if (!computes_once(operations, over)) continue;
      add(maker_.make(operations, over), over);
    }
    return made;
  }

  // Explicit dims may make an inner operation run repeatedly.
  bool computes_once(const Members& operations, const std::vector<std::uint32_t>& over) const {
    passes::GroupOutcome outcome = maker_.make(operations, over);
    auto* group = std::get_if<MadeGroup>(&outcome);
    return group && std::all_of(group->facts.recompute.begin(), group->facts.recompute.end(),
                                [](double times) { return times < 1.5; });
  }

  struct Fused {
    Program program;
    Step step;  // its claims
    Plan plan;  // how it is divided over a mesh
  };
  struct Option {
    Variant variant;
    Fused made;
  };
  // Unless these groups cannot be made together.
  void add(const Variant& variant, std::vector<Option>& options) const {
    if (auto made = fused(variant)) options.push_back({variant, std::move(*made)});
  }

  // These operations as one group, with and without the rest of the set as another.
  std::vector<Option> with_group(const Members& operations, const Members& rest = {}) const {
    std::vector<Option> options;
    for (const Piece& piece : pieces(operations)) {
      add({piece}, options);
      if (rest.size() < 2) continue;
      for (const Piece& second : pieces(rest)) {
        add({piece, second}, options);
        break;  // the default dims
      }
    }
    return options;
  }
  // A group without the last operations, and one without the first.
  std::vector<Option> with_fewer(std::size_t left_out) const {
    if (left_out + 1 >= size()) return {};
    std::vector<Option> options = with_group(range(0, size() - left_out), range(size() - left_out, size()));
    if (2 * left_out < size())
      for (Option& option : with_group(range(left_out, size()))) options.push_back(std::move(option));
    return options;
  }

  // All of these are tried in any case.
  void prepare(const Plan& as_they_are, std::initializer_list<const std::vector<Option>*> lists) {
    std::vector<Pricer::Candidate> candidates{{part_, as_they_are}};
    for (const std::vector<Option>* options : lists)
      for (const Option& option : *options) candidates.push_back({option.made.program, option.made.plan});
    pricer_.prepare(candidates);
  }
  // The lines that divide the part, with these groups in it.
  Plan plan_of(const Variant& variant, const std::vector<MadeGroup>& groups) const {
    Plan plan;
    auto add = [&](OperationId named, const Operator& op, const std::vector<std::uint32_t>& dims,
                   const std::vector<MeshSplit>& splits) {
      for (MeshSplit split : splits) {
        const auto at = std::find(dims.begin(), dims.end(), split.dim);
        split.line.operation = names_[named.index()];
        split.line.dim = passes::plan_dim_name(op, static_cast<std::uint32_t>(at - dims.begin()));
        plan.decisions.emplace_back(std::move(split.line));
      }
    };
    std::set<OperationId> inside;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const Members& operations = variant[g].operations;
      inside.insert(operations.begin(), operations.end());
      if (auto splits = splits_of_group(part_, maker_.graph(), splits_, operations, variant[g].over))
        add(operations.back(), groups[g].op, variant[g].over, *splits);
    }
    for (const auto& [o, splits] : splits_) {
      if (inside.count(o)) continue;
      const Operator& op = part_[maker_.graph()[o].op];
      std::vector<std::uint32_t> dims(op.dims.size());
      std::iota(dims.begin(), dims.end(), 0U);
      add(o, op, dims, splits);
    }
    return plan;
  }
  std::optional<Fused> fused(const Variant& variant) const {
    std::vector<MadeGroup> groups;
    for (const Piece& piece : variant) {
      if (!splits_of_group(part_, maker_.graph(), splits_, piece.operations, piece.over)) return std::nullopt;
      passes::GroupOutcome outcome = maker_.make(piece.operations, piece.over);
      auto* group = std::get_if<MadeGroup>(&outcome);
      if (!group) return std::nullopt;
      groups.push_back(std::move(*group));
    }
    if (waits_for_itself(groups)) return std::nullopt;
    Fused made{part_, {}, plan_of(variant, groups)};
    passes::Rebuilt rebuilt = passes::with_groups(made.program, part_.main, std::move(groups));
    made.program.graphs[part_.main.index()] = std::move(rebuilt.graph);
    made.step.graphs.push_back(std::move(rebuilt.claim));
    return made;
  }

  void consider(const std::vector<Option>& options) {
    for (const Option& option : options) {
      const Fused& made = option.made;
      auto price = pricer_.of(made.program, made.plan);
      if (!price || std::ranges::any_of(tried_, [&](const Tried& t) { return t.variant == option.variant; })) continue;
      const bool pays = is_better(*price, best().price) && is_as_fast(*price, tried_.front().price);
      tried_.push_back({option.variant, *price, !pays || pricer_.is_justified(part_, made.program, made.step)});
      if (pays && tried_.back().justified) best_ = tried_.size() - 1;
    }
  }
  const Tried& best() const { return tried_[best_]; }

  // Whether a group depends on its own results through outside operations.
  bool waits_for_itself(const std::vector<MadeGroup>& groups) const {
    for (const MadeGroup& group : groups) {
      std::vector<bool> after(size(), false);
      auto member = [&](OperationId o) {
        return std::find(group.operations.begin(), group.operations.end(), o) != group.operations.end();
      };
      for (std::size_t o = 0; o < size(); ++o)
        for (ValueId v : maker_.graph().operations[o].operands)
          for (OperationId from : maker_.uses().writers[v.index()]) {
            const bool follows = after[from.index()] || (member(from) && !member(OperationId(o)));
            if (!follows) continue;
            if (member(OperationId(o))) {
              if (after[from.index()]) return true;
            } else {
              after[o] = true;
            }
          }
    }
    return false;
  }

  Program part_;
  SplitsOfGraph splits_;
  std::vector<std::string> names_;
  passes::Caution caution_;
  Pricer& pricer_;
  GroupMaker maker_;
  std::vector<Tried> tried_;
  std::size_t best_ = 0;
};

// What was tried for a set of operations.
struct Outcome {
  Members operations;
  std::vector<Tried> tried;
  std::size_t taken = 0;
};

// The groups of one window of a graph.
class Window {
 public:
  Window(const Program& program, const Graph& graph, const DefUse& uses, Members members, const SplitsOfGraph& splits)
      : members_(std::move(members)),
        part_(part_of(program, graph, uses, members_)),
        splits_(splits_of(splits, members_)) {}

  // Sets of this window's operations: a few large ones, with the groups that usual limits allow in each.
  void decide(const passes::Caution& caution, Pricer& pricer, const std::function<void(const Outcome&)>& take) {
    GroupMaker maker(part_, part_[part_.main], caution);
    passes::FusionLimits usual, wide;
    wide.inner_bytes *= 1024;
    wide.operand_bytes *= 1e9;
    const std::vector<Members> sets = passes::choose_groups(maker, wide), small = passes::choose_groups(maker, usual);
    const DefUse uses = def_use(part_[part_.main]);
    for (const Members& set : sets) {
      Candidate candidate(part_of(part_, part_[part_.main], uses, set), splits_of(splits_, set), caution, pricer);
      candidate.search(known(maker, set, small, usual));
      if (candidate.tried().size() < 2) continue;
      Outcome outcome{set, candidate.tried(), candidate.taken()};
      for (OperationId& o : outcome.operations) o = members_[o.index()];
      for (Tried& tried : outcome.tried)
        for (Piece& piece : tried.variant)
          for (OperationId& o : piece.operations) o = members_[set[o.index()].index()];
      take(outcome);
    }
  }

 private:
  // Those groups that are subsets of the set, by number in it.
  static Variant known(const GroupMaker& maker, const Members& set, const std::vector<Members>& groups,
                       const passes::FusionLimits& limits) {
    Variant variant;
    for (const Members& group : groups) {
      Piece piece;
      for (OperationId o : group) {
        auto at = std::lower_bound(set.begin(), set.end(), o);
        if (at == set.end() || *at != o) break;
        piece.operations.emplace_back(static_cast<std::size_t>(at - set.begin()));
      }
      if (piece.operations.size() != group.size()) continue;
      auto made = passes::group_within(maker, group, limits);
      if (!made) continue;
      piece.over = dims_of_last(*made);
      variant.push_back(std::move(piece));
    }
    return variant;
  }

  Members members_;
  Program part_;
  SplitsOfGraph splits_;
};

}  // namespace

DecidedGroups decide_groups(const Program& program, GraphId id, const std::string& path,
                            const std::set<OperationId>& fixed, const SplitsOfGraph* over_devices,
                            const passes::Caution& caution, Pricer& pricer) {
  DecidedGroups decided;
  const SplitsOfGraph splits = over_devices ? *over_devices : SplitsOfGraph{};
  const Graph& graph = program[id];
  const GroupMaker maker(program, graph, caution);
  const DefUse& uses = maker.uses();
  const std::vector<std::string> names = operation_names(graph);
  auto line = [&](const Piece& piece) {
    PlannedFusion fusion;
    for (OperationId o : piece.operations) fusion.operations.push_back(path + names[o.index()]);
    const Operator op = maker.last_of(piece.operations);
    for (std::uint32_t d : piece.over) fusion.dims.push_back(passes::plan_dim_name(op, d));
    return fusion;
  };
  auto take = [&](const Outcome& outcome) {
    Consideration about{{}, {}, outcome.taken};
    for (OperationId o : outcome.operations) about.operations.push_back(path + names[o.index()]);
    for (const Tried& tried : outcome.tried) {
      about.alternatives.push_back({{}, tried.price, tried.justified});
      for (const Piece& piece : tried.variant) about.alternatives.back().lines.emplace_back(line(piece));
    }
    for (const Piece& piece : outcome.tried[outcome.taken].variant) decided.fusions.push_back(line(piece));
    decided.considered.push_back(std::move(about));
  };
  Members open;
  auto close = [&] {
    if (open.size() > 1) Window(program, graph, uses, open, splits).decide(caution, pricer, take);
    open.clear();
  };
  // A part of a sharded program must have all writers of a value: transfers take all that its readers read.
  auto has_other_writers = [&](const Operation& operation) {
    return over_devices && std::any_of(operation.results.begin(), operation.results.end(),
                                       [&](ValueId v) { return uses.writers[v.index()].size() > 1; });
  };
  for (std::size_t o = 0; o < graph.operations.size(); ++o) {
    // Contiguous, since a path that leaves a window and returns would make groups depend on each other.
    const Operation& operation = graph.operations[o];
    const auto over_mesh = splits.find(OperationId(o));
    const bool stays = names[o].empty() || fixed.count(OperationId(o)) || !is_standalone(program, operation) ||
                       has_other_writers(operation) ||
                       (over_mesh != splits.end() && has_partials(program[operation.op], over_mesh->second));
    if (!stays) open.emplace_back(o);
    if (stays || open.size() == window) close();
  }
  close();
  return decided;
}

}  // namespace tap::cost
