#include "compiler/driver/show/report_passes.h"

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include <cmath>
#include <map>
#include <string>

#include "compiler/driver/show/drawing.h"
#include "compiler/driver/show/program_diff.h"
#include "compiler/pipeline/stage.h"
#include "ir/author_names.h"
#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_rewrites = 500;  // of one step
constexpr std::size_t most_changes = 100;
constexpr std::size_t most_listed = 500;  // operations of the changes of one step

struct Rewritten {
  std::string what;                // empty: nothing changed
  std::vector<std::string> rules;  // lines of algebra
};

Rewritten rewritten(const ir::Copied&) { return {}; }
Rewritten rewritten(const ir::WholeCopy&) { return {"copies its operand", {}}; }
Rewritten rewritten(const ir::Simplified& claim) {
  Rewritten out{"simplified", {}};
  for (const ir::AxiomUse& use : claim.uses) out.rules.push_back(use.axiom);
  return out;
}
Rewritten rewritten(const ir::Composed&) {
  return {"composed with the maps that it reads", {"y[i] = f(x[i]), x[i] = g(i): y[i] = f(g(i))"}};
}
Rewritten rewritten(const ir::BlockedFrom&) { return {"split into blocks", {}}; }
Rewritten rewritten(const ir::PartialOf&) { return {"split into partials", {}}; }
Rewritten rewritten(const ir::CombinationOf&) { return {"combines partials", {}}; }
Rewritten rewritten(const ir::LocalScanOf&) { return {"scans its block", {}}; }
Rewritten rewritten(const ir::TotalsOf&) { return {"totals of blocks", {}}; }
Rewritten rewritten(const ir::CarryOf&) { return {"carries totals to later blocks", {}}; }
Rewritten rewritten(const ir::CarriedScanOf&) { return {"adds what earlier blocks carry", {}}; }
Rewritten rewritten(const ir::GroupOf&) { return {"fused into a group", {}}; }
Rewritten rewritten(const ir::OfferedFor&) { return {"offered as a choice", {}}; }
Rewritten rewritten(const ir::TripOf&) { return {"a trip of an iterate", {}}; }
Rewritten rewritten(const ir::TransferOf&) { return {"transfer inserted", {}}; }
Rewritten rewritten(const ir::PointOf&) { return {"a reduction of at most one point became a map", {}}; }
Rewritten rewritten(const ir::FoldOf&) { return {"computed in one pass", {}}; }
Rewritten rewritten(const ir::StagedOf&) { return {"writes a staging buffer first", {}}; }
Rewritten rewritten(const ir::PlacedFrom&) { return {"puts staged cells in their place", {}}; }
Rewritten rewritten(const ir::ProductOf&) { return {"a product in another order", {}}; }
Rewritten rewritten(const ir::Reordered&) { return {"dims in another order", {}}; }

// The splits among the claims, with their dims and blocks:
//   split along i into 4 blocks over pod.data     for i: f = for i_block: for i in block i_block: f
//   has the partials of 2 blocks of k             sum[k] f = sum[k_block] sum[k in block k_block] f
class SplitTexts {
 public:
  SplitTexts(const ir::Program& before, const ir::Program& after, const ir::GraphClaim& claim)
      : before_(before), after_(after), claim_(claim) {}

  void tell(std::size_t o, Rewritten& change) const {
    const ir::Justification& justified = claim_.operations[o];
    if (const auto* blocked = std::get_if<ir::BlockedFrom>(&justified)) tell(*blocked, operation(o), change);
    if (const auto* partial = std::get_if<ir::PartialOf>(&justified)) {
      change.what = fmt::format("has the partials of {} of {}{}", blocks(operation(o), partial->block_dim),
                                name(operation(o), partial->dim), place(operation(o), partial->block_dim));
      change.rules = rules(*partial, operation(o));
    }
    if (const auto* combined = std::get_if<ir::CombinationOf>(&justified))
      if (const auto* partial = std::get_if<ir::PartialOf>(&claim_.operations[combined->partial.index()])) {
        const ir::Operation& parts = operation(combined->partial.index());
        change.what = fmt::format("combines the partials of {}", name(parts, partial->dim));
        change.rules = rules(*partial, parts);
      }
  }

 private:
  void tell(const ir::BlockedFrom& from, const ir::Operation& now, Rewritten& change) const {
    const ir::Graph& graph = before_[claim_.before];
    if (from.from.operation.index() >= graph.operations.size()) return;
    const std::vector<ir::Blocking>& all = after_[now.op].blockings;
    std::string splits;
    std::vector<std::string> lines;
    for (std::size_t k = before_[graph[from.from.operation].op].blockings.size(); k < all.size(); ++k) {
      const std::string dim = name(now, all[k].dim), block = name(now, all[k].block_dim);
      splits += fmt::format("{} along {} into {}{}", splits.empty() ? "split" : " and", dim,
                            blocks(now, all[k].block_dim), place(now, all[k].block_dim));
      lines.push_back(fmt::format("for {0}: f = for {1}: for {0} in block {1}: f", dim, block));
    }
    if (!splits.empty()) change = {std::move(splits), std::move(lines)};
  }

  std::vector<std::string> rules(const ir::PartialOf& partial, const ir::Operation& parts) const {
    const ir::ReduceBody* reduce = after_[parts.op].reduce();
    if (!reduce) return {};
    return {fmt::format("{0}[{1}] f = {0}[{2}] {0}[{1} in block {2}] f", after_[reduce->monoid].name,
                        name(parts, partial.dim), name(parts, partial.block_dim))};
  }

  const ir::Operation& operation(std::size_t o) const { return after_[claim_.after].operations[o]; }
  std::string name(const ir::Operation& of, std::uint32_t dim) const {
    return ir::own_dim_name(after_[of.op], of.names, dim);
  }
  std::string blocks(const ir::Operation& of, std::uint32_t block_dim) const {
    return plural(static_cast<std::uint64_t>(after_[of.op].dims[block_dim].range.size()), "block");
  }
  std::string place(const ir::Operation& of, std::uint32_t block_dim) const {
    for (const ir::BlockPlacement& placed : of.placements)
      if (placed.dim == block_dim) return " over " + place_name(after_, placed);
    return "";
  }

  const ir::Program &before_, &after_;
  const ir::GraphClaim& claim_;
};

std::size_t operations_of(const ir::Program& program) {
  std::size_t count = 0;
  for (const auto& [id, path] : ir::graph_paths(program)) count += program[id].operations.size();
  return count;
}

// `left`: how many operations may still be listed.
ordered_json listed(const std::vector<ListedOperation>& operations, std::size_t& left) {
  ordered_json out = ordered_json::array();
  const std::size_t count = std::min(operations.size(), left);
  left -= count;
  for (std::size_t k = 0; k < count; ++k) out.push_back({operations[k].name, operations[k].text});
  if (count < operations.size())
    out.push_back({"…", fmt::format("{} left out",
                                    plural(operations.size() - count, "more operation is", "more operations are"))});
  return out;
}

// As `tapc inspect --diff` shows it.
ordered_json changes_json(const std::vector<Change>& changes) {
  ordered_json out = ordered_json::array();
  std::size_t left = most_listed;
  for (std::size_t k = 0; k < changes.size() && k < most_changes && left > 0; ++k)
    out.push_back({{"before", listed(changes[k].before, left)}, {"after", listed(changes[k].after, left)}});
  return out;
}

ordered_json step_json(const ir::Step& step, const ir::Program& before, const ir::Program& after,
                       ReportSources& sources) {
  ordered_json rewrites = ordered_json::array();
  std::size_t count = 0;
  std::map<ir::GraphId, std::string> paths;
  for (const auto& [id, path] : ir::graph_paths(after)) paths.emplace(id, path);
  for (const ir::GraphClaim& claim : step.graphs) {
    auto path = paths.find(claim.after);
    if (path == paths.end()) continue;
    const std::vector<std::string> names = ir::operation_names(after[claim.after]);
    const SplitTexts splits(before, after, claim);
    for (std::size_t o = 0; o < claim.operations.size() && o < names.size(); ++o) {
      Rewritten change = std::visit([](const auto& j) { return rewritten(j); }, claim.operations[o]);
      if (change.what.empty() || ++count > most_rewrites) continue;
      splits.tell(o, change);
      const std::string name = path->second + names[o];
      if (const ir::RegionBody* region = after[after[claim.after].operations[o].op].region())
        for (const ir::Alternative& alternative : region->alternatives) change.rules.push_back(alternative.rule);
      rewrites.push_back(
          {{"operation", name}, {"what", change.what}, {"rules", change.rules}, {"source", sources.lines_of(name)}});
    }
  }
  const std::vector<Change> changes = changes_between(before, after, most_changes, most_listed);
  return {{"operations", {operations_of(before), operations_of(after)}},
          {"rewrites", std::move(rewrites)},
          {"count", count},
          {"changes", changes_json(changes)},
          {"change_count", changes.size()}};
}

ordered_json remarks_of(const std::vector<passes::Remark>& remarks, std::string_view pass, ReportSources& sources) {
  ordered_json out = ordered_json::array();
  for (const passes::Remark& remark : remarks)
    if (remark.pass == pass)
      out.push_back({{"operation", remark.operation},
                     {"message", remark.message},
                     {"source", sources.lines_of(remark.operation)}});
  return out;
}

// To the microsecond.
ordered_json milliseconds_of(const passes::Pass& pass, const passes::PassSeconds* seconds) {
  if (!seconds || !seconds->contains(&pass)) return {};
  return std::round(seconds->at(&pass) * 1e6) / 1e3;
}

}  // namespace

ordered_json report_passes(const std::vector<ir::Program>& stages, const ir::Certificate& certificate,
                           const std::vector<passes::Remark>& remarks, const passes::PassSeconds* seconds,
                           ReportSources& sources) {
  ordered_json out = ordered_json::array();
  std::size_t step = 0;
  for (const pipeline::StageInfo& stage : pipeline::stages()) {
    if (stage.stage > pipeline::Stage::sharded) break;
    for (const passes::Pass& pass : pipeline::passes_of(stage.stage)) {
      if (pass.when == passes::When::on_request) continue;
      ordered_json steps = ordered_json::array();
      for (; step < certificate.steps.size() && step + 1 < stages.size() && certificate.steps[step].pass == pass.name;
           ++step)
        steps.push_back(step_json(certificate.steps[step], stages[step], stages[step + 1], sources));
      ordered_json left = steps.empty() ? ordered_json::array() : remarks_of(remarks, pass.name, sources);
      out.push_back({{"stage", stage.name},
                     {"name", pass.name},
                     {"reason", pass.reason},
                     {"milliseconds", milliseconds_of(pass, seconds)},
                     {"steps", std::move(steps)},
                     {"remarks", std::move(left)}});
    }
  }
  return out;
}

}  // namespace tap::driver
