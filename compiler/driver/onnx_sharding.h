// `tapc sharding` with ONNX sharding specs: reads them from a file, checks and infers them, and propagates them to
// the program's values; or writes specs for the program's shardings.
#pragma once

#include "compiler/driver/compile_file.h"
#include "passes/shardings/onnx_program.h"

namespace tap::driver {

struct OnnxChoices {
  bool limits_are_errors =
      true;  // for specs that are valid but unsupported; else they are reported, and treated as unsharded
  passes::onnx::Reduced reduced = passes::onnx::Reduced::on_all;
  bool lowered =
      false;  // what was read is then reported for the program that a plan applies to: after the passes that always run
  bool listed = true;  // what no mesh says may be listed; else that is a limit, too
};

struct OnnxProgram {
  ir::Program program;  // annotated, its calls inlined
  passes::onnx::Inferred inferred;
  std::vector<std::string> inside;  // values with specs that are part of others, in their shards
  std::vector<std::string> nodes;   // as the specs name them; `inferred` says which operations they are
  passes::ListedValues listed;      // what a plan has to say of devices that no mesh says
};
// Tells every rule that is broken. Throws Reported, exit 1, if there was one; Failure for a file that is no such JSON.
OnnxProgram read_onnx_shardings(Session& session, const std::string& file, const SourceOptions& source,
                                const std::string& specs, const OnnxChoices& choices);
// A line for each value: its spec, and the sharding of ours; then which operations the nodes are.
std::string list_specs(const OnnxProgram& found);
// The JSON of a program whose values are sharded.
std::string onnx_json_of(Session& session, const ir::Program& program, const OnnxChoices& choices,
                         const passes::ListedValues& listed = {});

}  // namespace tap::driver
