#include "compiler/driver/show/sharding_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "compiler/driver/failures.h"
#include "compiler/driver/work.h"
#include "compiler/frontend/elaborate/compile.h"
#include "ir/graphs/operation_names.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "support/byte_size.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

using ir::GraphId;
using ir::Sharding;
using ir::ValueId;

// The largest part of a value that one device holds.
ir::TensorType on_a_device(const ir::Program& program, const ir::Value& value) {
  if (!value.sharding) return value.type;
  return {value.type.element, local_shape(program[value.sharding->mesh], *value.sharding, value.type.shape)};
}

// Nothing if it is on other devices.
std::optional<ir::Box> box_on(const ir::Program& program, const ir::Value& value, std::int64_t device) {
  if (!value.sharding) return ir::Box::of_shape(value.type.shape);
  const ir::Mesh& mesh = program[value.sharding->mesh];
  const std::int64_t position = ir::index_in_mesh(mesh, device);
  if (position < 0) return std::nullopt;
  return ir::box_at(mesh, *value.sharding, value.type.shape, position);
}

std::string sharding_text(const ir::Program& program, const ir::Value& value) {
  return value.sharding ? to_string(program.meshes, *value.sharding) : "not sharded";
}

struct Row {
  std::string name, type, sharding, local;
};

std::string table(const std::vector<Row>& rows) {
  std::size_t names = 0, types = 0, shardings = 0;
  for (const Row& row : rows) {
    names = std::max(names, row.name.size());
    types = std::max(types, row.type.size());
    shardings = std::max(shardings, row.sharding.size());
  }
  std::string text;
  for (const Row& row : rows)
    text +=
        fmt::format("{:{}}  {:{}}  {:{}}  {}\n", row.name, names, row.type, types, row.sharding, shardings, row.local);
  return text;
}

struct Sum {
  double whole = 0, local = 0;
  void add(const ir::Program& program, const ir::Value& value) {
    whole += bytes_of(value.type);
    local += bytes_of(on_a_device(program, value));
  }
};

std::string sums(const ir::Program& program, const ir::Graph& graph) {
  Sum inputs, outputs, all;
  for (ValueId v : graph.inputs) inputs.add(program, graph[v]);
  for (ValueId v : graph.outputs) outputs.add(program, graph[v]);
  for (const ir::Value& value : graph.values) all.add(program, value);
  std::string text;
  for (const auto& [what, sum] : {std::pair("inputs", inputs), {"results", outputs}, {"all values", all}})
    text += fmt::format("{}: {} per device, of {}\n", what, byte_size(sum.local), byte_size(sum.whole));
  return text;
}

// Follows the origins of one axis of a value back to an annotation.
class Reasons {
 public:
  Reasons(const Session& session, const passes::Propagated& found, const ValueLocations& locations)
      : session_(session), found_(found), program_(found.program), locations_(locations) {}

  std::string of(GraphId graph, ValueId value, std::uint32_t dim, const ir::AxisRef& axis) {
    std::vector<std::string> chain;
    while (const passes::Origin* origin = chain.size() < found_.origins.size() ? origin_of(graph, value, dim, axis)
                                                                               : nullptr) {
      std::string by = origin->operation ? "through the operation that writes " + written_by(graph, *origin->operation)
                                         : std::string("which must have the same sharding");
      if (!origin->from) {
        chain.push_back(fmt::format("{} gets it {}", name(graph, value), by));
        return chain_text(chain);
      }
      chain.push_back(fmt::format("{} gets it from {}, {}", name(graph, value),
                                  name(origin->from->first, origin->from->second), by));
      std::tie(graph, value) = *origin->from;
      dim = any_dim;
    }
    chain.push_back(fmt::format("{} is annotated with it{}", name(graph, value), location_text(graph, value)));
    return chain_text(chain);
  }

 private:
  static constexpr std::uint32_t any_dim = ~0u;
  static constexpr std::size_t shown = 8;  // steps shown at the start of a long chain; the last one is always shown

  static std::string chain_text(const std::vector<std::string>& chain) {
    std::string text;
    for (std::size_t k = 0; k < chain.size(); ++k) {
      if (k < shown || k + 1 == chain.size()) text += "    " + chain[k] + "\n";
      else if (k == shown) text += fmt::format("    … {} more\n", plural(chain.size() - shown - 1, "step"));
    }
    return text;
  }

  const passes::Origin* origin_of(GraphId graph, ValueId value, std::uint32_t dim, const ir::AxisRef& axis) const {
    for (const passes::Origin& origin : found_.origins) {
      if (origin.graph != graph || origin.value != value || (dim != any_dim && origin.dim != dim)) continue;
      const auto& sharding = program_[graph][value].sharding;
      if (sharding && overlap(program_[sharding->mesh], origin.axis, axis)) return &origin;
    }
    return nullptr;
  }
  std::string name(GraphId graph, ValueId value) const { return "`" + program_[graph][value].name + "`"; }
  std::string written_by(GraphId graph, ir::OperationId operation) const {
    const ir::Operation& written = program_[graph][operation];
    return written.results.empty() ? "nothing" : name(graph, written.results[0]);
  }
  std::string location_text(GraphId graph, ValueId value) const {
    auto at = locations_.find(program_[graph][value].name);
    if (at == locations_.end() || !at->second.valid()) return "";
    const SourceFile& file = session_.sources.file(at->second.file);
    Position position = file.position(at->second.begin);
    return fmt::format(", at {}:{}:{}", file.path(), position.line, position.column);
  }

  const Session& session_;
  const passes::Propagated& found_;
  const ir::Program& program_;
  const ValueLocations& locations_;
};

// Shardings that reached an input or a result of the program and were reduced at the end.
std::string dropped_sharding_lines(const passes::Propagated& found, GraphId graph, ValueId value) {
  const Sharding& sharding = *found.program[graph][value].sharding;
  const ir::Mesh& mesh = found.program[sharding.mesh];
  std::vector<std::string> lines;
  for (const passes::Origin& origin : found.origins) {
    if (origin.graph != graph || origin.value != value) continue;
    const ir::Axes& kept = sharding.dims[origin.dim].axes;
    if (std::any_of(kept.begin(), kept.end(), [&](const ir::AxisRef& a) { return overlap(mesh, a, origin.axis); }))
      continue;
    std::string line = fmt::format(
        "  axis {} could also be sharded by {}, but inferred shardings of program inputs and results must divide "
        "evenly, by whole axes\n",
        origin.dim, to_string(mesh, origin.axis));
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
  }
  return fmt::format("{}", fmt::join(lines, ""));
}

std::string axis_lines(Reasons& reasons, const ir::Program& program, GraphId graph, ValueId value) {
  const ir::Value& about = program[graph][value];
  const ir::Mesh& mesh = program[about.sharding->mesh];
  double local = bytes_of(on_a_device(program, about));
  std::string text;
  for (std::uint32_t d = 0; d < about.sharding->dims.size(); ++d)
    for (const ir::AxisRef& axis : about.sharding->dims[d].axes) {
      Sharding without_it = *about.sharding;
      std::erase(without_it.dims[d].axes, axis);
      ir::Value other{about.name, about.type, false, without_it};
      text += fmt::format("  axis {} is sharded by {}; without it, a device would hold {} more\n", d,
                          to_string(mesh, axis), byte_size(bytes_of(on_a_device(program, other)) - local));
      text += reasons.of(graph, value, d, axis);
    }
  if (text.empty()) return "  not sharded: every device holds all of it\n";
  return text + fmt::format("  if replicated, each of {} would hold {}\n",
                            plural(static_cast<std::uint64_t>(device_count(mesh)), "device"),
                            byte_size(bytes_of(about.type)));
}

// For every graph, the given part of each value.
std::string tables(const ir::Program& program, const std::function<std::string(const ir::Value&)>& on_device) {
  std::string text;
  for (const auto& [graph, path] : ir::graph_paths(program)) {
    std::vector<Row> rows;
    for (const ir::Value& value : program[graph].values)
      rows.push_back({path + value.name, to_string(value.type), sharding_text(program, value), on_device(value)});
    text += "\n" + table(rows);
  }
  return text;
}

}  // namespace

std::string mesh_lines(const ir::Program& program) {
  std::string text;
  for (const ir::Mesh& mesh : program.meshes) {
    std::string axes;
    for (const ir::MeshAxis& axis : mesh.axes)
      axes += fmt::format("{}{}: {}", axes.empty() ? "" : ", ", axis.name, axis.size);
    text += fmt::format("mesh {} [{}], {}\n", mesh.name, axes,
                        plural(static_cast<std::uint64_t>(device_count(mesh)), "device"));
  }
  return text;
}

std::string list_shardings(const ir::Program& program) {
  auto largest = [&](const ir::Value& value) {
    const ir::TensorType local = on_a_device(program, value);
    return fmt::format("{}, {}", to_string(local), byte_size(bytes_of(local)));
  };
  return mesh_lines(program) + tables(program, largest) + "\n" + sums(program, program[program.main]);
}

std::string list_shardings_on(const ir::Program& program, std::int64_t device) {
  auto has_it = [device](const ir::Mesh& mesh) { return ir::index_in_mesh(mesh, device) >= 0; };
  if (std::none_of(program.meshes.begin(), program.meshes.end(), has_it))
    throw Failure{exit_code::wrong_command_line,
                  Diagnostic(Code::command_line, Span{}, fmt::format("no mesh of the program has device {}", device))
                      .help("devices are counted from 0, unless a mesh lists their ids")};
  double sum = 0;
  auto held = [&](const ir::Value& value) {
    const std::optional<ir::Box> box = box_on(program, value, device);
    if (!box || box->empty()) return std::string("nothing");
    const double bytes = bytes_of({value.type.element, box->shape()});
    sum += bytes;
    return fmt::format("{}, {}", to_string(*box), byte_size(bytes));
  };
  const std::string text = mesh_lines(program) + tables(program, held);
  return fmt::format("{}\nall values: {} on device {}\n", text, byte_size(sum), device);
}

ValueLocations locations_of_values(const Compiled& compiled) {
  ValueLocations locations;
  for (std::size_t g = 0; g < compiled.provenance.graphs.size() && g < compiled.program.graphs.size(); ++g)
    for (std::size_t v = 0; v < compiled.provenance.graphs[g].values.size(); ++v)
      locations.try_emplace(compiled.program.graphs[g].values[v].name, compiled.provenance.graphs[g].values[v]);
  return locations;
}

std::vector<std::pair<std::string, std::string>> shardings_of(const ir::Program& program) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const auto& [graph, path] : ir::graph_paths(program))
    for (const ir::Value& value : program[graph].values)
      found.emplace_back(path + value.name, sharding_text(program, value));
  return found;
}

std::vector<std::string> names_of_values(const ir::Program& program) {
  std::vector<std::string> names;
  for (const auto& [graph, path] : ir::graph_paths(program))
    for (const ir::Value& value : program[graph].values) names.push_back(path + value.name);
  return names;
}

std::string why_sharded(const Session& session, const passes::Propagated& found, const ValueLocations& locations,
                        const std::string& name) {
  const ir::Program& program = found.program;
  Reasons reasons(session, found, locations);
  for (const auto& [graph, path] : ir::graph_paths(program))
    for (std::uint32_t v = 0; v < program[graph].values.size(); ++v) {
      const ir::Value& value = program[graph].values[v];
      if (path + value.name != name) continue;
      ir::TensorType local = on_a_device(program, value);
      std::string text =
          fmt::format("{}: {}{}\n", name, to_string(value.type),
                      value.sharding ? " @ " + to_string(program.meshes, *value.sharding) : ", not sharded");
      if (!value.sharding)
        return text + fmt::format("  no annotated sharding propagates to it: every device holds {}\n",
                                  byte_size(bytes_of(value.type)));
      text += fmt::format("  a device holds {} of it, {} of {}\n", to_string(local), byte_size(bytes_of(local)),
                          byte_size(bytes_of(value.type)));
      return text + axis_lines(reasons, program, graph, ir::ValueId(v)) +
             dropped_sharding_lines(found, graph, ir::ValueId(v));
    }
  return "";
}

}  // namespace tap::driver
