// Resharding: one tensor with two shardings, and a sequence of collectives that goes from one to the other. Ours may be another
// one, as long as every device ends with what it is to have (by simulation) and no more elements are moved.
#include <fmt/format.h>

#include <algorithm>

#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "tests/conformance_driver/case_program.h"
#include "tests/conformance_driver/compile_case.h"
#include "tests/conformance_driver/kinds.h"
#include "tests/conformance_driver/simulate_collectives.h"

namespace tap::conformance {
namespace {

using ir::Sharding;
using passes::Collective;
using passes::CollectiveKind;
using passes::OnMesh;

// A program that hands its input back, each with its sharding.
Json as_program(const Json& file, const Json& test) {
  // On a single device the file leaves out the dims.
  auto sharding = [&](const char* field) {
    Json out = test.at(field);
    if (out.is_object() && out.at("dims").empty())
      out["dims"] = Json::array_t(test.at("shape").size(), {{"axes", Json::array()}, {"open", false}});
    return out;
  };
  Json arg = {{"name", "x"}, {"shape", test.at("shape")}, {"dtype", test.value("dtype", "f32")}};
  arg["sharding"] = sharding("src");
  return {{"meshes", file.at("meta").at("meshes")},
          {"args", Json::array({arg})},
          {"ops", Json::array()},
          {"returns", Json::array({"x"})},
          {"results", Json::array({{{"sharding", sharding("dst")}}})}};
}

CollectiveKind kind_of(const std::string& op) {
  for (CollectiveKind kind : {CollectiveKind::all_slice, CollectiveKind::collective_permute, CollectiveKind::all_to_all,
                              CollectiveKind::all_gather, CollectiveKind::all_reduce, CollectiveKind::reduce_scatter})
    if (passes::name(kind) == op) return kind;
  throw Untranslatable{"there is no collective " + op};
}

const ir::Mesh& mesh_of(const ir::Program& program, const Sharding& sharding) { return program[sharding.mesh]; }

// What the listed sequence moves, by the same measure as ours; nothing if it stops short of the target, for want of a mesh that
// both shardings share. Which axes an all-to-all moves its shardings tell.
std::optional<std::int64_t> moved_by_listed(const ir::Program& program, const Json& expected, Sharding before,
                                            const Sharding& final_sharding, const Shape& shape) {
  std::int64_t total = 0;
  for (const Json& json : expected) {
    Collective step;
    step.kind = kind_of(json.at("op"));
    step.before = before;
    step.after = sharding_on(program, json.at("out"), shape.size());
    const ir::Mesh &from = mesh_of(program, step.before), &to = mesh_of(program, step.after);
    for (std::size_t d = 0; d < shape.size() && step.kind == CollectiveKind::all_to_all; ++d) {
      const ir::Axes &now = step.before.dims[d].axes, &then = step.after.dims[d].axes;
      if (is_prefix(from, then, now))
        for (const ir::AxisRef& axis : suffix_after(from, then, now)) step.over.push_back(axis);
    }
    total += passes::elements_moved(step, {from, step.before}, {to, step.after}, shape);
    before = step.after;
  }
  if (!same_placement(mesh_of(program, before), before, mesh_of(program, final_sharding), final_sharding))
    return std::nullopt;
  return total;
}

// Without a sharding a tensor is whole, wherever the other one's mesh is.
Sharding known(const std::optional<Sharding>& sharding, const std::optional<Sharding>& other, std::size_t rank) {
  if (sharding) return *sharding;
  return {other ? other->mesh : ir::MeshId(), std::vector<ir::DimSharding>(rank), {}, {}, ""};
}

}  // namespace

std::string reshard_tap(const Json& file, const Json& test) { return program_of_case(as_program(file, test)); }

std::vector<std::string> reshard_failures(const Json& file, const Json& test) {
  ir::Program program = compile_case(reshard_tap(file, test));
  const Json& expected = test.at("expected");
  if (!expected.is_array()) throw Malformed{"`expected` is no list of collectives"};
  const ir::Graph& graph = program[program.main];
  const auto &in = graph[graph.inputs[0]], &out = graph[graph.outputs[0]];
  if (!in.sharding && !out.sharding) return {};
  const Shape& shape = in.type.shape;
  Sharding from = known(in.sharding, out.sharding, shape.size()), to = known(out.sharding, in.sharding, shape.size());
  OnMesh source{mesh_of(program, from), from}, target{mesh_of(program, to), to};
  std::vector<Collective> steps = passes::reshard(source, target, shape);
  std::vector<std::string> failures = passes::simulate(source, target, shape, steps).failures;
  std::int64_t moved = 0;
  for (const Collective& step : steps) moved += step.moved;
  auto listed = moved_by_listed(program, expected, from, to, shape);
  if (listed && moved > *listed)
    failures.push_back(fmt::format("moves {} elements per device, the listed steps {}", moved, *listed));
  if (!failures.empty())
    for (const Collective& step : steps)
      failures.push_back(fmt::format("{}: {} elements", to_string(program.meshes, step), step.moved));
  return failures;
}

}  // namespace tap::conformance
