#include "compiler/driver/commands/inspect_shards.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/driver/show/shard_grid.h"
#include "ir/graphs/operation_names.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "runtime/failure.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

bool is_written(const ir::Graph& graph, ir::ValueId value) {
  return std::any_of(graph.operations.begin(), graph.operations.end(), [&](const ir::Operation& operation) {
    return std::find(operation.results.begin(), operation.results.end(), value) != operation.results.end();
  });
}

// Of what no operation writes: as its sharding says.
std::vector<HeldBox> as_given(const ir::Program& program, const ir::Value& value) {
  if (!value.sharding) return {{ir::Box::of_shape(value.type.shape), -1}};
  std::vector<HeldBox> held;
  const ir::Mesh& mesh = program[value.sharding->mesh];
  for (std::int64_t k = 0; k < ir::device_count(mesh); ++k)
    held.push_back({ir::box_at(mesh, *value.sharding, value.type.shape, k), ir::device_at(mesh, k)});
  return held;
}

std::vector<HeldBox> held_of(const ir::BlockProgram& blocks, ir::GraphId graph, ir::ValueId value) {
  if (!is_written(blocks.program[graph], value)) return as_given(blocks.program, blocks.program[graph][value]);
  std::vector<HeldBox> held;
  const ir::BlockGraph single = ir::one_by_one(blocks.graphs[graph.index()]);
  for (const ir::Held& one : single.held)
    if (one.value == value) held.push_back({one.box, single.device_at(one.device)});
  return held;
}

// The axes that count partial results: the write of a reduction in blocks has the block as an index.
std::string partial_lines(const ir::Program& program, const ir::Graph& graph, ir::ValueId value) {
  std::string text;
  for (const ir::Operation& operation : graph.operations) {
    const ir::Operator& op = program[operation.op];
    for (const ir::Blocking& blocking : op.blockings) {
      if (op.dims[blocking.dim].role != ir::DimRole::reduction) continue;
      for (const ir::Access& write : op.writes)
        for (std::size_t a = 0; operation.results[write.tensor] == value && a < write.projection.rank(); ++a)
          if (write.projection.start.rows[a].coefficients[blocking.block_dim] != 0)
            text +=
                fmt::format("  axis {} counts partials of the reduction over `{}`\n", a, op.dims[blocking.dim].name);
    }
  }
  const auto& sharding = graph[value].sharding;
  if (sharding && !sharding->unreduced.empty())
    text += fmt::format("  every device holds a partial, along {}\n",
                        to_string(program[sharding->mesh], sharding->unreduced.front()));
  return text;
}

std::string heading(const std::string& name, const ir::TensorType& type, const std::vector<HeldBox>& held) {
  std::vector<ir::Box> boxes;
  std::vector<std::int64_t> devices;
  for (const HeldBox& one : held) {
    if (one.box.empty()) continue;
    if (std::find(boxes.begin(), boxes.end(), one.box) == boxes.end()) boxes.push_back(one.box);
    if (std::find(devices.begin(), devices.end(), one.device) == devices.end()) devices.push_back(one.device);
  }
  const bool all = std::find(devices.begin(), devices.end(), -1) != devices.end();
  return fmt::format("{}: {}, {} on {}\n", name, to_string(type), plural(boxes.size(), "shard"),
                     all ? "all devices" : plural(devices.size(), "device"));
}

}  // namespace

std::string shards_of_value(Session& session, const ProgramFile& input, pipeline::Options how, const std::string& name,
                            bool colour) {
  how.stop = pipeline::Stage::blocks;
  const pipeline::Compilation made = compile_file(session, input, how);
  const ir::BlockProgram& blocks = *made.expanded();
  std::vector<std::string> names;
  for (const auto& [graph, path] : ir::graph_paths(blocks.program))
    for (std::uint32_t v = 0; v < blocks.program[graph].values.size(); ++v) {
      const ir::Value& value = blocks.program[graph].values[v];
      names.push_back(path + value.name);
      if (names.back() != name) continue;
      const std::vector<HeldBox> held = held_of(blocks, graph, ir::ValueId(v));
      return heading(name, value.type, held) + partial_lines(blocks.program, blocks.program[graph], ir::ValueId(v)) +
             shard_grid(value.type.shape, held, colour);
    }
  auto near = did_you_mean(name, names);
  throw wrong_command(Code::command_line, fmt::format("the sharded graph has no value `{}`", name),
                      near ? "did you mean `" + *near + "`?" : "`tapc inspect FILE --after realise` shows its values");
}

}  // namespace tap::driver
