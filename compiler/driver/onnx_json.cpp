#include "compiler/driver/onnx_json.h"
#include "support/memory_failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tap::driver {
namespace {

using ir::onnx::Devices;
using ir::onnx::ShardedDim;
using ir::onnx::SimpleSharding;
using ir::onnx::Spec;
using nlohmann::json;
using nlohmann::ordered_json;
using passes::onnx::NodeSpecs;
using passes::onnx::Shardings;
using passes::onnx::TensorSpec;

constexpr std::int64_t most_devices = 1 << 24;

// Each function takes what it reads and the path that leads there, for messages: node[0].sharding_spec[1].device
class Reader {
 public:
  Shardings read(const json& top) {
    fields(top, "the file", {"format", "version", "configuration", "node"});
    if (at(top, "format", "the file") != "onnx-sharding" || at(top, "version", "the file") != 1)
      throw JsonMistake{"the file has not `\"format\": \"onnx-sharding\", \"version\": 1`"};
    Shardings out;
    const json& configuration = at(top, "configuration", "the file");
    fields(configuration, "configuration", {"name", "num_devices", "device"});
    out.configuration = text(at(configuration, "name", "configuration"), "configuration.name");
    out.devices = whole(at(configuration, "num_devices", "configuration"), "configuration.num_devices");
    if (out.devices < 1 || out.devices > most_devices)
      throw JsonMistake{
          fmt::format("configuration.num_devices is {}, and wanted is 1 to {}", out.devices, most_devices)};
    if (auto names = configuration.find("device"); names != configuration.end())
      for (const auto& [name, path] : list(*names, "configuration.device")) text(*name, path);
    for (const auto& [entry, path] : list(at(top, "node", "the file"), "node")) out.nodes.push_back(node(*entry, path));
    return out;
  }

 private:
  using Path = const std::string&;

  static void fields(const json& object, Path path, std::initializer_list<std::string_view> known) {
    if (!object.is_object()) throw JsonMistake{fmt::format("{} is no object", path)};
    for (const auto& item : object.items())
      if (std::find(known.begin(), known.end(), item.key()) == known.end())
        throw JsonMistake{fmt::format("{} has the field `{}`, which is not known", path, item.key())};
  }
  static const json& at(const json& object, const char* field, Path path) {
    auto found = object.find(field);
    if (found == object.end()) throw JsonMistake{fmt::format("{} lacks the field `{}`", path, field)};
    return *found;
  }
  static std::int64_t whole(const json& value, Path path) {
    bool large = value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX;
    if (!value.is_number_integer() || large) throw JsonMistake{fmt::format("{} is no whole number of 64 bits", path)};
    return value.get<std::int64_t>();
  }
  static std::string text(const json& value, Path path) {
    if (!value.is_string()) throw JsonMistake{fmt::format("{} is no text", path)};
    return value.get<std::string>();
  }
  static std::vector<std::pair<const json*, std::string>> list(const json& value, Path path) {
    if (!value.is_array()) throw JsonMistake{fmt::format("{} is no list", path)};
    std::vector<std::pair<const json*, std::string>> out;
    for (const json& entry : value) out.emplace_back(&entry, fmt::format("{}[{}]", path, out.size()));
    return out;
  }
  static std::vector<std::int64_t> numbers(const json& value, Path path) {
    std::vector<std::int64_t> out;
    for (const auto& [entry, where] : list(value, path)) out.push_back(whole(*entry, where));
    return out;
  }

  NodeSpecs node(const json& value, Path path) {
    fields(value, path, {"name", "sharding_spec"});
    NodeSpecs out{text(at(value, "name", path), path + ".name"), {}};
    for (const auto& [entry, where] : list(at(value, "sharding_spec", path), path + ".sharding_spec"))
      out.specs.push_back(tensor(*entry, where));
    return out;
  }

  TensorSpec tensor(const json& value, Path path) {
    fields(value, path, {"tensor_name", "device", "index_to_device_group_map", "sharded_dim"});
    TensorSpec out{text(at(value, "tensor_name", path), path + ".tensor_name"), {}};
    out.spec.device = numbers(at(value, "device", path), path + ".device");
    if (auto map = value.find("index_to_device_group_map"); map != value.end())
      for (const auto& [entry, where] : list(*map, path + ".index_to_device_group_map")) group(*entry, where, out.spec);
    if (auto dims = value.find("sharded_dim"); dims != value.end())
      for (const auto& [entry, where] : list(*dims, path + ".sharded_dim")) out.spec.dims.push_back(dim(*entry, where));
    return out;
  }

  static void group(const json& value, Path path, Spec& spec) {
    fields(value, path, {"key", "value"});
    std::int64_t key = whole(at(value, "key", path), path + ".key");
    if (key >= 0) throw JsonMistake{fmt::format("{}.key is {}, and the keys of device groups are negative", path, key)};
    if (!spec.groups.emplace(key, numbers(at(value, "value", path), path + ".value")).second)
      throw JsonMistake{fmt::format("{}.key is {}, which another device group has", path, key)};
  }

  static ShardedDim dim(const json& value, Path path) {
    fields(value, path, {"axis", "simple_sharding"});
    ShardedDim out{whole(at(value, "axis", path), path + ".axis"), {}};
    for (const auto& [entry, where] : list(at(value, "simple_sharding", path), path + ".simple_sharding")) {
      fields(*entry, where, {"dim_value", "num_shards"});
      SimpleSharding simple;
      if (auto size = entry->find("dim_value"); size != entry->end()) simple.size = whole(*size, where + ".dim_value");
      simple.shards = whole(at(*entry, "num_shards", where), where + ".num_shards");
      out.simple.push_back(simple);
    }
    return out;
  }
};

ordered_json json_of(const TensorSpec& tensor) {
  ordered_json out = {{"tensor_name", tensor.tensor}, {"device", tensor.spec.device}};
  for (auto group = tensor.spec.groups.rbegin(); group != tensor.spec.groups.rend(); ++group)
    out["index_to_device_group_map"].push_back({{"key", group->first}, {"value", group->second}});
  for (const ShardedDim& dim : tensor.spec.dims) {
    ordered_json simple = ordered_json::array();
    for (const SimpleSharding& part : dim.simple) {
      ordered_json one;
      if (part.size) one["dim_value"] = *part.size;
      one["num_shards"] = part.shards;
      simple.push_back(std::move(one));
    }
    out["sharded_dim"].push_back({{"axis", dim.axis}, {"simple_sharding", std::move(simple)}});
  }
  return out;
}

}  // namespace

std::variant<Shardings, JsonMistake> parse_onnx_json(const std::string& text) {
  MemoryMustSuffice here;
  try {
    return Reader().read(json::parse(text));
  } catch (JsonMistake& mistake) { return std::move(mistake); } catch (const json::parse_error& error) {
    return JsonMistake{"it is no JSON from here on", error.byte == 0 ? 0 : error.byte - 1};
  }
}

std::string print_onnx_json(const Shardings& shardings) {
  MemoryMustSuffice here;
  std::string text = fmt::format(
      "{{\"format\": \"onnx-sharding\", \"version\": 1,\n \"configuration\": {{\"name\": {}, \"num_devices\": {}}},\n "
      "\"node\": [",
      json(shardings.configuration).dump(), shardings.devices);
  for (std::size_t n = 0; n < shardings.nodes.size(); ++n) {
    text += fmt::format("{}\n  {{\"name\": {}, \"sharding_spec\": [", n > 0 ? "," : "",
                        json(shardings.nodes[n].node).dump());
    for (std::size_t k = 0; k < shardings.nodes[n].specs.size(); ++k)
      text += (k > 0 ? ",\n    " : "\n    ") + json_of(shardings.nodes[n].specs[k]).dump();
    text += "]}";
  }
  return text + "]}\n";
}

}  // namespace tap::driver
