#include "compiler/driver/planning/mesh_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ir/graph.h"
#include "support/exit_code.h"

namespace tap::driver {
namespace {

constexpr std::int64_t most = 1 << 20;

Failure wrong_mesh(const std::string& text, const std::string& what, const std::string& help) {
  return {exit_code::wrong_command_line,
          Diagnostic(Code::command_line, Span{}, "`--mesh " + text + "` " + what).help(help)};
}

ir::MeshAxis parse_size(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::int64_t size = 0;
  const char *begin = text.data() + std::min(equals + 1, text.size()), *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(begin, end, size);
  if (equals == text.npos || equals == 0 || error != std::errc() || stop != end || size < 1 || size > most)
    throw wrong_mesh(text, "is not of the form AXIS=SIZE", "write --mesh data=4,model=2");
  return {text.substr(0, equals), size};
}

}  // namespace

std::vector<ir::MeshAxis> parse_mesh_sizes(const std::vector<std::string>& texts) {
  std::vector<ir::MeshAxis> axes;
  std::int64_t devices = 1;
  for (const std::string& text : texts) {
    ir::MeshAxis axis = parse_size(text);
    for (const ir::MeshAxis& other : axes)
      if (other.name == axis.name) throw wrong_mesh(text, "names an axis twice", "name each axis once");
    if (axis.size > most / devices)
      throw wrong_mesh(text, "gives more than " + std::to_string(most) + " devices", "use smaller sizes");
    devices *= axis.size;
    axes.push_back(std::move(axis));
  }
  return axes;
}

void resize_meshes(ir::Program& program, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const ir::MeshAxis resized = parse_size(text);
    std::vector<std::string> names;
    bool found = false;
    for (ir::Mesh& mesh : program.meshes)
      for (ir::MeshAxis& axis : mesh.axes) {
        names.push_back(axis.name);
        if (axis.name != resized.name) continue;
        if (!mesh.devices.empty())
          throw wrong_mesh(text, "resizes a mesh with listed devices", "remove `devices` from the mesh");
        axis.size = resized.size;
        found = true;
      }
    if (found) continue;
    auto near = did_you_mean(resized.name, names);
    throw wrong_mesh(text, "is not an axis of the program",
                     near ? "did you mean `" + *near + "`?" : "declare a mesh in the program");
  }
}

void require_devices(const cost::Cluster& cluster, std::int64_t devices) {
  std::int64_t listed = 0;
  for (const auto& [type, count] : cluster.layout) listed += count;
  const std::int64_t all = std::max(listed, cluster.count());
  if (all < 2 || devices <= all) return;
  throw Failure{
      exit_code::resource,
      Diagnostic(Code::plan_not_applicable, Span{},
                 fmt::format("a mesh of {} devices does not fit: the machine file has {}", devices, all))
          .help(fmt::format("use at most {} devices, or a machine file with {}: see the counts of `[[devices]]` and "
                            "`[[links]]`",
                            all, devices))};
}

}  // namespace tap::driver
