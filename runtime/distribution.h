// Processes that run one schedule together. Each runs the tasks of its devices; cells that lie with one process and are
// read by another are sent. All processes go through the same tasks in the same order, so messages match by construction.
//
//   4 devices in 2 processes: devices 0 and 1 belong to process 0, 2 and 3 to process 1
#pragma once

#include <stdint.h>

namespace tap::executor {

// Messages of this run. Started transfers are complete after `wait`; between two processes they arrive in order.
struct Messages {
  void* self = nullptr;
  int32_t (*send)(void* self, int64_t to, const void* data, int64_t bytes) = nullptr;
  int32_t (*receive)(void* self, int64_t from, void* data, int64_t bytes) = nullptr;
  int32_t (*wait)(void* self) = nullptr;
};

// What a process is doing, in memory that another process reads.
enum class Activity : int32_t { preparing, computing, exchanging, finished, ended };
struct Progress {
  volatile Activity activity = Activity::preparing;
  volatile double longest_step = 0;       // seconds that one step may take, as predicted; 0: not known
  int64_t steps = 0;                      // grows with each batch and each portion of one; atomic
  int64_t batches = 0;                    // how many began; atomic
  int64_t portions = 0, of_portions = 0;  // of the last batch: begun, and all of them; atomic
  int32_t writing = 0;                    // a thread is writing what follows; atomic
  char operation[124] = {};               // the result of the operation that was started last
  char shard[252] = {};                   // … and of which box: " at i in 0..4 on device 1"; may be empty
};

struct Distribution {
  int64_t rank = 0, ranks = 1;
  int64_t devices = 1;
  Messages messages = {};
  Progress* progress = nullptr;  // receives what this process does; may be null
  const int64_t* map = nullptr;  // the process of each device; null: blocks of devices in order

  // The process of a device. Of blocks in order, the first ones have one more device where the numbers do not divide.
  int64_t rank_of(int64_t device) const {
    if (map) return map[device];
    const int64_t each = devices / ranks, larger = devices % ranks, of_larger = larger * (each + 1);
    if (device < of_larger) return device / (each + 1);
    return each == 0 ? ranks - 1 : larger + (device - of_larger) / each;
  }
};

}  // namespace tap::executor
