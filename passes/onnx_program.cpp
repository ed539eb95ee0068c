#include "passes/onnx_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/mesh_position.h"
#include "ir/onnx_meshes.h"

namespace tap::passes::onnx {
namespace {

using ir::onnx::Rule;

class ProgramInference {
 public:
  ProgramInference(const ir::Program& program, const Shardings& shardings, Reduced reduced)
      : program_(program), graph_(program[program.main]), shardings_(shardings), reduced_(reduced) {
    for (const NodeSpecs& node : shardings.nodes) used_.emplace_back(node.specs.size());
    known_.resize(shardings.nodes.size());
    written_.resize(graph_.values.size());
  }

  Inferred run() {
    check_twins();
    out_.values.resize(graph_.values.size());
    for (const ir::Operation& operation : graph_.operations) visit(operation);
    tell_unused();
    return std::move(out_);
  }

 private:
  const std::string& name(ir::ValueId v) const { return graph_[v].name; }
  const std::string& node_of(const ir::Operation& operation) const {
    static const std::string nothing;
    return operation.results.empty() ? nothing : name(operation.results[0]);
  }

  static bool covers(const std::string& node, const std::string& value) {
    return value.starts_with(node) && (value.size() == node.size() || value[node.size()] == '.');
  }

  // What was said of this tensor at this operation, if that has the right form.
  std::optional<Placed> given(const ir::Operation& operation, ir::ValueId tensor) {
    for (std::size_t n = 0; n < shardings_.nodes.size(); ++n) {
      const NodeSpecs& node = shardings_.nodes[n];
      if (!covers(node.node, node_of(operation))) continue;
      known_[n] = true;
      for (std::size_t k = 0; k < node.specs.size(); ++k) {
        if (node.specs[k].tensor != name(tensor)) continue;
        bool told = used_[n][k];
        used_[n][k] = true;
        auto found = ir::onnx::place(node.specs[k].spec, graph_[tensor].type.shape, shardings_.devices);
        if (auto* placed = std::get_if<Placed>(&found)) return std::move(*placed);
        if (!told) out_.findings.push_back({std::get<Broken>(found), node.node, name(tensor)});
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  void visit(const ir::Operation& operation) {
    std::vector<Placed> operands;
    auto& different = out_.operands.emplace_back(operation.operands.size());
    for (std::size_t k = 0; k < operation.operands.size(); ++k) {
      const Placed& produced = out_.values[operation.operands[k].index()];
      auto said = given(operation, operation.operands[k]);
      if (said && *said != produced) different[k] = said;
      operands.push_back(said ? *said : produced);
    }
    auto operand_name = [&](std::size_t k) { return "`" + name(operation.operands[k]) + "`"; };
    auto found = onnx::infer({program_[operation.op], operands, operand_name, reduced_});
    if (auto* broken = std::get_if<Broken>(&found)) {
      out_.findings.push_back({*broken, node_of(operation), ""});
      found = std::vector<Placed>(operation.results.size());
    }
    for (std::size_t r = 0; r < operation.results.size(); ++r) write(operation, r, std::get<0>(found)[r]);
  }

  void write(const ir::Operation& operation, std::size_t r, Placed inferred) {
    ir::ValueId value = operation.results[r];
    auto said = given(operation, value);
    if (written_[value.index()]) return;  // another part of it: the first one says where it is
    written_[value.index()] = true;
    out_.values[value.index()] = said ? std::move(*said) : std::move(inferred);
  }

  void check_twins() {
    for (const NodeSpecs& node : shardings_.nodes) {
      std::set<std::string> seen;
      for (const TensorSpec& spec : node.specs)
        if (!seen.insert(spec.tensor).second)
          out_.findings.push_back(
              {{Rule::tensor_name, "it has two sharding specs at one node"}, node.node, spec.tensor});
    }
  }

  void tell_unused() {
    for (std::size_t n = 0; n < shardings_.nodes.size(); ++n) {
      const NodeSpecs& node = shardings_.nodes[n];
      if (!known_[n]) {
        out_.findings.push_back({{Rule::tensor_name, "no operation of the program writes this value"}, node.node, ""});
        continue;
      }
      std::set<std::string> seen;
      for (std::size_t k = 0; k < node.specs.size(); ++k)
        if (seen.insert(node.specs[k].tensor).second && !used_[n][k])
          out_.findings.push_back(
              {{Rule::tensor_name, "the node neither reads nor writes it"}, node.node, node.specs[k].tensor});
    }
  }

  const ir::Program& program_;
  const ir::Graph& graph_;
  const Shardings& shardings_;
  Reduced reduced_;
  std::vector<std::vector<bool>> used_;  // by node and spec
  std::vector<bool> known_;              // by node
  std::vector<bool> written_;            // by value
  Inferred out_;
};

}  // namespace

Inferred infer(const ir::Program& program, const Shardings& shardings, Reduced reduced) {
  return ProgramInference(program, shardings, reduced).run();
}

Annotated annotated(ir::Program program, const Inferred& inferred) {
  Annotated out{std::move(program), {}, {}, {}};
  out.program.meshes.clear();
  ir::Graph& graph = out.program.graphs[out.program.main.index()];
  auto convert = [&](const Placed& placed, const ir::Value& value, const std::string& node,
                     std::optional<Placed>& listed) -> std::optional<ir::Sharding> {
    if (placed.anywhere()) return std::nullopt;
    auto sharding = ir::onnx::sharding_of(placed, value.type.shape, out.program.meshes);
    auto* broken = std::get_if<Broken>(&sharding);
    if (!broken) return std::get<ir::Sharding>(sharding);
    bool listable = can_be_listed(placed);
    if (listable) listed = placed;
    (listable ? out.unsaid : out.findings).push_back({*broken, node, value.name});
    return std::nullopt;
  };
  out.listed.values.resize(graph.values.size());
  for (std::size_t v = 0; v < graph.values.size(); ++v)
    graph.values[v].sharding = convert(inferred.values[v], graph.values[v], graph.values[v].name, out.listed.values[v]);
  for (std::size_t o = 0; o < graph.operations.size(); ++o) {
    ir::Operation& operation = graph.operations[o];
    const std::string& node = operation.results.empty() ? graph.name : graph[operation.results[0]].name;
    operation.operand_shardings.clear();
    auto& listed = out.listed.operands.emplace_back(operation.operands.size());
    for (std::size_t k = 0; k < operation.operands.size(); ++k) {
      if (!inferred.operands[o][k]) continue;
      auto sharding = convert(*inferred.operands[o][k], graph[operation.operands[k]], node, listed[k]);
      if (!sharding) continue;
      operation.operand_shardings.resize(operation.operands.size());
      operation.operand_shardings[k] = sharding;
    }
  }
  return out;
}

Written specs_of(const ir::Program& program, const ListedValues& listed) {
  Written out;
  const ir::Graph& graph = program[program.main];
  for (const ir::Mesh& mesh : program.meshes) {
    std::int64_t last = mesh.devices.empty() ? device_count(mesh) - 1
                                             : *std::max_element(mesh.devices.begin(), mesh.devices.end());
    out.shardings.devices = std::max(out.shardings.devices, last + 1);
  }
  out.shardings.configuration = program.meshes.empty() ? "devices" : program.meshes.front().name;
  for (std::size_t o = 0; o < graph.operations.size(); ++o) {
    const ir::Operation& operation = graph.operations[o];
    if (operation.results.empty()) continue;
    NodeSpecs node{graph[operation.results[0]].name, {}};
    auto add = [&](ir::ValueId value, const std::optional<ir::Sharding>& sharding, const std::optional<Placed>& list) {
      auto same = [&](const TensorSpec& spec) { return spec.tensor == graph[value].name; };
      if ((!sharding && !list) || std::any_of(node.specs.begin(), node.specs.end(), same)) return;
      auto placed = list ? std::variant<Placed, Broken>(*list)
                         : ir::onnx::placed_of(*find_mesh(program, sharding->mesh), *sharding, graph[value].type.shape);
      if (auto* broken = std::get_if<Broken>(&placed))
        return out.findings.push_back({*broken, node.node, graph[value].name});
      node.specs.push_back({graph[value].name, ir::onnx::spec_of(std::get<Placed>(placed))});
      for (const ir::onnx::Devices& devices : list ? list->shards : std::vector<ir::onnx::Devices>{})
        out.shardings.devices = std::max(out.shardings.devices, devices.back() + 1);
    };
    auto listed_value = [&](ir::ValueId value) {
      return listed.values.empty() ? std::nullopt : listed.values[value.index()];
    };
    for (std::size_t k = 0; k < operation.operands.size(); ++k) {
      bool own = k < operation.operand_shardings.size() && operation.operand_shardings[k];
      bool own_list = !listed.operands.empty() && listed.operands[o][k];
      ir::ValueId value = operation.operands[k];
      if (own || own_list)
        add(value, own ? operation.operand_shardings[k] : std::nullopt,
            own_list ? listed.operands[o][k] : std::nullopt);
      else add(value, graph[value].sharding, listed_value(value));
    }
    for (ir::ValueId value : operation.results) add(value, graph[value].sharding, listed_value(value));
    if (!node.specs.empty()) out.shardings.nodes.push_back(std::move(node));
  }
  return out;
}

}  // namespace tap::passes::onnx
