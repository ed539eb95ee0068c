#include "compiler/driver/onnx_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "support/memory_failure.h"

namespace tap::driver {
namespace {

using ir::onnx::ShardedDim;
using ir::onnx::SimpleSharding;
using nlohmann::json;
using nlohmann::ordered_json;
using passes::onnx::Shardings;
using passes::onnx::TensorSpec;

constexpr std::int64_t most_devices = 1 << 24;

// tensor_name → tensorName
std::string camel_case(std::string_view name) {
  std::string out;
  for (std::size_t k = 0; k < name.size(); ++k)
    if (name[k] == '_' && k + 1 < name.size()) out += static_cast<char>(name[++k] - 'a' + 'A');
    else out += name[k];
  return out;
}

// An object and its path, for messages: node[0].sharding_spec[1]
class Object {
 public:
  Object(const LocatedJson& value, std::string path, std::initializer_list<std::string_view> known)
      : value_(value), path_(std::move(path)) {
    if (value.kind != LocatedJson::Kind::object)
      throw JsonMistake{fmt::format("{} must be an object", path_), value.at};
    for (const LocatedJson::Name& name : value.names) {
      auto same = [&](std::string_view field) { return name.text == field || name.text == camel_case(field); };
      if (std::none_of(known.begin(), known.end(), same))
        throw JsonMistake{fmt::format("{} has the unknown field `{}`", path_, name.text), name.at};
    }
  }

  // In either spelling; null if it is missing.
  const LocatedJson* find(std::string_view field) const {
    const LocatedJson::Name* found = nullptr;
    std::string camel = camel_case(field);
    for (const LocatedJson::Name& name : value_.names) {
      if (name.text != field && name.text != camel) continue;
      if (found)
        throw JsonMistake{fmt::format("{} has both `{}` and `{}`", path_, found->text, name.text), name.at,
                          "here first", found->at};
      found = &name;
    }
    return found ? &value_.items[static_cast<std::size_t>(found - value_.names.data())] : nullptr;
  }
  const LocatedJson& at(std::string_view field) const {
    if (const LocatedJson* found = find(field)) return *found;
    throw JsonMistake{fmt::format("{} lacks the field `{}`", path_, field), value_.at};
  }
  std::string path(std::string_view field) const { return fmt::format("{}.{}", path_, field); }
  const LocatedJson& value() const { return value_; }

  std::int64_t whole(std::string_view field) const { return whole_of(at(field), path(field)); }
  std::string text(std::string_view field) const { return text_of(at(field), path(field)); }

  // Protobuf writes 64-bit integers in JSON as strings.
  static std::int64_t whole_of(const LocatedJson& value, const std::string& path) {
    if (value.kind == LocatedJson::Kind::whole) return value.whole;
    std::int64_t number = 0;
    const char* end = value.text.data() + value.text.size();
    auto [rest, error] = std::from_chars(value.text.data(), end, number);
    if (value.kind != LocatedJson::Kind::text || error != std::errc() || rest != end)
      throw JsonMistake{fmt::format("{} must be a 64-bit integer", path), value.at};
    return number;
  }
  static std::string text_of(const LocatedJson& value, const std::string& path) {
    if (value.kind != LocatedJson::Kind::text) throw JsonMistake{fmt::format("{} must be a string", path), value.at};
    return value.text;
  }

 private:
  const LocatedJson& value_;
  std::string path_;
};

using Entries = std::vector<std::pair<const LocatedJson*, std::string>>;  // with their paths
Entries entries(const LocatedJson& value, const std::string& path) {
  if (value.kind != LocatedJson::Kind::list) throw JsonMistake{fmt::format("{} must be an array", path), value.at};
  Entries out;
  for (const LocatedJson& entry : value.items) out.emplace_back(&entry, fmt::format("{}[{}]", path, out.size()));
  return out;
}
Entries entries(const Object& object, std::string_view field) {
  const LocatedJson* value = object.find(field);
  return value ? entries(*value, object.path(field)) : Entries{};
}
std::vector<std::int64_t> numbers(const LocatedJson& value, const std::string& path) {
  std::vector<std::int64_t> out;
  for (const auto& [entry, where] : entries(value, path)) out.push_back(Object::whole_of(*entry, where));
  return out;
}

class Reader {
 public:
  OnnxJson read(const LocatedJson& value) {
    Object top(value, "the file", {"format", "version", "configuration", "node"});
    const LocatedJson &format = top.at("format"), &version = top.at("version");
    bool ours = format.kind == LocatedJson::Kind::text && format.text == "onnx-sharding";
    if (!ours || version.kind != LocatedJson::Kind::whole || version.whole != 1)
      throw JsonMistake{"the file must have `\"format\": \"onnx-sharding\", \"version\": 1`",
                        ours ? version.at : format.at};
    configuration(top.at("configuration"));
    for (const auto& [entry, path] : entries(top.at("node"), "node")) node(*entry, path);
    return std::move(out_);
  }

 private:
  // One object, or as in ONNX's schema a list with one.
  void configuration(const LocatedJson& value) {
    bool list = value.kind == LocatedJson::Kind::list;
    if (list && value.items.size() != 1)
      throw JsonMistake{fmt::format("the file has {} configurations; expected 1", value.items.size()), value.at};
    Object object(list ? value.items[0] : value, "configuration", {"name", "num_devices", "device"});
    out_.shardings.configuration = object.text("name");
    std::int64_t devices = out_.shardings.devices = object.whole("num_devices");
    if (devices < 1 || devices > most_devices)
      throw JsonMistake{fmt::format("configuration.num_devices is {}; expected 1 to {}", devices, most_devices),
                        object.at("num_devices").at};
    for (const auto& [name, path] : entries(object, "device")) Object::text_of(*name, path);
  }

  // Named after its first output if outputs are listed, else by its name.
  void node(const LocatedJson& value, const std::string& path) {
    Object object(value, path,
                  {"name", "sharding_spec", "device_configurations", "input", "output", "op_type", "domain", "overload",
                   "doc_string"});
    for (const char* field : {"name", "op_type", "domain", "overload", "doc_string"})
      if (object.find(field)) object.text(field);
    for (const auto& [entry, where] : entries(object, "input")) Object::text_of(*entry, where);
    Entries outputs = entries(object, "output");
    const LocatedJson& name = outputs.empty() ? object.at("name") : *outputs[0].first;
    for (const auto& [entry, where] : outputs) Object::text_of(*entry, where);
    out_.shardings.nodes.push_back({Object::text_of(name, outputs.empty() ? path + ".name" : outputs[0].second), {}});
    out_.nodes.push_back({name.at, {}});
    const LocatedJson* configurations = object.find("device_configurations");
    if (!configurations) return specs(object.at("sharding_spec"), object.path("sharding_spec"));
    if (const LocatedJson* both = object.find("sharding_spec"))
      throw JsonMistake{fmt::format("{} has both `sharding_spec` and `device_configurations`", path), both->at};
    for (const auto& [entry, where] : entries(object, "device_configurations")) device_configuration(*entry, where);
  }

  void device_configuration(const LocatedJson& value, const std::string& path) {
    Object object(value, path, {"configuration_id", "sharding_spec", "pipeline_stage"});
    if (std::string id = object.text("configuration_id"); id != out_.shardings.configuration)
      throw JsonMistake{fmt::format("{}.configuration_id is `{}`, but the configuration is `{}`", path, id,
                                    out_.shardings.configuration),
                        object.at("configuration_id").at};
    if (object.find("pipeline_stage")) object.whole("pipeline_stage");  // unrelated to shards
    if (const LocatedJson* list = object.find("sharding_spec")) specs(*list, object.path("sharding_spec"));
  }

  void specs(const LocatedJson& value, const std::string& path) {
    for (const auto& [entry, where] : entries(value, path)) tensor(*entry, where);
  }

  void tensor(const LocatedJson& value, const std::string& path) {
    Object object(value, path, {"tensor_name", "device", "index_to_device_group_map", "sharded_dim"});
    TensorSpec spec{object.text("tensor_name"), {}};
    SpecBytes bytes{value.at, object.at("tensor_name").at, object.at("device").at, {}, {}};
    spec.spec.device = numbers(object.at("device"), object.path("device"));
    if (const LocatedJson* map = object.find("index_to_device_group_map")) bytes.groups = map->at;
    for (const auto& [entry, where] : entries(object, "index_to_device_group_map")) group(*entry, where, spec);
    for (const auto& [entry, where] : entries(object, "sharded_dim")) {
      spec.spec.dims.push_back(dim(*entry, where));
      bytes.dims.push_back(entry->at);
    }
    out_.shardings.nodes.back().specs.push_back(std::move(spec));
    out_.nodes.back().specs.push_back(std::move(bytes));
  }

  static void group(const LocatedJson& value, const std::string& path, TensorSpec& spec) {
    Object object(value, path, {"key", "value"});
    std::int64_t key = object.whole("key");
    if (key >= 0)
      throw JsonMistake{fmt::format("{}.key is {}; the keys of device groups must be negative", path, key),
                        object.at("key").at};
    if (!spec.spec.groups.emplace(key, numbers(object.at("value"), object.path("value"))).second)
      throw JsonMistake{fmt::format("{}.key is {}, the key of another device group", path, key), object.at("key").at};
  }

  static ShardedDim dim(const LocatedJson& value, const std::string& path) {
    Object object(value, path, {"axis", "simple_sharding"});
    ShardedDim out{object.whole("axis"), {}};
    for (const auto& [entry, where] : entries(object.at("simple_sharding"), object.path("simple_sharding"))) {
      Object one(*entry, where, {"dim_value", "dim_param", "num_shards"});
      SimpleSharding simple;
      if (one.find("dim_value")) simple.size = one.whole("dim_value");
      if (one.find("dim_param")) simple.param = one.text("dim_param");
      if (simple.size && one.find("dim_param"))
        throw JsonMistake{fmt::format("{} has both `dim_value` and `dim_param`", where), one.at("dim_param").at};
      simple.shards = one.whole("num_shards");
      out.simple.push_back(std::move(simple));
    }
    return out;
  }

  OnnxJson out_;
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
      if (!part.param.empty()) one["dim_param"] = part.param;
      one["num_shards"] = part.shards;
      simple.push_back(std::move(one));
    }
    out["sharded_dim"].push_back({{"axis", dim.axis}, {"simple_sharding", std::move(simple)}});
  }
  return out;
}

}  // namespace

std::variant<OnnxJson, JsonMistake> parse_onnx_json(const std::string& text) {
  AllocationMustSucceed memory_guard;
  auto parsed = parse_located_json(text);
  if (auto* mistake = std::get_if<JsonMistake>(&parsed)) return std::move(*mistake);
  try {
    return Reader().read(std::get<LocatedJson>(parsed));
  } catch (JsonMistake& mistake) { return std::move(mistake); }
}

std::string print_onnx_json(const Shardings& shardings) {
  AllocationMustSucceed memory_guard;
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
