#include "compiler/driver/engine.h"

#include <CLI/CLI.hpp>

#include "compiler/driver/outside_kernels.h"
#include "ir/interpret.h"
#include "support/phase.h"
#ifdef TAP_HAVE_BACKEND
#include "backend/executable.h"
#include "passes/expand.h"
#endif

namespace tap::driver {
namespace {

std::vector<std::string> engines() {
#ifdef TAP_HAVE_BACKEND
  return {"native", "interp"};
#else
  return {"interp"};
#endif
}

}  // namespace

void add_engine_options(CLI::App& app, EngineOptions& options) {
  options.engine = engines().front();
  app.add_option("--engine", options.engine,
                 "native code, or the interpreter (interp), which is slow and obviously right")
      ->check(CLI::IsMember(engines()));
  app.add_option("--threads", options.threads, "Threads of native code")->check(CLI::Range(1, 4096));
  app.add_option("--kernels", options.kernels, "A shared library with the program's outside kernels; may be repeated")
      ->allow_extra_args(false);
}

std::vector<Tensor> evaluate(const ir::Program& program, const std::vector<Tensor>& inputs,
                             const EngineOptions& options) {
  OutsideKernels kernels(program, options.kernels);
  auto call = [&](const ir::Operator& op, const std::vector<Tensor>& operands, std::vector<Tensor>& results) {
    kernels.call(op, operands, results);
    return true;
  };
#ifdef TAP_HAVE_BACKEND
  if (options.engine == "native") {
    Phase phase("running native code");
    return backend::Executable(passes::expand(program), {.threads = options.threads, .kernel = call}).run(inputs);
  }
#endif
  Phase phase("interpreting");
  return ir::interpret(program, program.main, inputs, {.kernel = call}).outputs;
}

}  // namespace tap::driver
