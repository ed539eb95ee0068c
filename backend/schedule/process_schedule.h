// The part of a schedule that one process of several runs (runtime/distribution.h): the tasks of its devices, memory for
// their buffers only, and of inputs and results the boxes that these tasks read and compute.
//
//   device 0: Y[0..4] = X[0..5] …    X and Y of 8 cells, as process 0 of 2 sees them:  input 0 is X[0..5], output 0 is Y[0..4]
//   device 1: Y[4..8] = X[3..8] …
//
// Tasks keep their order, and a copy between two processes is a task of both, so messages match as in the whole schedule.
#pragma once

#include <vector>

#include "backend/schedule/schedule.h"
#include "runtime/distribution.h"

namespace tap::backend {

struct HeldPart {  // of an input or a result, by its number
  std::size_t tensor = 0;
  ir::Box box;
  bool operator==(const HeldPart&) const = default;
};

struct ProcessSchedule {
  Schedule schedule;                  // its inputs and outputs are this process's parts; without rows of memories
  std::vector<BufferDevice> devices;  // by buffer
  std::vector<HeldPart> inputs;       // may overlap
  std::vector<std::vector<HeldPart>> results;  // by process; all processes find the same. Each cell is in one of them
};

// Pre: `schedule` and `facts` are of one call of schedule(); `program` has the operators of its kernels.
ProcessSchedule process_schedule(const Schedule& schedule, const BufferFacts& facts, const ir::Program& program,
                                 const executor::Distribution& among);

}  // namespace tap::backend
