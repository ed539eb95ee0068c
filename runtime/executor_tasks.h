// The state of one run of a program, and the execution of a task's tiles in it.
#pragma once

#include "runtime/executor.h"
#include "support/portions.h"

namespace tap::executor {

// What a thread of a walk tells the others (executor_walk.h), in a cache line that it alone writes.
struct alignas(64) Told {
  int64_t tiles;  // that it ran
  int64_t step;   // the last batch of whose range it ran all tiles
};

// Bytes between what one thread writes and what the next one does. Processors load lines beyond those that a thread goes through, up to
// some tens of kilobytes ahead, and take them from the caches of the thread that writes them: products whose packed panels lay side by
// side took 1.8 times as long on two threads.
inline constexpr int64_t bytes_between_threads = 65536;

// Used by one run at a time.
struct Call {
  Call* next;
  char* arena;
  void** addresses;               // by buffer; an iterate exchanges them
  int64_t* counters;              // of the active iterates
  char* own;                      // per thread, own_bytes each: arguments, scratch, then a gap
  int64_t own_bytes, room_bytes;  // room_bytes: of the arguments
  Portions::Next* taken;          // by thread
  Told* told;                     // likewise
  char* views;                    // of the threads of a walk
  char** staged;                  // by input, then by output: a row-major copy if the caller's tensor is not; else null
  Message* message;
  Message* result;
  const Distribution* among;  // null: this process runs everything
  const Recorder* recorder;   // null: nothing is recorded
  Progress* progress;         // may be null
  const Keeper* keeper;       // null: nothing is kept, …
  bool keeping;               // … or nothing of this batch, which is inside an iterate
  int64_t sequence, batch;    // that runs
};

// Tiles of the task at a position of its batch.
struct Portion {
  int64_t position;
  int64_t first, end;
};

// The call that a thread's scratch memory is of, in a batch.
struct LatestCall {
  int64_t position = -1, number = -1;
};

// The box of call number `number`, without counters, and the addresses of its arguments.
void place_call(const tables::Reader& tables, const Call& call, const tables::KernelCall& task, int64_t number,
                int64_t* box, void** arguments);

inline char* scratch_of(const Call& call, int64_t thread) {
  return call.own + thread * call.own_bytes + call.room_bytes;
}

// Whether several threads share it.
inline bool is_shared(const tables::Batch& batch) { return static_cast<Tiles>(batch.sharing) != Tiles::one_thread; }

// Returns a KernelFailure.
int32_t run_tiles(const Code& code, const Call& call, const tables::Task& task, int64_t depth, int64_t thread,
                  Portion portion, LatestCall& latest, KernelError* error);

// Runs tiles of a batch, numbered across its tasks, on one thread.
class BatchTiles {
 public:
  BatchTiles(const Code& code, const Call& call, const tables::Batch& batch, int64_t depth, int64_t thread)
      : code_(code),
        call_(call),
        tasks_(tables::Reader(code.tables).words(batch.tasks.at)),
        depth_(depth),
        thread_(thread) {}
  // The least order of those of its tasks that failed; else INT64_MAX.
  int64_t run(int64_t begin, int64_t end);

 private:
  const Code& code_;
  const Call& call_;
  const int64_t* tasks_;
  const int64_t depth_, thread_;
  int64_t task_ = 0, before_ = 0;  // a task, and the number of tiles before it
  LatestCall latest_;
  KernelError error_;
};

}  // namespace tap::executor
