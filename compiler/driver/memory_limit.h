// `tapc run --memory 8GiB`: what the tensors of a run need is known before it starts, and a run that needs more is refused.
//
//   process 1 of the job (devices 2, 3) needs 9.1 GiB, but `--memory` allows 8 GiB
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend/llvm/executable.h"
#include "runtime/distribution.h"
#include "runtime/failure.h"

namespace tap::driver {

class MpiHost;

// Bytes, in one process. Added up it is a bound: inputs and results stay from the beginning to the end.
struct MemoryNeed {
  std::int64_t inputs = 0, results = 0;
  std::int64_t intermediates = 0;  // the most at a time, with the gaps between them
  std::int64_t constants = 0;      // packed
  std::int64_t scratch = 0;        // of the kernels, on all threads
  std::int64_t messages = 0;       // copies of boxes that are not contiguous, the most at a time
  std::int64_t total() const;
};

struct MemoryLimit {
  std::int64_t bytes = 0;  // 0: none
  std::int64_t threads = 1;
  // Of a job: the processes, and the results that the first one gathers; may be null.
  const MpiHost* host = nullptr;
  std::optional<executor::Distribution> among = {};
  const std::vector<bool>* gathered = nullptr;
};

// Throws MemoryExceeded if a process needs more than its limit. All processes of a job call this together, with what each is
// going to run.
void require_memory(const backend::CompiledProgram& program, const ir::Schedule& own,
                    const std::vector<ir::BufferDevice>& devices, const MemoryLimit& limit);

struct MemoryExceeded {
  Failure failure;
};

}  // namespace tap::driver
