#include "compiler/driver/commands/propagation_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace tap::driver {

void add_propagation_options(CLI::App& app, HowToPropagate& options) {
  app.add_option("--strategy", options.strategy,
                 "How to resolve conflicts within an operation: aggressive (default; the larger tensor wins) or basic "
                 "(neither axis propagates)")
      ->check(CLI::IsMember({"basic", "aggressive"}));
  app.add_flag("--conservative", options.conservative,
               "Propagate whole axes only, and not through permutations and halos");
  app.add_flag("--open", options.open,
               "Keep dims open; do not change inferred shardings of inputs and results, even if they are uneven");
}

passes::PropagationOptions propagation_options(const HowToPropagate& options) {
  passes::PropagationOptions how;
  how.strategy = options.strategy == "basic" ? passes::Strategy::basic : passes::Strategy::aggressive;
  how.conservative = options.conservative;
  how.finish = !options.open;
  return how;
}

void add_specs_options(CLI::App& app, GivenSpecs& options) {
  app.add_option("--from", options.from,
                 "onnx-json SPECS: read ONNX sharding specs from this file, check them and infer the others")
      ->type_name("FORMAT SPECS")
      ->type_size(2)
      ->expected(1)
      ->check([](const std::string& word) { return word.empty() ? "expected a format and a file" : ""; });
  app.add_option("--on-unsupported", options.on_unsupported,
                 "Unsupported specs: error (default), or fallback (treat them as unsharded)")
      ->check(CLI::IsMember({"error", "fallback"}));
  app.add_option("--reduced", options.reduced,
                 "The result of a sharded reduction is on all participating devices (all, default) or on one (one)")
      ->check(CLI::IsMember({"all", "one"}));
}

void require_known_format(const GivenSpecs& options) {
  if (options.from.front() == "onnx-json") return;
  throw Failure{exit_code::wrong_command_line,
                Diagnostic(Code::command_line, Span{},
                           fmt::format("`--from` does not support the format `{}`", options.from.front()))
                    .help("use `--from onnx-json SPECS`")};
}

OnnxChoices onnx_choices(const GivenSpecs& options) {
  return {options.on_unsupported == "error",
          options.reduced == "all" ? passes::onnx::Reduced::on_all : passes::onnx::Reduced::on_one};
}

}  // namespace tap::driver
