// Receives when the tasks of a run began and ended. Without one the executor reads no clock. Functions, not a class: compiled
// libraries contain the executor, and have none.
//
//   batch 3 of sequence 0 on 2 threads:    task(0, {0, 0, 0, 4}) · task(1, {0, 0, 4, 8}) · batch({0, 3})
#pragma once

#include <stdint.h>
#include <time.h>

namespace tap::executor {

inline int64_t nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

struct Interval {
  int64_t began, ended;  // in nanoseconds
};

// Tiles of a task that one thread ran.
struct TaskTime {
  int64_t task;        // its position in the batch
  int64_t call;        // in a row of calls
  int64_t first, end;  // of the call's tiles
  Interval time;
};
struct MessageTime {
  int64_t task;     // the copy, by its position in the batch
  int64_t process;  // at the other end
  bool received;    // began when it was expected; else sent
  Interval time;
};
struct BatchTime {
  int64_t sequence, batch;
  const int64_t* trips;  // of the iterates around it, outermost first
  int64_t depth;
  Interval time;
  Interval waiting;  // for messages; nothing if it began at 0
};

struct Recorder {
  void* self = nullptr;
  void (*task)(void* self, int64_t thread, const TaskTime& time) = nullptr;
  void (*message)(void* self, const MessageTime& time) = nullptr;
  // After its tasks and messages. Not 0: nothing more is wanted of this run.
  int32_t (*batch)(void* self, const BatchTime& time) = nullptr;
};

}  // namespace tap::executor
