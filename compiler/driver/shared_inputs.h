// `--io root`: the first process of a job reads all input files, also for processes that do not see them. The others receive
// types and shapes first, and cells when they know which boxes they need; none needs memory for a whole input.
//
//   X=@x.npy    process 0: f32[8, 4] of the header → all    process 1: needs X[4..8, 0..4] → process 0 reads and sends it
#pragma once

#include <string>
#include <vector>

#include "backend/schedule/process_schedule.h"
#include "runtime/tensors/input_spec.h"

namespace tap::driver {

class MpiHost;
struct Runnable;
struct Session;

// The first process's specifications, in all processes; in others, those of files are `elsewhere` and have the file's type
// and shape. All processes call this together. Throws Failure.
std::vector<InputSpec> specs_of_first(const MpiHost& host, const std::vector<std::string>& texts, const char* role,
                                      TensorFiles& files);

// Boxes of inputs. With a host, all processes call this together, and the first one reads what is elsewhere for the others.
std::vector<Tensor> read_parts(const Session& session, const Runnable& runnable,
                               const std::vector<backend::HeldPart>& parts, TensorFiles& files, const MpiHost* host);

}  // namespace tap::driver
