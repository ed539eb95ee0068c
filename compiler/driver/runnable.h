// A program ready to run, for `tapc run` and `tapc bench`: compiled for the sizes of its inputs, transformed by the
// passes and the plan, with its inputs loaded.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/commands/decisions.h"
#include "compiler/driver/compile_file.h"
#include "runtime/tensors/input_spec.h"

namespace tap::driver {

class MpiHost;

struct RunnableOptions {
  std::string file;
  SourceOptions source;
  std::vector<std::string> inputs;  // as given by `-i`
  PassOptions passes;
  DecisionOptions decisions;
  std::string machine_file;              // for the decisions
  bool make_up = false;                  // missing inputs are random numbers
  bool in_parts = false;                 // inputs are read later, by `part_of_input`
  const MpiHost* host = nullptr;         // its first process decides for all
  const MpiHost* first_reads = nullptr;  // its first process reads all files (shared_inputs.h)
  // Leaves out a step that is not justified, with a warning, unless a proof is required.
  bool skip_unjustified = false;
};
void add_runnable_options(CLI::App& app, RunnableOptions& options);

struct Runnable {
  Compiled compiled;
  std::string plan = {};               // complete, as a text
  std::vector<Tensor> inputs;          // none of them with `in_parts`
  std::vector<InputSpec> input_specs;  // in the order of the inputs
  std::vector<ir::Program> earlier =
      {};  // with `skip_unjustified`: earlier programs that are certified to compute the same
};

// Throws Failure or Reported. The tensors may be mapped from `files`.
Runnable make_runnable(Session& session, const RunnableOptions& options, TensorFiles& files);

TensorPart part_of(const ir::Box& box);
// A box of an input: of a file or of generated values only the box is read or made.
Tensor part_of_input(const Session& session, const Runnable& runnable, std::size_t input, const ir::Box& box,
                     TensorFiles& files);

// Specifications of inputs, or of expected results (`role`); an archive's entries are separate.
std::vector<InputSpec> parse_inputs(const std::vector<std::string>& texts, const char* role, TensorFiles& files);

}  // namespace tap::driver
