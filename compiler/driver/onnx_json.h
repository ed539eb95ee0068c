// Sharding specs as JSON, with the names of ONNX's format (docs/schema/onnx_sharding.schema.json).
//
//   {"format": "onnx-sharding", "version": 1, "configuration": {"name": "pod", "num_devices": 4},
//    "node": [{"name": "Y", "sharding_spec": [{"tensor_name": "X", "device": [0, 1],
//              "sharded_dim": [{"axis": 0, "simple_sharding": [{"num_shards": 2}]}]}]}]}
//
// Names may also be spelled as in protobuf's JSON (`tensorName`), and integers as strings of digits.
#pragma once

#include <string>

#include "compiler/driver/show/located_json.h"
#include "passes/shardings/onnx_program.h"

namespace tap::driver {

// The bytes of a spec, and of its parts.
struct SpecBytes {
  ByteRange whole, tensor, device;
  std::optional<ByteRange> groups;
  std::vector<ByteRange> dims;
};
struct NodeBytes {
  ByteRange name;
  std::vector<SpecBytes> specs;
};
struct OnnxJson {
  passes::onnx::Shardings shardings;
  std::vector<NodeBytes> nodes;
};
std::variant<OnnxJson, JsonMistake> parse_onnx_json(const std::string& text);
std::string print_onnx_json(const passes::onnx::Shardings& shardings);

}  // namespace tap::driver
