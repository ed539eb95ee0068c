#include "compiler/driver/planning/plan_meshes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/driver/planning/mesh_sizes.h"
#include "compiler/driver/planning/plan_front.h"
#include "cost/decide/mesh_splits.h"
#include "ir/graphs/operation_names.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/other_mesh.h"
#include "passes/splits/requested_splits.h"
#include "support/exit_code.h"

namespace tap::driver {
namespace {

std::optional<MeshAxes> mesh_of_plans(const cost::SearchOptions& search) {
  for (const ir::Plan* plan : {&search.kept, &search.start})
    if (plan->meshes.size() == 1) return plan->meshes[0].axes;
  return std::nullopt;
}

// Where no option says it: that of the plans, or of the program.
MeshAxes mesh_at_hand(const ir::Program& program, const cost::SearchOptions& search) {
  if (const std::optional<MeshAxes> planned = mesh_of_plans(search)) return *planned;
  if (program.meshes.size() == 1) return program.meshes.front().axes;
  throw Failure{exit_code::wrong_command_line,
                Diagnostic(Code::command_line, Span{}, "`--mesh` or `--devices` is required")
                    .help("write --mesh data=4,model=2, or --devices 8 to search meshes, too")};
}

// Every way to write a number of devices as a product of at most three axes, x, y and z; if all devices are alike and all links,
// the largest axis comes first, since the order makes no difference.
std::vector<MeshAxes> meshes_of(std::int64_t devices, const cost::Cluster& cluster) {
  const bool any_order = cluster.links.size() > 1 || !cluster.pairs.empty() || !cluster.layout.empty();
  std::vector<MeshAxes> meshes;
  for (std::int64_t x = devices; x >= 1; --x) {
    if (devices % x != 0 || (x == 1 && devices > 1)) continue;
    const std::int64_t rest = devices / x;
    for (std::int64_t y = rest; y >= 1; --y) {
      if (rest % y != 0 || (y == 1 && rest > 1)) continue;
      if (!any_order && (y > x || rest / y > y)) continue;
      MeshAxes axes{{"x", x}};
      if (y > 1) axes.push_back({"y", y});
      if (rest / y > 1) axes.push_back({"z", rest / y});
      meshes.push_back(std::move(axes));
    }
  }
  return meshes;
}

// Fewer devices can be cheaper: then every number of devices that divides them is tried, too.
std::vector<MeshAxes> meshes_asked(const MeshesAsked& asked, const ir::Program& program,
                                   const cost::SearchOptions& search) {
  const cost::Cluster& cluster = search.cluster;
  if (!asked.mesh.empty()) return {parse_mesh_sizes(asked.mesh)};
  if (asked.devices == 0) return {mesh_at_hand(program, search)};
  std::vector<MeshAxes> meshes = meshes_of(asked.devices, cluster);
  for (std::int64_t fewer = asked.devices - 1; asked.fewer && fewer >= 1; --fewer)
    if (asked.devices % fewer == 0)
      for (MeshAxes& axes : meshes_of(fewer, cluster)) meshes.push_back(std::move(axes));
  return meshes;
}

// Those with the devices of the program's own meshes.
std::vector<MeshAxes> of_one_set(const ir::Program& program, std::vector<MeshAxes> meshes) {
  const std::string given = ir::devices_in_words({"", meshes.front(), {}});
  const ir::Mesh* own = nullptr;
  std::erase_if(meshes, [&](const MeshAxes& axes) {
    const ir::Mesh* other = ir::with_other_devices(program.meshes, {"", axes, {}});
    if (other) own = other;
    return other != nullptr;
  });
  if (meshes.empty())
    throw Failure{exit_code::wrong_command_line,
                  Diagnostic(Code::command_line, Span{},
                             fmt::format("a mesh with {} was given, and the program's mesh `{}` has {}", given,
                                         own->name, ir::devices_in_words(*own)))
                      .help("give a mesh with the same number of devices")};
  return meshes;
}

// What the program says about a mesh.
struct OnMesh {
  std::string what;  // the sharding of `X`
  ir::MeshId mesh;
  Span at;
  std::optional<ir::Sharding> sharding = {};  // of a split: none
};
Span found_in(const std::map<std::string, Span, std::less<>>& spans, const std::string& name) {
  const auto at = spans.find(name);
  return at == spans.end() ? Span{} : at->second;
}
std::vector<OnMesh> said_of_meshes(const ir::Program& program, const ValueLocations& locations) {
  std::vector<OnMesh> said;
  auto span_of = [&](const std::map<std::string, Span, std::less<>>& spans, const std::string& name) {
    if (const Span own = found_in(spans, name); own.valid()) return own;
    if (const Span value = found_in(locations.values, name); value.valid()) return value;
    return found_in(locations.values, name.substr(name.rfind('/') + 1));
  };
  for (const auto& [id, path] : ir::graph_paths(program)) {
    const ir::Graph& graph = program[id];
    for (const ir::Value& value : graph.values)
      if (value.sharding)
        said.push_back({"the sharding of `" + path + value.name + "`", value.sharding->mesh,
                        span_of(locations.shardings, path + value.name), value.sharding});
    const std::vector<std::string> names = ir::operation_names(graph);
    for (std::size_t o = 0; o < graph.operations.size(); ++o) {
      const ir::Operation& reader = graph.operations[o];
      for (std::size_t k = 0; k < reader.operand_shardings.size(); ++k)
        if (reader.operand_shardings[k])
          said.push_back({fmt::format("the sharding of `{}` for `{}`", graph[reader.operands[k]].name, path + names[o]),
                          reader.operand_shardings[k]->mesh, span_of(locations.values, path + names[o]),
                          reader.operand_shardings[k]});
    }
    for (const ir::SplitRequest& split : graph.splits)
      if (split.mesh_axis) {
        const std::string name = path + names[split.operation.index()];
        said.push_back({"the split of `" + name + "`", split.mesh, span_of(locations.splits, name)});
      }
  }
  return said;
}

// Lines of a plan cannot divide an operation that a split in the program divides over another mesh.
bool can_follow(const ir::Program& program, const OnMesh& said, const MeshAxes& axes) {
  const ir::Mesh& own = program[said.mesh];
  if (own.axes.empty()) return false;  // one device, of which no division knows
  const auto declared = std::ranges::find(program.meshes, axes, &ir::Mesh::axes);
  const ir::Mesh searched = declared == program.meshes.end() ? ir::Mesh{"", axes, {}} : *declared;
  return searched == own || (said.sharding && ir::on_other_mesh(*said.sharding, own, said.mesh, searched));
}

std::string sizes_text(const MeshAxes& axes) {  // data=2,model=2
  std::vector<std::string> sizes;
  for (const ir::MeshAxis& axis : axes) sizes.push_back(fmt::format("{}={}", axis.name, axis.size));
  return fmt::format("{}", fmt::join(sizes, ","));
}

Failure on_another_mesh(const ir::Program& program, const OnMesh& said, const MeshAxes& searched) {
  const ir::Mesh& own = program[said.mesh];
  const ir::Mesh* named = nullptr;
  for (const ir::Mesh& mesh : program.meshes)
    if (mesh.axes == searched) named = &mesh;
  const std::string other = named ? "the mesh `" + axes_text(*named) + "`" : "a mesh " + sizes_text(searched);
  return {exit_code::wrong_command_line,
          Diagnostic(Code::command_line, said.at,
                     fmt::format("{} is over the mesh `{}`, and the plan is for {}: it could not follow it", said.what,
                                 axes_text(own), other))
              .help(own.axes.empty() ? "remove it"
                                     : fmt::format("plan for `--mesh {}`, or remove it", sizes_text(own.axes)))};
}

}  // namespace

std::vector<MeshAxes> meshes_to_search(const MeshesAsked& asked, const cost::SearchOptions& search,
                                       const ir::Program& program, const ValueLocations& locations) {
  std::vector<MeshAxes> meshes = of_one_set(program, meshes_asked(asked, program, search));
  const std::vector<OnMesh> said = said_of_meshes(program, locations);
  auto not_followed = [&](const MeshAxes& axes) {
    return std::ranges::find_if(said, [&](const OnMesh& one) { return !can_follow(program, one, axes); });
  };
  const MeshAxes first = meshes.front();
  std::erase_if(meshes, [&](const MeshAxes& axes) { return not_followed(axes) != said.end(); });
  const bool may_choose = asked.mesh.empty() && asked.devices > 0;
  for (const OnMesh& one : said) {  // with the names of the program, and its mesh if it has more axes than others
    const MeshAxes& own = program[one.mesh].axes;
    if (!may_choose || not_followed(own) != said.end()) continue;
    std::erase_if(meshes, [&](const MeshAxes& axes) {
      return std::ranges::equal(axes, own, {}, &ir::MeshAxis::size, &ir::MeshAxis::size);
    });
    meshes.insert(meshes.begin(), own);
  }
  if (meshes.empty()) throw on_another_mesh(program, *not_followed(first), first);
  return meshes;
}

void follow_shardings_on(ir::Program& program, ir::MeshId mesh) {
  auto follow = [&](std::optional<ir::Sharding>& sharding) {
    if (!sharding || sharding->mesh == mesh) return;
    if (auto same = ir::on_other_mesh(*sharding, program[sharding->mesh], mesh, program[mesh])) sharding = *same;
  };
  for (ir::Graph& graph : program.graphs) {
    for (ir::Value& value : graph.values) follow(value.sharding);
    for (ir::Operation& reader : graph.operations)
      for (std::optional<ir::Sharding>& use : reader.operand_shardings) follow(use);
  }
}

std::vector<ir::Decision> requested_over_meshes(const ir::Program& program) {
  std::vector<ir::Decision> lines = passes::requested_splits(program).decisions;
  std::erase_if(lines, [](const ir::Decision& line) { return !cost::is_over_mesh(line); });
  return lines;
}

void remove_requested(ir::Plan& plan, const std::vector<ir::Decision>& requested) {
  auto is_requested = [&](const ir::Decision& line) {
    const auto* own = std::get_if<ir::PlannedSplit>(&line);
    return own && std::ranges::any_of(requested, [&](const ir::Decision& one) {
             const auto& asked = std::get<ir::PlannedSplit>(one);
             return asked.operation == own->operation && asked.dim == own->dim && asked.axis == own->axis;
           });
  };
  std::erase_if(plan.decisions, is_requested);
}

}  // namespace tap::driver
