#include "compiler/driver/show/sharding_json.h"

#include <nlohmann/json.hpp>

#include "compiler/driver/show/sharding_report.h"
#include "compiler/driver/show/written_operations.h"
#include "compiler/driver/work.h"
#include "ir/graphs/operation_names.h"
#include "ir/shardings/mesh_names.h"
#include "passes/shardings/moves.h"

namespace tap::driver {
namespace {

using nlohmann::ordered_json;

ordered_json lines_at(Span span, ReportSources& sources) {
  ordered_json lines = ordered_json::array();
  if (span.valid()) lines.push_back(sources.lines_of(span));
  return lines;
}

ordered_json causes_json(const std::vector<Cause>& causes, ReportSources& sources) {
  ordered_json out = ordered_json::array();
  for (const Cause& cause : causes)
    out.push_back({{"kind", cause.kind},
                   {"text", cause.text},
                   {"value", cause.value},
                   {"operation", cause.operation},
                   {"source", lines_at(cause.span, sources)}});
  return out;
}

ordered_json mesh_json(const ir::Mesh& mesh) {
  ordered_json axes = ordered_json::array();
  for (const ir::MeshAxis& axis : mesh.axes) axes.push_back({{"name", axis.name}, {"size", axis.size}});
  return {{"name", mesh.name}, {"axes", axes}, {"devices", mesh.devices}};
}

ordered_json move_json(const Session& session, const passes::Move& move, ReportSources& sources) {
  return {
      {"value", move.value},
      {"reader", move.reader},
      {"operation", move.operation},
      {"step", move.step},
      {"bytes", move.bytes},
      {"times", move.times < 0x1p53 ? ordered_json(static_cast<std::int64_t>(move.times)) : ordered_json(move.times)},
      {"moved_for", move.moved_for},
      {"implicit", move.implicit},
      {"source", lines_at(called_at(session.operations, move.operation), sources)}};
}

}  // namespace

ordered_json reason_json(const ir::Program& program, const AxisReason& reason, ReportSources& sources) {
  const ir::Mesh& mesh = program[reason.mesh];
  return {{"mesh", mesh.name},
          {"axis", mesh[reason.axis].name},
          {"state", name(reason.state)},
          {"dim", reason.dim ? ordered_json(*reason.dim) : ordered_json()},
          {"from", reason.source},
          {"operation", reason.operation},
          {"source", lines_at(reason.span, sources)},
          {"causes", causes_json(reason.causes, sources)},
          {"lost", causes_json(reason.lost, sources)}};
}

ordered_json sharding_json(const Session& session, FileId file, const passes::Propagated& found,
                           const ValueLocations& locations, const passes::Caution& caution) {
  ReportSources sources(session, file);
  const ir::Program& program = found.program;
  ShardingReasons reasons(session, found, locations);
  ordered_json meshes = ordered_json::array(), values = ordered_json::array(), moves = ordered_json::array();
  for (const ir::Mesh& mesh : program.meshes) meshes.push_back(mesh_json(mesh));
  for (const auto& [graph, path] : ir::graph_paths(program))
    for (std::uint32_t v = 0; v < program[graph].values.size(); ++v) {
      const ir::Value& value = program[graph].values[v];
      const ir::TensorType local = on_a_device(program, value);
      ordered_json axes = ordered_json::array();
      for (const AxisReason& reason : reasons.of(graph, ir::ValueId(v)))
        axes.push_back(reason_json(program, reason, sources));
      values.push_back(
          {{"name", path + value.name},
           {"type", to_string(value.type)},
           {"sharding", value.sharding ? ordered_json(to_string(program.meshes, *value.sharding)) : ordered_json()},
           {"local", to_string(local)},
           {"local_bytes", bytes_of(local)},
           {"source", lines_at(reasons.location({graph, ir::ValueId(v)}), sources)},
           {"axes", axes}});
    }
  for (const passes::Move& move : passes::moves_of(program, caution))
    moves.push_back(move_json(session, move, sources));
  ordered_json files = ordered_json::array();
  for (const std::string& path : sources.paths()) files.push_back(path);
  return {{"format", "tap-sharding"},
          {"version", 1},
          {"program", program[program.main].name},
          {"meshes", meshes},
          {"values", values},
          {"moves", moves},
          {"files", files}};
}

}  // namespace tap::driver
