// Results of a run that the processes of an MPI job share: each has some boxes of them. What is printed, compared or
// written to an archive is gathered in the first process. Into other files every process writes its own boxes, so that none
// needs memory for a whole result.
//
//   Y=@y.npy with 2 processes    process 0: a temporary of y.npy's size    both: write their boxes    process 0: renames it
#pragma once

#include <vector>

#include "compiler/driver/engine.h"
#include "compiler/driver/mpi_host.h"
#include "runtime/tensors/output_spec.h"

namespace tap::driver {

struct SharedResults {
  const MpiHost& host;
  std::vector<DeclaredOutput> declared;
  Evaluation evaluation;
};

// All processes call these, with the same results to gather, and the same outputs.

// By output; for those not asked for, and in processes other than the first: a tensor without memory.
std::vector<NamedTensor> gather(const SharedResults& results, const std::vector<bool>& asked);

// Writes the boxes into `outputs`, and `others`, which only the first process has, as one set. Throws Failure; then
// nothing has changed. Returns the names of all files in the first process.
std::vector<std::string> write_boxes(const SharedResults& results, const std::vector<OutputSpec>& outputs,
                                     std::vector<OutputFile> others);

// One .safetensors file for each process: y-00001-of-00004.safetensors has a tensor for each box of the first process,
// named by it, `Y[0..16, 0..64]`. `others` as above. Returns the names of this process's files.
std::vector<std::string> write_own_files(const SharedResults& results, const std::vector<OutputSpec>& outputs,
                                         std::vector<OutputFile> others);
std::string own_file(const MpiHost& host, const std::string& path);

}  // namespace tap::driver
