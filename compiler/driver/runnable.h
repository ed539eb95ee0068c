// A program ready to run, for `tapc run` and `tapc bench`: compiled for the sizes of its inputs, transformed by the
// passes and the plan, with its inputs loaded.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/commands/decisions.h"
#include "compiler/driver/compile_file.h"
#include "runtime/tensors/input_spec.h"

namespace tap::driver {

struct RunnableOptions {
  std::string file;
  SourceOptions source;
  std::vector<std::string> inputs;  // as `-i` has them
  PassOptions passes;
  DecisionOptions decisions;
  std::string machine_file;  // by which decisions are made
  bool make_up = false;      // inputs that are not given are random numbers
  // A step that is not justified is left out, with a warning, unless a proof is requested.
  bool skip_unjustified = false;
};
void add_runnable_options(CLI::App& app, RunnableOptions& options);

struct Runnable {
  Compiled compiled;
  std::vector<Tensor> inputs;
  std::vector<ir::Program> earlier =
      {};  // with `skip_unjustified`: programs before it that are certified to compute the same
};

// Throws Failure or Reported. The tensors may be mapped from `files`.
Runnable make_runnable(Session& session, const RunnableOptions& options, TensorFiles& files);

// Specifications of inputs, or of what results must be (`role`), an archive's entries one by one.
std::vector<InputSpec> parse_inputs(const std::vector<std::string>& texts, const char* role, TensorFiles& files);

}  // namespace tap::driver
