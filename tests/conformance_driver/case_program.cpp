#include "tests/conformance_driver/case_program.h"

#include <fmt/format.h>

#include <map>
#include <numeric>
#include <set>

#include "ir/shardings/mesh_position.h"

namespace tap::conformance {
namespace {

std::string declared(const TensorValue& tensor, const std::vector<ir::Mesh>& meshes,
                     const std::optional<ir::Sharding>& sharding) {
  return fmt::format("{}: {}[{}]{}", tensor.name, tensor.type, fmt::join(tensor.shape, ", "),
                     sharding ? " @ " + to_string(meshes, *sharding) : "");
}

std::string mesh_text(const ir::Mesh& mesh) {
  std::string axes;
  for (const ir::MeshAxis& axis : mesh.axes)
    axes += fmt::format("{}{}: {}", axes.empty() ? "" : ", ", axis.name, axis.size);
  std::string devices = mesh.devices.empty() ? "" : fmt::format(" devices [{}]", fmt::join(mesh.devices, ", "));
  return fmt::format("mesh {} = [{}]{}\n", mesh.name, axes, devices);
}

// The names of the meshes that the shardings in a case have.
void find_meshes(const Json& json, std::set<std::string>& names) {
  if (json.is_object())
    for (const auto& [key, value] : json.items())
      if (key == "mesh" && value.is_string()) names.insert(value);
  for (const Json& inner : json)
    if (inner.is_structured()) find_meshes(inner, names);
}

// A program in Tap has meshes of one set of devices: those that no sharding has are left out, and where the others still differ
// the smaller ones get a first axis that no sharding has.
std::vector<ir::Mesh> of_one_set(std::vector<ir::Mesh> meshes, const std::set<std::string>& used) {
  std::erase_if(meshes, [&](const ir::Mesh& mesh) { return !used.contains(mesh.name); });
  std::int64_t most = 1;
  for (const ir::Mesh& mesh : meshes) most = std::lcm(most, ir::device_count(mesh));
  for (ir::Mesh& mesh : meshes)
    if (std::int64_t own = ir::device_count(mesh); own < most && !mesh.axes.empty() && mesh.devices.empty())
      mesh.axes.insert(mesh.axes.begin(), {"others", most / own});
  return meshes;
}

class ProgramWriter {
 public:
  explicit ProgramWriter(const Json& test) : test_(test), meshes_(meshes_of(test.at("meshes"))) {}

  std::string write() {
    std::string inputs, results;
    for (const Json& arg : test_.at("args")) {
      const TensorValue& tensor = add(tensor_of(arg.at("name"), arg));
      inputs += (inputs.empty() ? "" : ", ") + declared(tensor, meshes_, sharding_of(meshes_, arg.at("sharding")));
    }
    for (const Json& op : test_.at("ops")) write_one(op);
    for (std::size_t k = 0; k < test_.at("returns").size(); ++k) {
      const TensorValue& returned = tensors_.at(tap_name(test_.at("returns").at(k)));
      TensorValue result = returned;
      result.name = result_name(k);
      std::optional<ir::Sharding> sharding = sharding_of(meshes_, test_.at("results").at(k).at("sharding"));
      results += (results.empty() ? "" : ", ") + declared(result, meshes_, sharding);
      lines_.body.push_back(copy_text(returned, result.name));
    }
    std::string text;
    std::set<std::string> used;
    find_meshes(test_, used);
    for (const ir::Mesh& mesh : of_one_set(meshes_, used)) text += mesh_text(mesh);
    for (const std::string& line : lines_.declarations) text += line + "\n";
    text += fmt::format("program case({}) -> ({}) {{\n", inputs, results);
    for (const std::string& line : lines_.body) text += "  " + line + "\n";
    for (const auto& [id, members] : groups_)
      if (members.size() > 1) text += fmt::format("  group {}\n", fmt::join(members, ", "));
    return text + "}\n";
  }

 private:
  const TensorValue& add(TensorValue tensor) { return tensors_[tensor.name] = std::move(tensor); }

  void write_one(const Json& json) {
    CaseOp op{json.at("op"), {}, {}, Attributes(json.value("attrs", Json::object()))};
    for (const Json& name : json.at("operands")) op.operands.push_back(tensors_.at(tap_name(name)));
    if (op.op == "sharding_group") {
      groups_[op.attributes.integer("group_id", 0)].push_back(op.operands.at(0).name);
      return;
    }
    for (std::size_t r = 0; r < json.at("results").size(); ++r)
      op.results.push_back(add(tensor_of(json.at("results").at(r), json.at("types").at(r))));
    write_op(op, lines_);
    if (op.op == "propagation_barrier") stop(op.results.at(0).name, op.attributes.word("direction"));
    if (op.op == "sharding_constraint") {
      std::optional<ir::Sharding> expected = sharding_of(meshes_, json.at("attrs").at("sharding"));
      if (!expected) throw Malformed{"a sharding constraint has no sharding"};
      annotate(op.results.at(0).name, *expected);
    }
    if (json.contains("sharding") && json.at("sharding").is_array())
      for (std::size_t r = 0; r < op.results.size(); ++r)
        if (auto sharding = sharding_of(meshes_, json.at("sharding").at(r))) annotate(op.results.at(r).name, *sharding);
  }

  // A whole tensor has a sharding, not an equation over cells: so it is named once more.
  void annotate(const std::string& name, const ir::Sharding& sharding) {
    lines_.body.push_back(fmt::format("at_{0} = {0} @ {1}", name, to_string(meshes_, sharding)));
  }

  // What the case allows is what it does not stop.
  void stop(const std::string& name, const std::string& allowed) {
    const char* stopped = allowed == "NONE"       ? "both"
                          : allowed == "FORWARD"  ? "backward"
                          : allowed == "BACKWARD" ? "forward"
                                                  : nullptr;
    if (stopped) lines_.body.push_back(fmt::format("barrier {} {}", name, stopped));
  }

  const Json& test_;
  const std::vector<ir::Mesh> meshes_;
  std::map<std::string, TensorValue> tensors_;
  std::map<std::int64_t, std::vector<std::string>> groups_;
  TapLines lines_;
};

}  // namespace

std::string result_name(std::size_t number) { return "out" + std::to_string(number); }
std::string program_of_case(const Json& test) { return ProgramWriter(test).write(); }

}  // namespace tap::conformance
