// What the conformance files are made of, read into our own values: meshes, shardings, tensors, attributes of operations.
//
//   {"mesh": "m", "dims": [{"axes": ["a", {"axis": "b", "pre": 1, "size": 2}], "open": true}]}   m[{a, b:(1)2, ?}]
//
// Attributes are fields in some files and text in others: {"dims": [1]}, or "… dimensions = [1]".
#pragma once

#include <nlohmann/json.hpp>

#include "ir/sharding.h"
#include "support/tensor.h"

namespace tap::conformance {

using Json = nlohmann::json;

ir::Mesh mesh_of(const std::string& name, const Json& mesh);
std::vector<ir::Mesh> meshes_of(const Json& meshes);            // {name: mesh, …}
std::optional<ir::Sharding> sharding_of(const Json& sharding);  // none for null

struct TensorValue {
  std::string name;  // in Tap: %1#0 is v1_0
  Shape shape;
  std::string type;  // f32
};
std::string tap_name(const std::string& name);
std::string tap_type(const std::string& dtype);
TensorValue tensor_of(const std::string& name, const Json& type);

class Attributes {
 public:
  explicit Attributes(const Json& json);

  bool has(const std::string& name) const;
  std::vector<std::int64_t> integers(const std::string& name) const;  // dims = [0, 2]; empty if it is not there
  std::int64_t integer(const std::string& name, std::int64_t otherwise) const;
  std::string word(const std::string& name) const;
  // The two lists of `contracting = [[1], [0]]` or `contracting_dims = [1] x [0]`.
  std::vector<std::vector<std::int64_t>> lists(const std::string& name) const;
  const std::string& text() const { return text_; }

 private:
  Json fields_;
  std::string text_;
};

}  // namespace tap::conformance
