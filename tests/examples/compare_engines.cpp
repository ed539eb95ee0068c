// Runs a program natively and by the interpreter on random data, and holds every cell against the interpreter's bound on
// the rounding error (ir/interpret/interpret_bounds.h): for sizes at which a tolerance would be a guess.
//
//   compare_engines examples/heat.tap [--kernels smooth.so] [n=64 steps=20]
//
// Prints a line per result; exit code 1 if a cell is outside its bound.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "backend/llvm/executable.h"
#include "compiler/driver/bindings/outside_kernels.h"
#include "compiler/driver/standard_library.h"
#include "compiler/frontend/elaborate/compile.h"
#include "ir/interpret/interpret.h"
#include "passes/splits/expand.h"
#include "runtime/tensors/generate.h"
#include "support/diagnostic_render.h"
#include "tests/check/certified.h"

namespace tap {
namespace {

struct Arguments {
  std::string file;
  std::vector<std::string> kernels;
  std::map<std::string, Shape> dims;
};

Arguments parse_arguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    auto equals = word.find('=');
    if (word == "--kernels" && i + 1 < argc) arguments.kernels.push_back(argv[++i]);
    else if (equals != word.npos) arguments.dims[word.substr(0, equals)] = {std::stoll(word.substr(equals + 1))};
    else arguments.file = word;
  }
  return arguments;
}

ir::Program compile_or_exit(const Arguments& arguments) {
  std::ifstream stream(arguments.file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  SourceMap sources;
  Diagnostics diagnostics;
  CompileOptions options;
  options.dims = arguments.dims;
  options.standard_library = embedded::std_tap;
  auto compiled = compile(sources, sources.add(arguments.file, text.str()), options, diagnostics);
  if (compiled && compiled->has_program) return std::move(compiled->program);
  std::fprintf(stderr, "%s", render(diagnostics, sources, MessageFormat::human, false).c_str());
  std::exit(2);
}

template <class Run>
auto timed(const char* what, Run run) {
  auto begin = std::chrono::steady_clock::now();
  auto result = run();
  std::printf("  %-12s %8.2f s\n", what,
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return result;
}

// How many cells differ from the oracle, how many by more than its bound, and the largest share of a bound that is used.
bool report(const std::string& name, const Tensor& native, const Tensor& oracle, const Tensor& bound) {
  std::int64_t different = 0, outside = 0, without = 0, beyond_tolerance = 0;
  double share = 0;
  for (std::int64_t c = 0; c < native.size(); ++c) {
    double a = native.load_f64(c), b = oracle.load_f64(c), allowed = bound.load_f64(c);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    double difference = std::fabs(a - b);
    ++different;
    beyond_tolerance += !(difference <= 1e-8 + 1e-5 * std::fabs(b));
    if (std::isinf(allowed)) ++without;
    else if (!(difference <= allowed)) ++outside;
    else share = std::max(share, difference / allowed);
  }
  std::printf(
      "  %-12s %lld cells, %lld differ, %lld by more than 1e-5 + 1e-8; %lld outside of the bound, %lld have none; "
      "largest share of a bound %.3g\n",
      name.c_str(), static_cast<long long>(native.size()), static_cast<long long>(different),
      static_cast<long long>(beyond_tolerance), static_cast<long long>(outside), static_cast<long long>(without),
      share);
  return outside == 0;
}

int run(const Arguments& arguments) {
  ir::Program program = compile_or_exit(arguments);
  const ir::Graph& main = program[program.main];
  std::vector<Tensor> inputs;
  for (ir::ValueId input : main.inputs) {
    Tensor tensor(main[input].type.element, main[input].type.shape);
    fill(tensor, {is_float(tensor.type()) ? Maker::Kind::randn : Maker::Kind::rand, inputs.size() + 1, {}}, "random");
    inputs.push_back(std::move(tensor));
  }
  driver::OutsideKernels kernels(program, arguments.kernels);
  auto call = [&](const ir::Operator& op, const std::vector<Tensor>& operands, std::vector<Tensor>& results) {
    kernels.call(op, operands, results);
    return true;
  };
  std::printf("%s\n", arguments.file.c_str());
  auto function = [&](const std::string& symbol) { return kernels.function(symbol); };
  auto native = timed("native", [&] {
    return backend::Executable(passes::expand(program),
                               {.scheduled = check::test::require_certified, .kernel = function})
        .run(inputs);
  });
  auto oracle = timed("interpreter", [&] {
    return ir::interpret(program, program.main, inputs, {.with_bounds = true, .kernel = call});
  });
  bool good = true;
  for (std::size_t k = 0; k < native.size(); ++k)
    good = report(main[main.outputs[k]].name, native[k], oracle.outputs[k], oracle.bounds[k]) && good;
  return good ? 0 : 1;
}

}  // namespace
}  // namespace tap

int main(int argc, char** argv) { return tap::run(tap::parse_arguments(argc, argv)); }
