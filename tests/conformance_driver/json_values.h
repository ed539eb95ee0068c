// What the conformance files are made of, read into our own values: meshes, shardings, tensors, attributes of operations.
//
//   {"mesh": "m", "dims": [{"axes": ["a", {"axis": "b", "pre": 1, "size": 2}], "open": true}]}   m[{a, b:(1)2, ?}]
//
// Attributes are fields in some files and text in others: {"dims": [1]}, or "… dimensions = [1]".
#pragma once

#include <nlohmann/json.hpp>

#include "ir/graph.h"
#include "ir/shardings/mesh_names.h"
#include "support/tensor.h"

namespace tap::conformance {

using Json = nlohmann::json;

// A case that is not of the form that its kind has; what the JSON library and `at` throw means the same.
struct Malformed {
  std::string what;
};

ir::Mesh mesh_of(const std::string& name, const Json& mesh);
std::vector<ir::Mesh> meshes_of(const Json& meshes);  // {name: mesh, …}
ir::AxisName axis_name_of(const Json& axis);
// None for null. Throws Malformed where it is not of these meshes.
std::optional<ir::Sharding> sharding_of(const std::vector<ir::Mesh>& meshes, const Json& sharding);
// One that is there, of a tensor of that rank on one of the program's meshes. Throws Malformed.
ir::Sharding sharding_on(const ir::Program& program, const Json& sharding, std::size_t rank);
// The list, which must have so many entries. Throws Malformed.
const Json& list_of(const Json& list, std::size_t size, const char* what);

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
