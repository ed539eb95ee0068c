#include "passes/shardings/onnx_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/onnx_meshes.h"
#include "passes/shardings/onnx_parts.h"

namespace tap::passes::onnx {
namespace {

using ir::onnx::Rule;

using From = std::optional<SpecRef>;

class ProgramInference {
 public:
  ProgramInference(const ir::Program& program, const Shardings& shardings, Reduced reduced)
      : program_(program),
        graph_(program[program.main]),
        shardings_(shardings),
        reduced_(reduced),
        names_(ir::operation_names(graph_)) {
    for (const NodeSpecs& node : shardings.nodes) used_.emplace_back(node.specs.size());
    out_.operations.resize(shardings.nodes.size());
    writers_.resize(graph_.values.size());
    written_.resize(graph_.values.size());
    for (const ir::Operation& operation : graph_.operations)
      for (ir::ValueId v : operation.results) ++writers_[v.index()];
  }

  Inferred run() {
    check_twins();
    out_.values.resize(graph_.values.size());
    out_.value_from.resize(graph_.values.size());
    for (std::size_t o = 0; o < graph_.operations.size(); ++o) visit(o);
    find_unused();
    return std::move(out_);
  }

 private:
  // A spec for a tensor, and its meaning if it is well-formed.
  struct ResolvedSpec {
    std::optional<Placed> placed;
    From from;
  };
  struct Written {
    std::vector<WrittenPart> parts;
    From from;
    ResolvedSpec resolved;
  };

  const std::string& name(ir::ValueId v) const { return graph_[v].name; }
  const std::string& node_of(std::size_t o) const { return names_[o]; }

  // `Y` is Y, Y@1 and Y.sum; `Y@1` is only Y@1.
  bool covers(const std::string& node, std::size_t o) const {
    if (graph_.operations[o].results.empty()) return false;
    if (node == names_[o]) return true;
    const std::string& value = name(graph_.operations[o].results[0]);
    return value.starts_with(node) && (value.size() == node.size() || value[node.size()] == '.');
  }

  // The spec of this tensor at this operation; among nested nodes, the innermost one's.
  ResolvedSpec resolve_spec(std::size_t o, ir::ValueId tensor) {
    From from;
    for (std::size_t n = 0; n < shardings_.nodes.size(); ++n) {
      const NodeSpecs& node = shardings_.nodes[n];
      if (!covers(node.node, o)) continue;
      auto twin = [&](const TensorSpec& spec) { return spec.tensor == name(tensor); };
      auto found = std::find_if(node.specs.begin(), node.specs.end(), twin);
      if (found == node.specs.end()) continue;
      if (from && shardings_.nodes[from->node].node.size() >= node.node.size()) continue;
      from = SpecRef{n, static_cast<std::size_t>(found - node.specs.begin())};
    }
    if (!from) return {};
    bool already_used = used_[from->node][*from->spec];
    used_[from->node][*from->spec] = true;
    const NodeSpecs& node = shardings_.nodes[from->node];
    auto found = ir::onnx::place(node.specs[*from->spec].spec, graph_[tensor].type.shape, shardings_.devices);
    if (auto* placed = std::get_if<Placed>(&found)) return {std::move(*placed), from};
    if (!already_used) out_.findings.push_back({std::get<Broken>(found), node_of(o), name(tensor), {*from}});
    return {};
  }

  void visit(std::size_t o) {
    const ir::Operation& operation = graph_.operations[o];
    for (std::size_t n = 0; n < shardings_.nodes.size(); ++n)
      if (covers(shardings_.nodes[n].node, o)) out_.operations[n].push_back(node_of(o));
    std::vector<Placed> operands;
    auto& different = out_.operands.emplace_back(operation.operands.size());
    auto& from = out_.operand_from.emplace_back(operation.operands.size());
    for (std::size_t k = 0; k < operation.operands.size(); ++k) {
      std::size_t value = operation.operands[k].index();
      ResolvedSpec resolved = resolve_spec(o, operation.operands[k]);
      from[k] = resolved.from ? resolved.from : out_.value_from[value];
      if (resolved.placed && *resolved.placed != out_.values[value]) different[k] = resolved.placed;
      operands.push_back(resolved.placed ? std::move(*resolved.placed) : out_.values[value]);
    }
    auto operand_name = [&](std::size_t k) { return "`" + name(operation.operands[k]) + "`"; };
    auto found = onnx::infer({program_[operation.op], operands, operand_name, reduced_});
    if (auto* broken = std::get_if<Broken>(&found)) {
      out_.findings.push_back({*broken, node_of(o), "", concerned_specs(*broken, from)});
      found = std::vector<Placed>(operation.results.size());
    }
    for (std::size_t r = 0; r < operation.results.size(); ++r) write(o, r, std::get<0>(found)[r], first_of(from));
  }

  static From first_of(const std::vector<From>& from) {
    for (const From& one : from)
      if (one) return one;
    return std::nullopt;
  }
  // The specs of the operands that a rule concerns; of all operands if it names none.
  static std::vector<SpecRef> concerned_specs(const Broken& broken, const std::vector<From>& from) {
    std::vector<SpecRef> all;
    auto add = [&](const From& one) {
      if (one && std::find(all.begin(), all.end(), *one) == all.end()) all.push_back(*one);
    };
    for (std::uint32_t k : broken.operands) add(from[k]);
    if (all.empty())
      for (const From& one : from) add(one);
    return all;
  }

  // A value is where its writers place it, once all of them have been visited.
  void write(std::size_t o, std::size_t r, Placed inferred, const From& from) {
    const ir::Operation& operation = graph_.operations[o];
    ir::ValueId value = operation.results[r];
    Written& written = written_[value.index()];
    if (ResolvedSpec resolved = resolve_spec(o, value); resolved.placed && !written.resolved.placed)
      written.resolved = std::move(resolved);
    if (!written.from) written.from = from;
    written.parts.push_back(
        {&program_[operation.op], static_cast<std::uint32_t>(r), std::move(inferred), "`" + node_of(o) + "`"});
    if (--writers_[value.index()] > 0) return;
    out_.values[value.index()] = settle(value, written);
    out_.value_from[value.index()] = written.resolved.from ? written.resolved.from : written.from;
  }

  Placed settle(ir::ValueId value, Written& written) {
    if (written.resolved.placed) return std::move(*written.resolved.placed);
    if (written.parts.size() == 1) return std::move(written.parts[0].placed);
    auto found = placement_of_parts(written.parts, graph_[value].type.shape);
    if (auto* placed = std::get_if<Placed>(&found)) return std::move(*placed);
    Finding finding{std::get<Broken>(found), name(value), name(value)};
    if (written.from) finding.at.push_back(*written.from);
    out_.findings.push_back(std::move(finding));
    return {};
  }

  void check_twins() {
    std::set<std::string> nodes;
    for (std::size_t n = 0; n < shardings_.nodes.size(); ++n) {
      const NodeSpecs& node = shardings_.nodes[n];
      if (!nodes.insert(node.node).second)
        out_.findings.push_back({{Rule::tensor_name, "the node occurs twice"}, node.node, "", {{n}}});
      std::set<std::string> seen;
      for (std::size_t k = 0; k < node.specs.size(); ++k)
        if (!seen.insert(node.specs[k].tensor).second)
          out_.findings.push_back(
              {{Rule::tensor_name, "it has two sharding specs at the same node", {}, ir::onnx::Field::tensor},
               node.node,
               node.specs[k].tensor,
               {{n, k}}});
    }
  }

  void find_unused() {
    for (std::size_t n = 0; n < shardings_.nodes.size(); ++n) {
      const NodeSpecs& node = shardings_.nodes[n];
      if (out_.operations[n].empty()) {
        out_.findings.push_back(
            {{Rule::tensor_name, "no operation of the program writes this value"}, node.node, "", {{n}}});
        continue;
      }
      std::set<std::string> seen;
      for (std::size_t k = 0; k < node.specs.size(); ++k)
        if (seen.insert(node.specs[k].tensor).second && !used_[n][k])
          out_.findings.push_back({{Rule::tensor_name, unused(n, k), {}, ir::onnx::Field::tensor},
                                   node.node,
                                   node.specs[k].tensor,
                                   {{n, k}}});
    }
  }

  // A spec at `Y` for a tensor of `Y.sum` is overruled by the spec of a node for `Y.sum` itself.
  std::string unused(std::size_t n, std::size_t k) const {
    for (std::size_t m = 0; m < shardings_.nodes.size(); ++m)
      for (std::size_t j = 0; m != n && j < shardings_.nodes[m].specs.size(); ++j)
        if (used_[m][j] && shardings_.nodes[m].specs[j].tensor == shardings_.nodes[n].specs[k].tensor &&
            shardings_.nodes[m].node.starts_with(shardings_.nodes[n].node))
          return "the spec at the node `" + shardings_.nodes[m].node + "` replaces it";
    return "the node neither reads nor writes it";
  }

  const ir::Program& program_;
  const ir::Graph& graph_;
  const Shardings& shardings_;
  Reduced reduced_;
  std::vector<std::string> names_;       // by operation
  std::vector<std::vector<bool>> used_;  // by node and spec
  std::vector<std::size_t> writers_;     // by value: how many are not yet visited
  std::vector<Written> written_;         // by value
  Inferred out_;
};

// The specs place everything: removes the program's own shardings, and its meshes except those of requested splits.
void forget_shardings(ir::Program& program) {
  std::vector<ir::Mesh> kept;
  for (ir::Graph& graph : program.graphs) {
    for (ir::Value& value : graph.values) value.sharding.reset();
    for (ir::Operation& operation : graph.operations) operation.operand_shardings.clear();
    for (ir::SplitRequest& split : graph.splits) {
      if (!split.mesh_axis) continue;
      const ir::Mesh& mesh = program[split.mesh];
      if (!ir::find_mesh(kept, mesh.name)) kept.push_back(mesh);
      split.mesh = *ir::find_mesh(kept, mesh.name);
    }
  }
  program.meshes = std::move(kept);
}

}  // namespace

Inferred infer(const ir::Program& program, const Shardings& shardings, Reduced reduced) {
  return ProgramInference(program, shardings, reduced).run();
}

Annotated annotated(ir::Program program, const Inferred& inferred) {
  Annotated out{std::move(program), {}, {}, {}};
  forget_shardings(out.program);
  ir::Graph& graph = out.program.graphs[out.program.main.index()];
  auto convert = [&](const Placed& placed, const ir::Value& value, const std::string& node, const From& from,
                     std::optional<Placed>& listed) -> std::optional<ir::Sharding> {
    if (placed.is_unsharded()) return std::nullopt;
    auto sharding = ir::onnx::sharding_of(placed, value.type.shape, out.program.meshes);
    auto* broken = std::get_if<Broken>(&sharding);
    if (!broken) return std::get<ir::Sharding>(sharding);
    bool listable = can_be_listed(placed);
    if (listable) listed = placed;
    Finding finding{*broken, node, value.name};
    if (from) finding.at.push_back(*from);
    (listable ? out.listable_findings : out.findings).push_back(std::move(finding));
    return std::nullopt;
  };
  out.listed.values.resize(graph.values.size());
  for (std::size_t v = 0; v < graph.values.size(); ++v)
    graph.values[v].sharding = convert(inferred.values[v], graph.values[v], graph.values[v].name,
                                       inferred.value_from[v], out.listed.values[v]);
  std::vector<std::string> names = ir::operation_names(graph);
  for (std::size_t o = 0; o < graph.operations.size(); ++o) {
    ir::Operation& operation = graph.operations[o];
    const std::string& node = operation.results.empty() ? graph.name : names[o];
    auto& listed = out.listed.operands.emplace_back(operation.operands.size());
    for (std::size_t k = 0; k < operation.operands.size(); ++k) {
      if (!inferred.operands[o][k]) continue;
      auto sharding =
          convert(*inferred.operands[o][k], graph[operation.operands[k]], node, inferred.operand_from[o][k], listed[k]);
      if (!sharding) continue;
      operation.operand_shardings.resize(operation.operands.size());
      operation.operand_shardings[k] = sharding;
    }
  }
  return out;
}

WrittenSpecs specs_of(const ir::Program& program, const ListedValues& listed) {
  WrittenSpecs out;
  const ir::Graph& graph = program[program.main];
  for (const ir::Mesh& mesh : program.meshes) {
    std::int64_t last = mesh.devices.empty() ? device_count(mesh) - 1
                                             : *std::max_element(mesh.devices.begin(), mesh.devices.end());
    out.shardings.devices = std::max(out.shardings.devices, last + 1);
  }
  out.shardings.configuration = program.meshes.empty() ? "devices" : program.meshes.front().name;
  std::vector<std::string> names = ir::operation_names(graph);
  for (std::size_t o = 0; o < graph.operations.size(); ++o) {
    const ir::Operation& operation = graph.operations[o];
    if (operation.results.empty()) continue;
    NodeSpecs node{names[o], {}};
    auto add = [&](ir::ValueId value, const std::optional<ir::Sharding>& sharding, const std::optional<Placed>& list) {
      auto same = [&](const TensorSpec& spec) { return spec.tensor == graph[value].name; };
      if ((!sharding && !list) || std::any_of(node.specs.begin(), node.specs.end(), same)) return;
      auto placed = list ? std::variant<Placed, Broken>(*list)
                         : ir::onnx::placed_of(program[sharding->mesh], *sharding, graph[value].type.shape);
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
