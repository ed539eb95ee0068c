#include "compiler/driver/show/report_geometry.h"

#include <nlohmann/json.hpp>

#include "compiler/driver/show/drawing.h"
#include "ir/graph.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/mesh_position.h"
#include "ir/text.h"

namespace tap::driver {
namespace {

using nlohmann::ordered_json;

// The coordinate of a device along the axis is (position / stride) % size.
ordered_json digit_json(const ir::Mesh& mesh, const ir::AxisRef& axis) {
  const ir::SubAxis digit = ir::digit(mesh, axis);
  std::int64_t stride = mesh[axis.id].size / (digit.pre_size * digit.size);
  for (std::size_t minor = axis.id.index() + 1; minor < mesh.axes.size(); ++minor) stride *= mesh.axes[minor].size;
  return {stride, digit.size};
}

ordered_json access_row(const ir::Access& access) {
  ordered_json matrix = ordered_json::array(), offset = ordered_json::array();
  for (const ir::AffineExpr& row : access.projection.start.rows) {
    matrix.push_back(row.coefficients);
    offset.push_back(row.offset);
  }
  return {access.tensor, matrix, offset, access.projection.shape};
}

std::string_view role_word(ir::DimRole role) {
  switch (role) {
    case ir::DimRole::parallel: return "parallel";
    case ir::DimRole::reduction: return "reduction";
    case ir::DimRole::counter: return "counter";
  }
  return "";
}

}  // namespace

ordered_json object_with_room(std::size_t members) {
  ordered_json out = ordered_json::object();
  out.get_ref<ordered_json::object_t&>().reserve(members);
  return out;
}

ordered_json report_mesh(const ir::Mesh& mesh) {
  ordered_json axes = ordered_json::array();
  for (const ir::MeshAxis& axis : mesh.axes) axes.push_back({{"name", axis.name}, {"size", axis.size}});
  return {{"name", mesh.name}, {"axes", axes}, {"devices", ir::device_count(mesh)}, {"ids", mesh.devices}};
}

ordered_json report_operator(const ir::Program& program, const ir::Operator& op) {
  ordered_json dims = ordered_json::array(), blockings = ordered_json::array(), reads = ordered_json::array(),
               writes = ordered_json::array();
  for (const ir::IndexDim& dim : op.dims)
    dims.push_back(ordered_json::array({dim.name, dim.range.lo, dim.range.hi, role_word(dim.role)}));
  for (const ir::Blocking& b : op.blockings)
    blockings.push_back(ordered_json::array({b.dim, b.block_dim, b.blocks.count, b.blocks.boundaries}));
  for (const ir::Access& read : op.reads) reads.push_back(access_row(read));
  for (const ir::Access& write : op.writes) writes.push_back(access_row(write));
  return {
      {"text", ir::print(program, op)}, {"dims", dims}, {"blockings", blockings}, {"reads", reads}, {"writes", writes}};
}

ordered_json report_placements(const ir::Program& program, const ir::Operation& operation) {
  ordered_json placements = ordered_json::array();
  for (const ir::BlockPlacement& p : operation.placements) {
    ordered_json out = {{"dim", p.dim == ir::whole_operation ? ordered_json() : ordered_json(p.dim)},
                        {"over", place_name(program, p)}};
    if (p.dim == ir::whole_operation) out["number"] = p.number;
    if (p.axis) {
      out["mesh"] = p.mesh.index();
      out["digit"] = digit_json(program[p.mesh], *p.axis);
    } else if (p.placement == ir::Placement::devices) {
      out["devices"] = p.devices;
    }
    placements.push_back(std::move(out));
  }
  return placements;
}

ordered_json report_sharding(const ir::Program& program, const ir::Sharding& sharding) {
  const ir::Mesh& mesh = program[sharding.mesh];
  ordered_json dims = ordered_json::array();
  for (const ir::DimSharding& dim : sharding.dims) {
    ordered_json axes = ordered_json::array();
    for (const ir::AxisRef& axis : dim.axes) axes.push_back(digit_json(mesh, axis));
    dims.push_back(std::move(axes));
  }
  ordered_json unreduced = ordered_json::array();
  for (const ir::AxisRef& axis : sharding.unreduced) unreduced.push_back(ir::to_string(mesh, axis));
  return {{"mesh", sharding.mesh.index()},
          {"text", to_string(program.meshes, sharding)},
          {"dims", dims},
          {"unreduced", unreduced}};
}

}  // namespace tap::driver
