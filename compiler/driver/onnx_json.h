// Sharding specs as JSON, with the names of ONNX's format (docs/schema/onnx_sharding.schema.json).
//
//   {"format": "onnx-sharding", "version": 1, "configuration": {"name": "pod", "num_devices": 4},
//    "node": [{"name": "Y", "sharding_spec": [{"tensor_name": "X", "device": [0, 1],
//              "sharded_dim": [{"axis": 0, "simple_sharding": [{"num_shards": 2}]}]}]}]}
#pragma once

#include <string>

#include "passes/onnx_program.h"

namespace tap::driver {

struct JsonMistake {
  std::string message;
  std::optional<std::size_t> byte = {};  // where it is no JSON
};
std::variant<passes::onnx::Shardings, JsonMistake> parse_onnx_json(const std::string& text);
std::string print_onnx_json(const passes::onnx::Shardings& shardings);

}  // namespace tap::driver
