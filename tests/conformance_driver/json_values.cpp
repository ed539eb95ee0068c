#include "tests/conformance_driver/json_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "ir/shardings/sharded_boxes.h"

namespace tap::conformance {
namespace {

std::vector<ir::AxisRef> axes_of(const ir::Mesh& mesh, const Json& owner, const char* field) {
  std::vector<ir::AxisRef> axes;
  if (auto at = owner.find(field); at != owner.end())
    for (const Json& json : *at) {
      const ir::AxisName axis = axis_name_of(json);
      const auto id = ir::find_axis(mesh, axis.name);
      if (!id) throw Malformed{fmt::format("the mesh {} has no axis {}", mesh.name, axis.name)};
      axes.push_back({*id, axis.sub});
    }
  return axes;
}

// Every [ … ] behind the place, as long as only blanks, `,` or `x` stand between them.
std::vector<std::vector<std::int64_t>> brackets(std::string_view text) {
  std::vector<std::vector<std::int64_t>> lists;
  while (!text.empty()) {
    std::size_t open = text.find_first_not_of(" x,");
    if (open == std::string_view::npos || text[open] != '[') break;
    std::size_t close = text.find(']', open);
    std::string inside(text.substr(open + 1, close - open - 1));
    std::vector<std::int64_t> list;
    for (const char* at = inside.c_str(); *at != 0;) {
      char* end = nullptr;
      std::int64_t n = std::strtoll(at, &end, 10);
      if (end == at) ++at;
      else {
        list.push_back(n);
        at = end;
      }
    }
    lists.push_back(std::move(list));
    text.remove_prefix(close + 1);
  }
  return lists;
}

// What follows `name =` in the text.
std::optional<std::string_view> text_after(std::string_view text, const std::string& name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    bool starts = at == 0 || !(std::isalnum(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '_');
    std::string_view rest = text.substr(at + name.size());
    if (starts && rest.starts_with(" = ")) return rest.substr(3);
  }
  return std::nullopt;
}

}  // namespace

ir::Mesh mesh_of(const std::string& name, const Json& mesh) {
  ir::Mesh out{name, {}, {}};
  for (const Json& axis : mesh.at("axes")) out.axes.push_back({axis.at(0), axis.at(1)});
  if (auto ids = mesh.find("device_ids"); ids != mesh.end()) out.devices = ids->get<std::vector<std::int64_t>>();
  return out;
}

std::vector<ir::Mesh> meshes_of(const Json& meshes) {
  std::vector<ir::Mesh> all;
  for (const auto& [name, mesh] : meshes.items()) all.push_back(mesh_of(name, mesh));
  return all;
}

ir::AxisName axis_name_of(const Json& axis) {
  if (axis.is_string()) return {axis.get<std::string>(), std::nullopt};
  return {axis.at("axis"), ir::SubAxis{axis.at("pre"), axis.at("size")}};
}

std::optional<ir::Sharding> sharding_of(const std::vector<ir::Mesh>& meshes, const Json& json) {
  if (json.is_null()) return std::nullopt;
  const std::string name = json.at("mesh");
  const auto id = ir::find_mesh(meshes, name);
  if (!id) throw Malformed{fmt::format("unknown mesh `{}`", name)};
  const ir::Mesh& mesh = meshes[id->index()];
  ir::Sharding sharding{*id, {}, axes_of(mesh, json, "replicated"), axes_of(mesh, json, "unreduced"), {}};
  for (const Json& dim : json.at("dims")) {
    ir::DimSharding found{axes_of(mesh, dim, "axes"), dim.value("open", false), std::nullopt};
    if (auto priority = dim.find("priority"); priority != dim.end() && !priority->is_null()) found.priority = *priority;
    sharding.dims.push_back(std::move(found));
  }
  if (!sharding.unreduced.empty()) sharding.unreduced_monoid = "sum";
  return sharding;
}

ir::Sharding sharding_on(const ir::Program& program, const Json& json, std::size_t rank) {
  std::optional<ir::Sharding> sharding = sharding_of(program.meshes, json);
  if (!sharding) throw Malformed{"a sharding is null"};
  if (sharding->dims.size() != rank)
    throw Malformed{fmt::format("a sharding of {} dims for a tensor of rank {}", sharding->dims.size(), rank)};
  for (const std::string& fault : faults_of(*sharding, program[sharding->mesh])) throw Malformed{fault};
  return *sharding;
}

const Json& list_of(const Json& list, std::size_t size, const char* what) {
  if (!list.is_array() || list.size() != size)
    throw Malformed{fmt::format("`{}` is no list of {}, one for each", what, size)};
  return list;
}

std::string tap_name(const std::string& name) {
  std::string out;
  for (char c : name)
    if (c != '%') out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return !out.empty() && std::isdigit(static_cast<unsigned char>(out[0])) ? "v" + out : out;
}

std::string tap_type(const std::string& dtype) {
  if (dtype == "i1") return "bool";
  if (dtype == "ui8") return "u8";
  return dtype.starts_with("ui") ? dtype.substr(1) : dtype;
}

TensorValue tensor_of(const std::string& name, const Json& type) {
  TensorValue tensor{tap_name(name), type.at("shape").get<Shape>(), tap_type(type.value("dtype", "f32"))};
  for (std::int64_t extent : tensor.shape)
    if (extent < 0) throw Malformed{fmt::format("`{}` has an extent of {}", name, extent)};
  element_count(tensor.shape);  // throws Overflow
  return tensor;
}

Attributes::Attributes(const Json& json) : fields_(json.is_object() ? json : Json::object()) {
  if (json.is_string()) text_ = json;
  else if (fields_.contains("text")) text_ = fields_["text"];
}

bool Attributes::has(const std::string& name) const { return fields_.contains(name) || text_after(text_, name); }

std::vector<std::int64_t> Attributes::integers(const std::string& name) const {
  if (fields_.contains(name)) return fields_[name].get<std::vector<std::int64_t>>();
  auto found = text_after(text_, name);
  auto all = found ? brackets(*found) : std::vector<std::vector<std::int64_t>>{};
  return all.empty() ? std::vector<std::int64_t>{} : all[0];
}

std::int64_t Attributes::integer(const std::string& name, std::int64_t otherwise) const {
  if (fields_.contains(name)) return fields_[name];
  auto found = text_after(text_, name);
  return found ? std::strtoll(std::string(*found).c_str(), nullptr, 10) : otherwise;
}

std::string Attributes::word(const std::string& name) const {
  return fields_.contains(name) ? fields_[name].get<std::string>() : std::string();
}

std::vector<std::vector<std::int64_t>> Attributes::lists(const std::string& name) const {
  if (fields_.contains(name)) return fields_[name].get<std::vector<std::vector<std::int64_t>>>();
  auto found = text_after(text_, name + "_dims");
  return found ? brackets(*found) : std::vector<std::vector<std::int64_t>>(2);
}

}  // namespace tap::conformance
