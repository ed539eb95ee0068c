#include "passes/rewrites/offer_choices.h"

#include <fmt/format.h>

#include <algorithm>

#include "passes/fusion/fuse.h"
#include "passes/rewrites/contraction.h"
#include "passes/rewrites/match_rules.h"
#include "passes/rewrites/monoid_fold.h"
#include "passes/rewrites/offered_claims.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;

namespace {

// Nested choices multiply: beyond this number of graphs, nothing more is offered inside them.
constexpr std::size_t most_graphs = 20'000;

using Numbers = GraphNumbers::Numbers;

// A graph whose operations may be offered alternatives.
struct Target {
  GraphId graph;
  bool written = false;         // a choice's first graph: already searched as part of the whole
  std::vector<Numbers> around;  // the enclosing graphs: no offer leads back to them
};

// Operations that become one choice.
struct OfferSite {
  Operations operations;
  Operation choice;
  std::vector<Target> inside;  // its graphs
  std::string first_rule;
};

// The annotations of uses of the boundary's values, for the choice's operands.
std::vector<std::optional<Sharding>> uses_of(const Graph& graph, const Operations& operations,
                                             const Boundary& boundary) {
  std::vector<std::optional<Sharding>> uses(boundary.inputs.size());
  bool any = false;
  for (OperationId o : operations)
    for (std::size_t k = 0; k < graph[o].operand_shardings.size(); ++k)
      for (std::size_t v = 0; v < boundary.inputs.size(); ++v)
        if (boundary.inputs[v] == graph[o].operands[k] && !uses[v])
          any |= (uses[v] = graph[o].operand_shardings[k]).has_value();
  if (!any) uses.clear();
  return uses;
}

// One round: offers in some graphs of a program.
class Round {
 public:
  Round(const Program& before, const PassContext& context, RuleMatcher* matcher, GraphNumbers& numbers, RuleBook& book,
        std::vector<Remark>& remarks)
      : before_(before),
        context_(context),
        matcher_(matcher),
        numbers_(numbers),
        book_(book),
        remarks_(remarks),
        after_(before),
        adder_(after_),
        forms_(after_) {}

  // False if nothing was offered.
  bool run(const std::vector<Target>& targets) {
    for (const Target& target : targets) {
      around_.emplace(before_, before_[target.graph]);
      nested_ = !target.around.empty();
      std::vector<OfferSite> sites = sites_in(target);
      if (!sites.empty()) rewrite(target, sites);
    }
    return !rebuilt_.empty();
  }

  // The result, and the graphs that it adds.
  std::pair<ClaimedStage, std::vector<Target>> take() {
    for (auto& [id, rebuilt] : rebuilt_) after_.graphs[id.index()] = std::move(rebuilt.graph);
    Step step;
    for (std::size_t g = 0; g < before_.graphs.size(); ++g) {
      auto made = rebuilt_.find(GraphId(g));
      step.graphs.push_back(made == rebuilt_.end() ? untouched(before_, GraphId(g)) : std::move(made->second.claim));
    }
    for (Graph& graph : adder_.take()) after_.graphs.push_back(std::move(graph));
    std::vector<GraphId> new_ids = remove_unreachable(after_);
    for (GraphClaim& claim : step.graphs) claim.after = new_ids[claim.after.index()];
    std::erase_if(step.graphs, [](const GraphClaim& claim) { return !claim.after.valid(); });
    for (AlternativeClaim& alternative : claims_) {
      ir::GraphId& first = alternative.rule ? alternative.rule->pattern.after : alternative.claim.before;
      alternative.claim.after = new_ids[alternative.claim.after.index()];
      first = new_ids[first.index()];
      // A site that was given up, or that shares another's offers, has no claim.
      if (alternative.claim.after.valid()) step.alternatives.push_back(std::move(alternative));
    }
    for (Target& target : next_) target.graph = new_ids[target.graph.index()];
    return {{std::move(after_), std::move(step)}, std::move(next_)};
  }

 private:
  std::vector<Offer> offers_of_rules(const Target& target) {
    const Graph& graph = before_[target.graph];
    std::vector<Offer> offers;
    if (!matcher_) return offers;
    Matches matches = matcher_->find(before_, target.graph);
    for (const Match& match : matches.found) {
      Operations operations(match.operations.begin(), match.operations.end());
      const std::string& rule = context_.rules->texts[match.rule];
      if (context_.strict_fp && computes_floats(graph, operations)) {
        remark(graph, operations,
               fmt::format("`{}` is not offered: --strict-fp keeps the written order of float operations", rule));
        continue;
      }
      if (!match.piece->holds) {
        remark(graph, operations, fmt::format("`{}` is not offered: {}", rule, match.piece->guard));
        continue;
      }
      if (!match.in_order) {
        remark(graph, operations,
               fmt::format("`{}` is not offered: its pattern has the results in a different order", rule));
        continue;
      }
      std::shared_ptr<const Program> own(match.piece, &match.piece->program);
      offers.push_back({operations,
                        match.variables,
                        match.results,
                        own,
                        match.piece->replacement,
                        rule,
                        {},
                        std::make_shared<Match>(match)});
    }
    for (auto [rule, at] : matches.exhausted)
      remark(graph, {at},
             fmt::format("`{}` is not offered: there are too many possible matches here", context_.rules->texts[rule]));
    return offers;
  }

  // The two sides of a rule are equal only up to rounding.
  static bool computes_floats(const Graph& graph, const Operations& operations) {
    for (OperationId o : operations)
      for (ValueId v : graph[o].results)
        if (is_float(graph[v].type.element)) return true;
    return false;
  }

  void add_orders(const Target& target, std::vector<Offer>& offers) {
    const Graph& graph = before_[target.graph];
    for (std::size_t o = 0; o < graph.operations.size(); ++o) {
      const Operation& operation = graph.operations[o];
      const Reassociation& order = reassociate_.run(before_, operation, context_.strict_fp);
      if (!order.remark.empty()) remark(graph, {OperationId(o)}, order.remark);
      if (!order.program) continue;
      offers.push_back(
          {{OperationId(o)}, operation.operands, operation.results, order.program, order.program->main, order.rule});
      for (const auto& dims : order.dims) offers.back().why.push_back(ProductOf{{{}, OperationId(0)}, dims});
    }
  }

  void add_folds(const Target& target, std::vector<Offer>& offers) {
    const Graph& graph = before_[target.graph];
    for (std::size_t o = 0; o < graph.operations.size(); ++o) {
      const Operation& operation = graph.operations[o];
      const ReduceBody* reduce = before_[operation.op].reduce();
      if (!reduce || !before_[reduce->monoid].fold) continue;
      FoldOffers folds = fold_offers(before_, with_author_names(before_, operation), context_.strict_fp);
      if (!folds.remark.empty()) remark(graph, {OperationId(o)}, folds.remark);
      for (FoldedReduction& fold : folds.offers) {
        offers.push_back(
            {{OperationId(o)}, operation.operands, operation.results, fold.program, fold.program->main, fold.rule});
        offers.back().why.assign((*fold.program)[fold.program->main].operations.size(),
                                 FoldOf{{{}, OperationId(0)}, fold.dim, fold.size});
      }
    }
  }

  // Disjoint places, larger ones first: smaller ones inside are offered in its graphs.
  std::vector<OfferSite> sites_in(const Target& target) {
    const Graph& graph = before_[target.graph];
    std::vector<Offer> offers = offers_of_rules(target);
    if (!context_.no_distribute) add_orders(target, offers);
    if (!context_.no_distribute) add_folds(target, offers);
    if (offers.empty()) return {};
    std::map<Operations, std::vector<Offer>> by_operations;
    for (Offer& offer : offers) {
      if (target.written && offer.operations.size() == graph.operations.size()) continue;
      std::string why = around_->why_not_offered(offer);
      if (why.empty()) by_operations[offer.operations].push_back(std::move(offer));
      else remark(graph, offer.operations, fmt::format("`{}` is not offered: {}", offer.rule, why));
    }
    std::vector<OfferSite> sites;
    for (const auto& [operations, own] : by_operations)
      if (auto site = site_of(target, operations, own)) sites.push_back(std::move(*site));
    std::stable_sort(sites.begin(), sites.end(),
                     [](const OfferSite& a, const OfferSite& b) { return a.operations.size() > b.operations.size(); });
    return without_overlaps(graph, sites);
  }

  std::vector<OfferSite> without_overlaps(const Graph& graph, std::vector<OfferSite>& sites) {
    std::vector<OfferSite> taken;
    std::map<OperationId, std::size_t> taken_by;
    for (OfferSite& site : sites) {
      const OfferSite* across = nullptr;
      std::set<std::size_t> by;
      std::size_t inside = 0;
      for (OperationId o : site.operations)
        if (auto other = taken_by.find(o); other != taken_by.end()) {
          by.insert(other->second);
          across = &taken[other->second];
          ++inside;
        }
      if (by.empty()) {
        for (OperationId o : site.operations) taken_by[o] = taken.size();
        taken.push_back(std::move(site));
      } else if (by.size() > 1 || inside < site.operations.size()) {
        remark(graph, site.operations,
               fmt::format("`{}` is not offered: it overlaps with `{}`", site.first_rule, across->first_rule));
      }
    }
    return taken;
  }

  void rewrite(const Target& target, std::vector<OfferSite>& sites) {
    const Graph& graph = before_[target.graph];
    // If places depend on each other in a cycle, keeps only those whose last operation alone is needed outside.
    auto order = order_with(graph, sites);
    if (!order) {
      std::erase_if(sites, [&](const OfferSite& site) {
        Boundary boundary = around_->boundary_of(site.operations);
        const std::vector<ValueId>& last = graph[*site.operations.rbegin()].results;
        bool waits = std::any_of(boundary.results.begin(), boundary.results.end(),
                                 [&](ValueId v) { return std::find(last.begin(), last.end(), v) == last.end(); });
        if (waits)
          remark(graph, site.operations,
                 fmt::format("`{}` is not offered: it would form a cycle with other choices", site.first_rule));
        return waits;
      });
      order = order_with(graph, sites);
      TAP_CHECK(order, "a choice is used before it is made");
    }
    std::map<OperationId, const OfferSite*> last;
    std::map<OperationId, bool> replaced;
    for (const OfferSite& site : sites) {
      for (OperationId o : site.operations) replaced[o] = true;
      last[*site.operations.rbegin()] = &site;
      next_.insert(next_.end(), site.inside.begin(), site.inside.end());
    }
    if (sites.empty()) return;
    Rebuild to(before_, target.graph);
    for (std::size_t v = 0; v < graph.values.size(); ++v)  // with their names in plans, also inside choices
      to.rename(ValueId(v), around_->names()[v]);
    for (OperationId o : *order) {
      if (auto at = last.find(o); at != last.end()) {
        OfferedFor why;
        for (OperationId from : at->second->operations) why.from.push_back({{}, from});
        to.add(at->second->choice, std::move(why));
      } else if (!replaced.contains(o)) {
        to.copy(o);
      }
    }
    rebuilt_.emplace(target.graph, to.finish());
  }

  // Orders the graph's operations such that the last one of each place can stand for the whole place.
  std::optional<std::vector<OperationId>> order_with(const Graph& graph, const std::vector<OfferSite>& sites) const {
    Graph joined = graph;
    bool moved = false;
    for (const OfferSite& site : sites) {
      if (site.operations.size() == 1) continue;
      moved = true;
      Operation& last = joined.operations[site.operations.rbegin()->index()];
      for (OperationId o : site.operations) {
        Operation& operation = joined.operations[o.index()];
        if (&operation == &last) continue;
        for (ValueId v : operation.operands) last.operands.push_back(v);
        for (ValueId v : operation.results) last.results.push_back(v);
        operation.operands.clear();
        operation.results.clear();
      }
      std::erase_if(last.operands, [&](ValueId v) {
        return std::find(last.results.begin(), last.results.end(), v) != last.results.end();
      });
    }
    if (moved) return topological_order(joined);
    std::vector<OperationId> order;
    for (std::size_t o = 0; o < graph.operations.size(); ++o) order.emplace_back(o);
    return order;
  }

  // Nothing if all offers lead back to this graph or an enclosing one.
  std::optional<OfferSite> site_of(const Target& target, const Operations& operations,
                                   const std::vector<Offer>& offers) {
    const Graph& graph = before_[target.graph];
    const Boundary boundary = around_->boundary_of(operations);
    RegionBody region{RegionKind::choice, adder_.add_part(graph, operations, boundary, around_->names())};
    std::vector<Numbers> around = target.around;
    around.push_back(numbers_.of(forms_, adder_[region.graph]));
    for (const Offer& offer : offers) {
      GraphAdder::Added added =
          adder_.add_offer(offer, boundary, fmt::format("{}#{}", graph_name(region), region.alternatives.size() + 1));
      Numbers computes = numbers_.of(forms_, adder_[added.graph]);
      if (std::find(around.begin(), around.end(), computes) != around.end()) {
        remark(graph, operations, fmt::format("`{}` offers only what the program already computes", offer.rule));
        continue;
      }
      around.push_back(std::move(computes));
      region.alternatives.push_back({added.graph, offer.rule});
      claims_.push_back(
          claim_of({offer, boundary, region.graph, adder_[region.graph]}, added, adder_[added.graph], book_));
    }
    if (region.alternatives.empty()) return std::nullopt;
    OfferSite site{operations, {}, {{region.graph, true, around}}, region.alternatives[0].rule};
    for (const Alternative& a : region.alternatives)  // a fold's operations are as the fold says
      if (!is_fold(a.rule)) site.inside.push_back({a.graph, false, around});
    Operator op;
    op.name = "choice";
    for (ValueId v : boundary.inputs) op.operands.push_back(graph[v].type);
    for (ValueId v : boundary.results) op.results.push_back(graph[v].type);
    op.body = std::move(region);
    site.choice = {adder_.add(std::move(op)), boundary.inputs, boundary.results, uses_of(graph, operations, boundary)};
    return site;
  }
  std::string graph_name(const RegionBody& region) const { return adder_[region.graph].name; }

  // For original operations, not those inside choices.
  void remark(const Graph& graph, const Operations& operations, std::string message) {
    if (!nested_)
      remarks_.push_back({"offer_choices", graph.name, around_->name_of(*operations.rbegin()), std::move(message)});
  }

  const Program& before_;
  const PassContext& context_;
  RuleMatcher* matcher_;
  GraphNumbers& numbers_;
  RuleBook& book_;
  std::vector<AlternativeClaim> claims_;
  std::vector<Remark>& remarks_;
  std::optional<Surroundings> around_;  // of the current graph
  bool nested_ = false;                 // whether it belongs to a choice
  Program after_;
  GraphAdder adder_;
  OperatorForms forms_;  // of after_
  Reassociator reassociate_;
  std::map<GraphId, Rebuilt> rebuilt_;
  std::vector<Target> next_;
};

}  // namespace

PassResult offer_choices(const Program& program, const PassContext& context) {
  PassResult result{program, {}, {}};
  std::optional<RuleMatcher> matcher;
  if (context.rules) matcher.emplace(*context.rules);
  GraphNumbers numbers;
  RuleBook book;
  std::vector<Target> targets;
  const std::vector<bool> bodies = bodies_of_groups(program);
  for (std::size_t g = 0; g < program.graphs.size(); ++g)
    if (!bodies[g]) targets.push_back({GraphId(g)});
  for (int depth = 0; depth < most_nested_choices && !targets.empty(); ++depth) {
    if (depth > 0 && result.program.graphs.size() > most_graphs) break;
    Round round(result.program, context, matcher ? &*matcher : nullptr, numbers, book, result.remarks);
    if (!round.run(targets)) break;
    auto [made, next] = round.take();
    targets = std::move(next);
    if (!result.step.graphs.empty()) result.earlier.push_back({std::move(result.program), std::move(result.step)});
    result.program = std::move(made.program);
    result.step = std::move(made.step);
  }
  result.rules = book.take();
  if (result.step.graphs.empty())
    for (std::size_t g = 0; g < program.graphs.size(); ++g)
      result.step.graphs.push_back(untouched(program, GraphId(g)));
  return result;
}

}  // namespace tap::passes
