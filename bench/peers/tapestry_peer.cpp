// Our peer: a program in Tap, compiled once in this process as by `tapc run`, and called as often as run.py requests.
//
//   tapestry_peer FILE THREADS [plan=FILE] [shift=0.5] [dim:n=64 …]
//
// shift: what is added to the inputs' cells.
#include <cstring>
#include <fstream>

#include "backend/llvm/executable.h"
#include "backend/llvm/library.h"
#include "backend/machine_of.h"
#include "bench/peers/protocol.h"
#include "compiler/driver/commands/decisions.h"
#include "compiler/driver/compile_file.h"
#include "passes/splits/expand.h"
#include "runtime/failure.h"

namespace tap {
namespace {

struct Arguments {
  std::string file;
  driver::DecisionOptions decisions;
  std::size_t threads = 1;
  float shift = 0;
  driver::SourceOptions source;
};

Arguments parse_arguments(int argc, char** argv) {
  Arguments arguments;
  arguments.file = argv[1];
  arguments.threads = std::stoul(argv[2]);
  for (int i = 3; i < argc; ++i) {
    std::string word = argv[i];
    if (word.starts_with("plan=")) arguments.decisions.plan = word.substr(5);
    else if (word.starts_with("shift=")) arguments.shift = std::stof(word.substr(6));
    else if (word.starts_with("dim:")) arguments.source.dims.push_back(word.substr(4));
  }
  return arguments;
}

ir::Program compile(driver::Session& session, const Arguments& arguments) {
  driver::PassOptions passes;
  driver::read_decisions(session, arguments.decisions, passes);
  pipeline::Options options = driver::pipeline_options(passes, pipeline::Stage::sharded);
  driver::let_decide(session, arguments.decisions, {}, options);
  return driver::compile_file(session, driver::read_program_file(session, arguments.file, arguments.source), options)
      .program;
}

std::vector<Tensor> inputs_of(const ir::Graph& main, float shift) {
  std::vector<Tensor> inputs;
  for (ir::ValueId id : main.inputs) {
    Tensor tensor(main[id].type.element, main[id].type.shape);
    auto cells = tensor.as_mutable<float>();
    peers::fill(cells.data(), cells.size(), static_cast<std::uint32_t>(inputs.size() + 1));
    for (float& cell : cells) cell += shift;
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

int run(const Arguments& arguments) {
  driver::Session session;
  ir::Program program = compile(session, arguments);
  std::vector<Tensor> inputs = inputs_of(program[program.main], arguments.shift), outputs;
  auto begin = peers::Clocks::now();
  backend::ExecuteOptions how{.threads = arguments.threads};
  how.machine = backend::machine_of(*backend::target_named("native"));
  backend::Executable executable(passes::expand(program), how);
  auto end = peers::Clocks::now();
  std::fprintf(stderr, "tapestry: %zu kernels compiled in %.3f s\n", executable.kernel_count(), end.wall - begin.wall);
  executable.prepare(inputs);
  peers::Peer peer{"tapestry", executable.bound(inputs, outputs),  // as rivals: what is called has its tensors
                   [&] { return std::pair(outputs.at(0).as<float>().data(), outputs[0].as<float>().size()); }};
  return peers::serve({peer});
}

}  // namespace
}  // namespace tap

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  try {
    return tap::run(tap::parse_arguments(argc, argv));
  } catch (const tap::Failure& failure) {
    std::fprintf(stderr, "tapestry: %s\n", failure.diagnostic.message.c_str());
    return failure.exit_code;
  } catch (const tap::driver::Reported& reported) { return reported.exit_code; }
}
