#include "compiler/driver/show/report_passes.h"

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include <cmath>
#include <map>
#include <string>

#include "compiler/driver/show/program_diff.h"
#include "compiler/pipeline/stage.h"
#include "ir/graphs/operation_names.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_rewrites = 500;  // of one step
constexpr std::size_t most_changes = 100;
constexpr std::size_t most_listed = 500;  // operations of the changes of one step

struct Rewritten {
  std::string_view what;           // empty: nothing changed
  std::vector<std::string> rules;  // lines of algebra
};

Rewritten rewritten(const ir::Copied&) { return {}; }
Rewritten rewritten(const ir::WholeCopy&) { return {"copies its operand", {}}; }
Rewritten rewritten(const ir::Simplified& claim) {
  Rewritten out{"simplified", {}};
  for (const ir::AxiomUse& use : claim.uses) out.rules.push_back(use.axiom);
  return out;
}
Rewritten rewritten(const ir::Composed&) { return {"composed with the maps that it reads", {}}; }
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
    for (std::size_t o = 0; o < claim.operations.size() && o < names.size(); ++o) {
      Rewritten change = std::visit([](const auto& j) { return rewritten(j); }, claim.operations[o]);
      if (change.what.empty() || ++count > most_rewrites) continue;
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
