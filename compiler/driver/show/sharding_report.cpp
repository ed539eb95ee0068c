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
using ir::ValueId;

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

ir::TensorType on_a_device(const ir::Program& program, const ir::Value& value) {
  if (!value.sharding) return value.type;
  return {value.type.element, local_shape(program[value.sharding->mesh], *value.sharding, value.type.shape)};
}

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
                      .help("devices are numbered from 0, unless a mesh lists their ids")};
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

}  // namespace tap::driver
