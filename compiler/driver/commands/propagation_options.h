// --strategy, --conservative and --open: how `sharding` and `explain` propagate; --from and what goes with it: specs of ONNX's
// formalism instead of the program's shardings.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/onnx_sharding.h"
#include "passes/shardings/propagate.h"

namespace CLI {
class App;
}

namespace tap::driver {

struct HowToPropagate {
  std::string strategy = "aggressive";
  bool conservative = false, open = false;
};
void add_propagation_options(CLI::App& app, HowToPropagate& options);
passes::PropagationOptions propagation_options(const HowToPropagate& options);

struct GivenSpecs {
  std::vector<std::string> from;  // onnx-json and a file, or nothing
  std::string on_unsupported = "error", reduced = "all";
};
void add_specs_options(CLI::App& app, GivenSpecs& options);
// Throws Failure, exit 2, for another format than onnx-json. Pre: `from` is given.
void require_known_format(const GivenSpecs& options);
OnnxChoices onnx_choices(const GivenSpecs& options);

}  // namespace tap::driver
