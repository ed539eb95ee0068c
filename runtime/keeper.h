// Keeps the results of a run outside of it, so that a later run need not compute them again. Functions, not a class:
// compiled libraries contain the executor, and have none.
//
//   begin(batch 3) · wanted(task 0, call 1)? · computed(task 0, call 1, 4 tiles) · computed(task 0, call 1, 4 tiles)
//
// Only batches of the program itself are announced; an iterate is one of them, and has its trips instead of tasks.
#pragma once

#include <stdint.h>

namespace tap::executor {

struct Keeper {
  void* self = nullptr;
  // Before the tasks of a batch: puts what is known into the memory of the buffers.
  void (*begin)(void* self, int64_t batch, void* const* addresses) = nullptr;
  // Whether a call of the task, by its number in a row of calls, is still to be computed. Of any thread, as the next one.
  bool (*wanted)(void* self, int64_t task, int64_t call) = nullptr;
  void (*computed)(void* self, int64_t task, int64_t call, int64_t tiles) = nullptr;
  // The trip to begin with, between `first` and `end`: puts the states that it begins with into their buffers. Negative: a
  // process of the job is lost.
  int64_t (*begin_trips)(void* self, int64_t batch, void* const* addresses) = nullptr;
  // After a trip, when the states have been exchanged; `next` is the trip that follows.
  void (*trip)(void* self, int64_t batch, int64_t next, void* const* addresses) = nullptr;
};

}  // namespace tap::executor
