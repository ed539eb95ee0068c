#include "backend/mlir/shardings.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/mlir/arithmetic.h"
#include "ir/graph.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/sharded_boxes.h"

namespace tap::backend::mlir {
namespace {

constexpr std::int64_t most_blocks = 65536;  // of a dim whose blocks are listed one by one

Refused refused(const std::string& value, const std::string& why, std::string help) {
  return {fmt::format("the sharding of `{}` cannot be expressed in MLIR's shard dialect: {}", value, why),
          std::move(help)};
}

void add_boundary(std::vector<std::int64_t>& boundaries, std::int64_t at) {
  if (std::find(boundaries.begin(), boundaries.end(), at) == boundaries.end()) boundaries.push_back(at);
  std::sort(boundaries.begin(), boundaries.end());
}

// The graphs that are emitted: of a choice, only the original.
void reach(const ir::Program& program, ir::GraphId graph, std::vector<ir::GraphId>& list) {
  if (std::find(list.begin(), list.end(), graph) != list.end()) return;
  list.push_back(graph);
  for (const ir::Operation& operation : program[graph].operations)
    if (const ir::RegionBody* region = program[operation.op].region()) reach(program, region->graph, list);
}

}  // namespace

std::vector<std::int64_t> Grid::shape() const {
  std::vector<std::int64_t> sizes;
  for (const std::vector<std::int64_t>& digits : boundaries)
    for (std::size_t k = 0; k + 1 < digits.size(); ++k) sizes.push_back(digits[k + 1] / digits[k]);
  if (sizes.empty()) sizes.push_back(1);
  return sizes;
}

std::vector<std::int64_t> Grid::numbers_of(const ir::AxisRef& axis) const {
  const ir::SubAxis part = ir::digit(*mesh, axis);
  std::vector<std::int64_t> numbers;
  std::int64_t number = 0;
  for (std::size_t a = 0; a < mesh->axes.size(); ++a)
    for (std::size_t k = 0; k + 1 < boundaries[a].size(); ++k, ++number)
      if (axis.id == ir::AxisId(a) && part.pre_size <= boundaries[a][k] && boundaries[a][k] < part.pre_size * part.size)
        numbers.push_back(number);
  return numbers;
}

Grids::Grids(const ir::Program& program) : program_(program) {
  std::vector<ir::GraphId> reached;
  reach(program, program.main, reached);
  for (ir::GraphId g : reached) {
    const ir::Graph& graph = program[g];
    for (const ir::Value& value : graph.values)
      if (value.sharding) add(*value.sharding, value.name);
    for (const ir::Operation& operation : graph.operations)
      for (std::size_t k = 0; k < operation.operand_shardings.size(); ++k)
        if (operation.operand_shardings[k]) add(*operation.operand_shardings[k], graph[operation.operands[k]].name);
  }
}

void Grids::add(const ir::Sharding& sharding, const std::string& value) {
  const ir::Mesh& mesh = program_[sharding.mesh];
  if (mesh.axes.empty() && mesh.devices.empty()) return;
  if (ir::is_maximal(mesh))
    throw refused(value, fmt::format("`{}` names a single device and has no axes", mesh.name), "give the mesh an axis");
  for (std::size_t k = 0; k < mesh.devices.size(); ++k)
    if (mesh.devices[k] != static_cast<std::int64_t>(k))
      throw refused(value, fmt::format("the devices of `{}` are not listed in ascending order", mesh.name),
                    "remove `devices` from the mesh and renumber the devices");
  if (!sharding.unreduced.empty())
    throw refused(value, "it holds partial results over `" + to_string(mesh, sharding.unreduced.front()) + "`",
                  "combine them: remove `unreduced`");
  Grid& grid = grids_[mesh.name];
  grid.mesh = &mesh;
  grid.boundaries.resize(mesh.axes.size(), {1});
  for (std::size_t a = 0; a < mesh.axes.size(); ++a) add_boundary(grid.boundaries[a], mesh.axes[a].size);
  for (const ir::AxisRef& axis : ir::used_axes(sharding)) {
    const ir::SubAxis part = ir::digit(mesh, axis);
    std::vector<std::int64_t>& boundaries = grid.boundaries[axis.id.index()];
    add_boundary(boundaries, part.pre_size);
    add_boundary(boundaries, part.pre_size * part.size);
    for (std::size_t k = 0; k + 1 < boundaries.size(); ++k)
      if (boundaries[k + 1] % boundaries[k] != 0)
        throw refused(value,
                      fmt::format("`{}` (size {}) is divided at {} here and at {} elsewhere", mesh[axis.id].name,
                                  mesh[axis.id].size, boundaries[k + 1], boundaries[k]),
                      "use sub-axes that nest");
  }
}

std::vector<std::string> Grids::declarations() const {
  std::vector<std::string> lines;
  for (const auto& [name, grid] : grids_)
    lines.push_back(fmt::format("shard.grid {}(shape = {})", symbol(name), fmt::join(grid.shape(), "x")));
  return lines;
}

std::string Grids::shard(Text& text, const std::string& value, const ir::Value& of, const ir::Sharding& sharding,
                         bool of_use) const {
  const std::string& name = program_[sharding.mesh].name;
  auto found = grids_.find(name);
  if (found == grids_.end()) return value;
  const Grid& grid = found->second;
  std::vector<std::string> axes;
  std::vector<std::int64_t> offsets;
  bool divides = true, countable = true;
  const std::vector<std::int64_t> shape = grid.shape();
  for (std::size_t d = 0; d < sharding.dims.size(); ++d) {
    std::vector<std::int64_t> numbers;
    for (const ir::AxisRef& axis : sharding.dims[d].axes)
      for (std::int64_t number : grid.numbers_of(axis)) numbers.push_back(number);
    axes.push_back(list(numbers));
    const std::int64_t blocks = ir::size_of(*grid.mesh, sharding.dims[d].axes), size = of.type.shape[d];
    divides = divides && size % blocks == 0;
    if (numbers.empty()) continue;
    std::int64_t sum = 0;  // MLIR 22 takes it for the number of blocks if their starts are listed
    for (std::int64_t number : numbers) sum += shape[static_cast<std::size_t>(number)];
    countable = countable && sum == blocks && blocks <= most_blocks;
    for (std::int64_t k = 0; k < (countable ? blocks : 0); ++k)
      offsets.push_back(ir::Blocks{blocks}.block({0, size}, k).lo);
    offsets.push_back(size);
  }
  if (!divides && !countable)
    throw refused(
        of.name,
        fmt::format("its blocks are uneven; uneven blocks are supported only along one mesh axis, and {} at most",
                    most_blocks),
        "use one mesh axis instead of these, or a size that divides evenly");
  const std::string uneven = divides ? "" : " sharded_dims_offsets = " + list(offsets);
  const std::string sharded = define(
      text, "s",
      fmt::format("shard.sharding {} split_axes = [{}]{} : !shard.sharding", symbol(name), joined(axes), uneven));
  return define(text, value.substr(1),
                fmt::format("shard.shard {} to {}{} : {}", value, sharded, of_use ? " annotate_for_users" : "",
                            tensor_type(of.type)));
}

}  // namespace tap::backend::mlir
