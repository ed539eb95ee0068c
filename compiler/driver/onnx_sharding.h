// `tapc sharding` with ONNX sharding specs: reads them from a file, checks and infers them, and propagates them to
// the program's values; or writes specs for the program's shardings.
#pragma once

#include "compiler/driver/compile_file.h"
#include "passes/shardings/onnx_program.h"

namespace tap::driver {

struct OnnxChoices {
  bool limits_are_errors = true;  // for valid but unsupported specs; else they are reported, and treated as unsharded
  passes::onnx::Reduced reduced = passes::onnx::Reduced::on_all;
  bool lowered = false;  // report for the program that plans apply to: after the passes that always run
  bool listed = true;    // placements without a mesh may be listed; else they are unsupported, too
};

struct OnnxProgram {
  ir::Program program;  // annotated, its calls inlined
  passes::onnx::Inferred inferred;
  std::vector<std::string> inside;  // inlined values with specs, in shards of their own
  std::vector<std::string> nodes;   // by the specs' names; `inferred` has their operations
  passes::ListedValues listed;      // plan lines for devices that no mesh expresses
};
// Reports every violated rule. Throws Reported, exit 1, if there is one; Failure for a malformed file.
OnnxProgram read_onnx_shardings(Session& session, const std::string& file, const SourceOptions& source,
                                const std::string& specs, const OnnxChoices& choices);
// A line for each value: its spec, and our sharding; then the operations of each node.
std::string list_specs(const OnnxProgram& found);
// The JSON for a program whose values are sharded.
std::string onnx_json_of(Session& session, const ir::Program& program, const OnnxChoices& choices,
                         const passes::ListedValues& listed = {});

}  // namespace tap::driver
