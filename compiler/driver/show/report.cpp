#include "compiler/driver/show/report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "compiler/driver/show/report_geometry.h"
#include "compiler/driver/show/report_graph.h"
#include "compiler/driver/show/report_passes.h"
#include "compiler/driver/show/report_proofs.h"
#include "compiler/driver/show/report_sources.h"
#include "compiler/driver/show/sharding_json.h"
#include "compiler/driver/show/why_sharded.h"
#include "cost/decide/mesh_splits.h"
#include "ir/graphs/operation_names.h"
#include "ir/shardings/mesh_names.h"
#include "ir/tensor_bytes.h"
#include "support/check.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_explained = 1000;   // values
constexpr std::size_t most_reasons = 100'000;  // bytes of the lines that explain them
constexpr std::size_t most_operations = 6000;  // of all stages; with more, only the last stage is part of the report
constexpr std::string_view sharded_stage = "sharded";
constexpr std::string_view place_of_picture = "<!--picture-->", place_of_data = "<!--data-->";

// The last stage that a pass of these made: the source's graph if none changed anything.
std::size_t last_made_by(const pipeline::Compilation& made, pipeline::Stage last) {
  std::size_t found = 0;
  for (std::size_t step = 0; step < made.certificate.steps.size(); ++step)
    for (pipeline::Stage stage : {pipeline::Stage::simplified, pipeline::Stage::fused, pipeline::Stage::sharded}) {
      if (stage > last) break;
      for (const passes::Pass& pass : pipeline::passes_of(stage))
        if (pass.name == made.certificate.steps[step].pass) found = step + 1;
    }
  return std::min(found, made.stages.size() - 1);
}

struct ReportedStage {
  const ir::Program* program;
  std::string_view name, about;
};

std::vector<ReportedStage> stages_of(const ReportInput& input) {
  const pipeline::Compilation& made = input.made;
  const std::size_t simplified = last_made_by(made, pipeline::Stage::simplified),
                    fused = last_made_by(made, pipeline::Stage::fused), last = made.stages.size() - 1;
  std::vector<ReportedStage> stages{{&made.stages[0], "written", "the graph that the program builds, with calls"}};
  if (input.propagated)
    stages.push_back(
        {&input.propagated->program, "simplified",
         "calls inlined, cells simplified, maps composed; each value has the sharding that propagates to it"});
  else if (simplified != 0)
    stages.push_back({&made.stages[simplified], "simplified", "calls inlined, cells simplified, maps composed"});
  if (fused != simplified)
    stages.push_back({&made.stages[fused], "fused", "iterates unrolled and operations fused, by the plan"});
  if (last != fused)
    stages.push_back(
        {&made.stages[last], sharded_stage, "operations split into shards, with the transfers that they need"});
  return stages;
}

std::size_t operations_in(const ir::Program& program) {
  std::size_t count = 0;
  for (const auto& [id, path] : ir::graph_paths(program)) count += program[id].operations.size();
  return count;
}

// Devices read of an input the parts that its propagated sharding gives them; in the sharded graph, only the operations say so.
ir::Program with_sharded_inputs(ir::Program program, const ir::Program& propagated) {
  const std::vector<ir::ValueId>&inputs = program[program.main].inputs, &known = propagated[propagated.main].inputs;
  if (program.meshes != propagated.meshes || inputs.size() != known.size()) return program;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    ir::Value& value = program.graphs[program.main.index()].values[inputs[k].index()];
    if (!value.sharding) value.sharding = propagated[propagated.main][known[k]].sharding;
  }
  return program;
}

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

using ValueAt = std::pair<ir::GraphId, ir::ValueId>;

ordered_json priced_json(const ReportInput& input, const ValueAt& at) {
  const ir::Program& program = input.propagated->program;
  const ir::Value& value = program[at.first][at.second];
  ordered_json out = ordered_json::array();
  for (std::size_t m = 0; m < program.meshes.size(); ++m) {
    if (value.sharding && value.sharding->mesh != ir::MeshId(m)) continue;
    const std::size_t rank = value.type.shape.size();
    const ir::Sharding none{ir::MeshId(m), std::vector<ir::DimSharding>(rank), {}, {}, ""};
    const auto found = input.costs->alternatives->of(at.first, at.second, value.sharding.value_or(none));
    if (found.size() < 2 || !found.front().price) continue;
    for (ordered_json& one : alternatives_json(found, program, input.costs->cluster)) out.push_back(std::move(one));
  }
  return out;
}

// The shardings that values could have, with their prices: of the largest values, as far as the budget allows.
std::map<ValueAt, ordered_json> priced_values(const ReportInput& input) {
  std::map<ValueAt, ordered_json> out;
  if (!input.costs || !input.costs->alternatives) return out;
  const ir::Program& program = input.propagated->program;
  std::vector<ValueAt> order;
  for (const auto& [graph, path] : ir::graph_paths(program))
    for (std::uint32_t v = 0; v < program[graph].values.size(); ++v) order.emplace_back(graph, ir::ValueId(v));
  auto bytes = [&](const ValueAt& at) { return ir::total_bytes(program[at.first][at.second].type); };
  std::stable_sort(order.begin(), order.end(), [&](const ValueAt& a, const ValueAt& b) { return bytes(a) > bytes(b); });
  for (const ValueAt& at : order) {
    ordered_json priced = priced_json(input, at);
    if (input.costs->pricer->refused()) break;
    out[at] = std::move(priced);
  }
  return out;
}

// Why values have no prices of other shardings.
std::string why_unpriced(const ReportInput& input) {
  const auto& lines = input.made.plan.decisions;
  if (std::any_of(lines.begin(), lines.end(), cost::is_over_mesh))
    return "lines of the plan divide the operations themselves, whatever shardings values have";
  return "`tapc explain FILE:VALUE`";
}

// What `tapc explain FILE:NAME` says about shardings. `unpriced`: what of it is left out, and why.
ordered_json reasons_json(const Session& session, const ReportInput& input, ReportSources& sources,
                          std::vector<std::string>& left_out, std::string& unpriced) {
  ordered_json reasons = ordered_json::array();
  if (!input.propagated) return reasons;
  const ir::Program& program = input.propagated->program;
  ShardingReasons of(session, *input.propagated, input.locations);
  std::map<ValueAt, ordered_json> priced = priced_values(input);
  std::size_t bytes = 0;
  for (const auto& [graph, path] : ir::graph_paths(program))
    for (std::uint32_t v = 0; v < program[graph].values.size(); ++v) {
      if (reasons.size() == most_explained || bytes > most_reasons) {
        left_out.push_back(
            fmt::format("the reasons for the shardings after the first {}: see `tapc explain FILE:VALUE`",
                        plural(reasons.size(), "value")));
        return reasons;
      }
      const ir::Value& value = program[graph].values[v];
      std::vector<std::string> lines = lines_in(why_sharded(of, *input.propagated, graph, ir::ValueId(v)));
      lines.erase(lines.begin());  // the name, type and sharding
      for (const std::string& line : lines) bytes += line.size();
      ordered_json axes = ordered_json::array();
      for (const AxisReason& reason : of.of(graph, ir::ValueId(v)))
        axes.push_back(reason_json(program, reason, sources));
      reasons.push_back({{"value", path + value.name},
                         {"sharding", value.sharding ? to_string(program.meshes, *value.sharding) : "not sharded"},
                         {"lines", lines},
                         {"axes", std::move(axes)},
                         {"alternatives", std::move(priced[{graph, ir::ValueId(v)}])}});
    }
  const auto count = std::count_if(reasons.begin(), reasons.end(),
                                   [](const auto& reason) { return reason["alternatives"].is_null(); });
  if (count > 0) {
    unpriced = fmt::format("what other shardings of {} would cost: {}",
                           plural(static_cast<std::uint64_t>(count), "value"), why_unpriced(input));
    left_out.push_back(unpriced);
  }
  return reasons;
}

// In ASCII alone, which a browser reads faster.
void add_escaped(std::string& text, const ordered_json& data) {
  for (char c : data.dump(-1, ' ', true, ordered_json::error_handler_t::replace)) {
    if (c == '<') text += "\\u003c";
    else text += c;
  }
}

// The page with data in these places, which are in this order.
std::string filled(std::string_view page, const std::vector<std::pair<std::string_view, const ordered_json&>>& places) {
  std::string text;
  for (const auto& [place, data] : places) {
    const std::size_t at = page.find(place);
    TAP_CHECK(at != page.npos, "the report's page has a place for data");
    text.append(page.substr(0, at));
    add_escaped(text, data);
    page.remove_prefix(at + place.size());
  }
  return text.append(page);
}

}  // namespace

ordered_json report_json(const Session& session, const ReportInput& input) {
  ReportSources sources(session, input.file);
  const ir::Program& program = input.made.program;
  ordered_json meshes = ordered_json::array();
  for (const ir::Mesh& mesh : program.meshes) meshes.push_back(report_mesh(mesh));
  std::vector<std::string> left_out;
  std::vector<ReportedStage> kept = stages_of(input);
  std::size_t operations = 0;
  for (const ReportedStage& stage : kept) operations += operations_in(*stage.program);
  if (operations > most_operations && kept.size() > 1) {
    left_out.push_back(
        fmt::format("the stages before the last one: {} operations in all, more than {}", operations, most_operations));
    kept.erase(kept.begin(), kept.end() - 1);
  }
  ordered_json stages = ordered_json::array();
  for (const ReportedStage& stage : kept) {
    std::optional<ir::Program> sharded;
    if (input.propagated && stage.name == sharded_stage)
      sharded = with_sharded_inputs(*stage.program, input.propagated->program);
    stages.push_back(report_stage(sharded ? *sharded : *stage.program, stage.name, stage.about, sources));
  }
  ordered_json passes =
      report_passes(input.made.stages, input.made.certificate, input.made.remarks, input.seconds, sources);
  std::string unpriced;
  ordered_json reasons = reasons_json(session, input, sources, left_out, unpriced);
  ordered_json plans = input.plans ? report_plans(*input.plans, sources) : ordered_json();
  ordered_json decisions = input.costs ? decisions_json(input.costs->considered, input.costs->cluster)
                                       : ordered_json::array();
  ordered_json kernels = input.kernels ? *input.kernels : ordered_json();
  ordered_json time_line = input.time_line ? *input.time_line : ordered_json();
  ordered_json out = object_with_room(16);
  out["format"] = "tap-report";
  out["version"] = 1;
  out["program"] = program[program.main].name;
  out["plan"] = input.plan.empty() ? ordered_json() : ordered_json(input.plan);
  out["meshes"] = std::move(meshes);
  out["stages"] = std::move(stages);
  out["passes"] = std::move(passes);
  out["reasons"] = std::move(reasons);
  out["unpriced"] = unpriced.empty() ? ordered_json() : ordered_json(unpriced);
  out["decisions"] = std::move(decisions);
  out["plans"] = std::move(plans);
  out["proofs"] = report_proofs(input.made);
  out["kernels"] = std::move(kernels);
  out["time_line"] = std::move(time_line);
  out["left_out"] = left_out;
  out["files"] = sources.to_json();
  return out;
}

std::string report_page(ordered_json data) {
  ordered_json stages = ordered_json::array(), absent = ordered_json::array();
  for (const ordered_json& stage : data["stages"])
    stages.push_back({{"name", stage["name"]}, {"about", stage["about"]}});
  if (data["reasons"].empty() && data["decisions"].empty()) absent.push_back("why");
  if (data["plans"].is_null()) absent.push_back("plan");
  if (data["time_line"].is_null()) absent.push_back("time");
  ordered_json& graph = data["stages"].back()["graphs"].front();
  const ordered_json picture = {{"program", data["program"]},
                                {"stages", std::move(stages)},
                                {"absent", std::move(absent)},
                                {"layout", std::move(graph["layout"])}};
  graph.erase("layout");
  return filled(embedded::report_page, {{place_of_picture, picture}, {place_of_data, data}});
}

}  // namespace tap::driver
