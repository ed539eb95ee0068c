#include <fmt/format.h>

#include <algorithm>

#include "ir/graph.h"
#include "ir/text/parse_program.h"

namespace tap::ir::parsing {

void GraphSection::take(std::string_view keyword, Line& line) {
  if (keyword == "value") {
    value(line);
  } else if (keyword == "inputs") {
    graph_.inputs = values(line);
  } else if (keyword == "outputs") {
    graph_.outputs = values(line);
  } else if (keyword == "do") {
    operation(line);
  } else if (keyword == "group") {
    graph_.groups.push_back({values(line)});
  } else if (keyword == "barrier") {
    ValueId value = line.id_in<ValueId>(graph_.values, "values");
    graph_.barriers.push_back({value, line.word_of(words::barriers, "kind of barrier")});
  } else if (keyword == "split") {
    split(line);
  } else {
    line.fail(fmt::format("unexpected `{}` in a graph", keyword));
  }
}

std::vector<ValueId> GraphSection::values(Line& line) {
  return line.list("(", ")", [&] { return line.id_in<ValueId>(graph_.values, "values"); });
}

// value 3 H f32[4, 2] const @ pod[{data}, {}]
void GraphSection::value(Line& line) {
  std::size_t number = line.any_number();
  if (number != graph_.values.size())
    line.fail(fmt::format("found value {}, expected value {}", number, graph_.values.size()));
  Value value;
  value.name = line.name();
  value.type = line.tensor_type();
  value.is_const = line.eat_word("const");
  if (line.eat("@")) value.sharding = line.sharding(meshes_);
  graph_.values.push_back(std::move(value));
}

// do 4 (0, 1) -> (2) used [_, pod[{data}]] named h [i, k]
void GraphSection::operation(Line& line) {
  Operation operation;
  std::uint32_t op = line.any_number();
  references_.push_back({line.number(), op, Reference::operator_});
  operation.op = OperatorId(op);
  operation.operands = values(line);
  line.expect("->");
  operation.results = values(line);
  auto sharding = [&]() -> std::optional<Sharding> {
    if (line.eat_word("_")) return std::nullopt;
    return line.sharding(meshes_);
  };
  if (line.eat_word("used")) {
    operation.operand_shardings = line.list("[", "]", sharding);
    if (operation.operand_shardings.size() != operation.operands.size())
      line.fail(
          fmt::format("{} shardings for {} operands", operation.operand_shardings.size(), operation.operands.size()));
  }
  if (line.eat_word("placed")) operation.placements = line.list("[", "]", [&] { return placement(line); });
  if (line.eat_word("named")) {
    OperationNames names;
    names.name = line.name();
    names.dims = line.list("[", "]", [&] { return line.name(); });
    operation.names = std::move(names);
  }
  graph_.operations.push_back(std::move(operation));
}

// 2 over threads     3 over axis pod.model:(1)2     3 over devices [[0, 1], [2]]     all at 1 over axis pod.data
BlockPlacement GraphSection::placement(Line& line) {
  BlockPlacement p;
  if (line.eat_word("all")) {
    line.expect_word("at");
    p.dim = whole_operation;
    p.number = line.integer();
  } else {
    p.dim = line.any_number();
  }
  line.expect_word("over");
  p.placement = line.word_of(words::placements, "placement");
  if (p.placement == Placement::devices) p.devices = line.list("[", "]", [&] { return line.integers(); });
  if (p.placement != Placement::mesh_axis) return p;
  p.mesh = line.mesh_of(meshes_);
  line.expect(".");
  p.axis = line.axis_of(meshes_[p.mesh.index()]);
  return p;
}

// split 2 value 4 axis 0 into [0..3, 3..8] over axis on model     split 2 dim k into [0..8] over anywhere
void GraphSection::split(Line& line) {
  SplitRequest split;
  split.operation = line.id_in<OperationId>(graph_.operations, "operations");
  if (line.eat_word("value")) split.value = line.id_in<ValueId>(graph_.values, "values");
  if (line.eat_word("axis")) split.axis = line.any_number();
  if (line.eat_word("dim")) split.dim = line.name();
  line.expect_word("into");
  split.blocks = line.list("[", "]", [&] { return line.range(); });
  line.expect_word("over");
  split.placement = line.word_of(words::placements, "placement");
  if (line.eat_word("on")) mesh_axis(line, split);
  graph_.splits.push_back(std::move(split));
}

// model, for the only mesh that has it; pod.model if several have it
void GraphSection::mesh_axis(Line& line, SplitRequest& split) {
  const std::size_t begin = line.column();
  AxisName axis = line.axis_name();
  const bool with_mesh = !axis.sub && line.eat(".");
  const auto mesh = with_mesh ? find_mesh(meshes_, axis.name) : sole_mesh_with(meshes_, axis.name);
  if (!mesh && with_mesh) line.fail_at(begin, fmt::format("the mesh {} is not declared", axis.name));
  if (!mesh) {
    auto has_it = [&](const Mesh& one) { return find_axis(one, axis.name).has_value(); };
    const bool several = std::any_of(meshes_.begin(), meshes_.end(), has_it);
    line.fail_at(begin, fmt::format("the axis {} belongs to {}", axis.name, several ? "several meshes" : "no mesh"));
  }
  split.mesh = *mesh;
  const Mesh& found = meshes_[mesh->index()];
  split.mesh_axis = with_mesh ? line.axis_of(found) : AxisRef{*find_axis(found, axis.name), axis.sub};
}

}  // namespace tap::ir::parsing
