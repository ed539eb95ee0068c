// What follows `-o` of `tapc run`:
//
//   Y=@y.npy              one result into a file         Y=-            printed
//   @all.npz              every result, by name          -              every result printed
//   Y=@some.npz           into an archive, together with all others that are given the same path
//
// Nothing is written here: plan_outputs determines the files and their content, write_files then writes them
// together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensors/content.h"
#include "runtime/tensors/tensor_file.h"
#include "runtime/write_file.h"

namespace tap {

struct OutputSpec {
  std::string text;
  std::string name;  // empty: every result
  std::string path;  // empty: printed
  bool operator==(const OutputSpec&) const = default;
};

// Throws Failure, exit 2.
OutputSpec parse_output_spec(std::string_view text);

struct DeclaredOutput {
  std::string name;
  ElementType type;
};

// Call before anything runs. Throws Failure: a result that the program lacks, two results for one .npy file, bf16 in a
// NumPy format (exit 2); a path that is one of the inputs' files, also through a link (exit 3).
void check_outputs(const std::vector<OutputSpec>& specs, const std::vector<DeclaredOutput>& declared,
                   const std::vector<std::string>& input_paths);

struct PlannedOutputs {
  std::vector<OutputFile> files;  // in order of first mention
  std::vector<NamedTensor> printed;
};
// Pre: check_outputs passed for these results.
PlannedOutputs plan_outputs(const std::vector<OutputSpec>& specs, const std::vector<NamedTensor>& results);

}  // namespace tap
