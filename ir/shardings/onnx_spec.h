// Sharding specs of ONNX: the number of shards of each axis of a tensor, and their devices.
//
//   {device = [-1, -2], index_to_device_group_map = {-1: [0, 1], -2: [2, 3]},
//    sharded_dim = [{axis = 0, simple_sharding = [{num_shards = 2}]}]}       rows in two shards, each on two devices
//
// and the meaning of a spec for a tensor: a grid of shards (the last axis varies fastest), each on a set of devices.
// Shards of an axis of size d are blocks of ceil(d / num_shards), as everywhere (`Blocks`).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "support/tensor.h"

namespace tap::ir::onnx {

enum class Rule : std::uint8_t {
#define TAP_ONNX_RULE(name, id, text) name,
#define TAP_ONNX_LIMIT(name, id, text) name,
#include "ir/shardings/onnx_rules.def"
#undef TAP_ONNX_RULE
#undef TAP_ONNX_LIMIT
};
struct RuleInfo {
  std::string_view name;
  std::string_view text;
  bool limit = false;  // valid, but not supported
};
const RuleInfo& info(Rule rule);

// A part of a spec.
enum class Field : std::uint8_t { whole, tensor, device, groups, dim };
struct Broken {
  Rule rule = Rule::tensor_name;
  std::string message;
  std::vector<std::uint32_t> operands = {};  // of an operation: the operands that it concerns
  Field field = Field::whole;                // of a spec: which part of it
  std::size_t dim = 0;                       // with Field::dim
  bool operator==(const Broken&) const = default;
};

struct SimpleSharding {
  std::optional<std::int64_t> size;  // none: the rest of the axis
  std::int64_t shards = 1;
  std::string param = {};  // name of an unknown size
  bool operator==(const SimpleSharding&) const = default;
};
struct ShardedDim {
  std::int64_t axis = 0;               // -1: the last one
  std::vector<SimpleSharding> simple;  // of the axes that were fused into this one, major to minor
  bool operator==(const ShardedDim&) const = default;
};
using Devices = std::vector<std::int64_t>;  // as a set: in ascending order
struct Spec {
  std::vector<std::int64_t> device;  // by shard; negative ones are keys of groups. Unsharded: all devices with a copy
  std::map<std::int64_t, Devices> groups;
  std::vector<ShardedDim> dims;
  bool operator==(const Spec&) const = default;
};
std::string to_string(const Spec& spec);        // {device = [0, 1], sharded_dim = [{axis = 0, simple_sharding = [2]}]}
std::string to_string(const Devices& devices);  // {0, 1}

// `size` cells or blocks in this many shards.
struct Part {
  std::int64_t size = 1;
  std::int64_t shards = 1;
  bool operator==(const Part&) const = default;
};
using Parts = std::vector<Part>;  // major to minor; none: not split
std::int64_t shards_of(const Parts& parts);
// The shortest equivalent list: (2 in 2, 4 in 2) is 8 in 4, (4 in 2, 3 in 1) is 12 in 2.
Parts simplified(const Parts& parts);

struct Placed {
  std::vector<Parts> axes;
  std::vector<Devices> shards;  // none: not sharded, available on any device
  bool is_unsharded() const { return shards.empty(); }
  bool operator==(const Placed&) const = default;
};
std::string to_string(const Placed& placed);

// Pre: the shape is a tensor's. Returns what the spec means, or the first structural rule that it violates.
std::variant<Placed, Broken> place(const Spec& spec, const Shape& shape, std::int64_t devices);
// Pre: not anywhere.
Spec spec_of(const Placed& placed);

}  // namespace tap::ir::onnx
