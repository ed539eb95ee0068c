// The manifest of a compiled library: `tapc compile` writes it last, `tapc run` accepts it instead of a source file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/driver/work.h"
#include "ir/operator.h"

namespace tap::driver {

struct ManifestTensor {
  std::string name;
  ir::TensorType type;
  bool constant = false;
  bool operator==(const ManifestTensor&) const = default;
};

struct Manifest {
  std::int64_t abi = 0;
  std::string program, prefix;
  std::string file, hash;  // of the library, in the manifest's folder
  std::string target;
  std::vector<std::string> features;  // that the code may use
  std::vector<ManifestTensor> inputs, outputs;
  std::vector<std::string> outside;  // symbols of outside kernels
  std::int64_t shards = 0;           // number of boxes that operations are applied to
  ProgramWork work;
  bool operator==(const Manifest&) const = default;
};

inline constexpr std::int64_t manifest_version = 1;

bool is_manifest(std::string_view text);
// Throws Failure, exit 3. `path` is for messages.
Manifest parse_manifest(std::string_view text, const std::string& path);

}  // namespace tap::driver
