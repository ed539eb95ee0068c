// Puts the steps of a program into batches by list scheduling. A step is what the tasks of one operation need together; steps
// of a batch run at a time, batches one after another. Steps with the longest path to the end come first where that saves time:
//
//   A (large); B; send B; C = f(B received)       in program order {A, B}, {send B}, {C};  by path {B}, {A, send B}, {C}
#pragma once

#include <cstdint>
#include <vector>

namespace tap::backend {

struct Step {
  double work = 0;                           // seconds of one thread on the busiest device
  double longest = 0;                        // of them, what no thread can share
  std::int64_t parts = 1;                    // that threads can take
  double latency = 0, travel = 0;            // seconds of its messages between devices; 0: it has none
  std::int64_t packed = 0;                   // bytes of its messages that are put together first
  bool may_fail = false;                     // failures are reported in program order
  std::vector<std::uint32_t> reads, writes;  // memories, each once; what is both read and written is written
};
struct StepMemory {
  std::int64_t bytes = 0;
  bool before = false, after = false;  // in use before the first step, after the last one
};
struct Steps {
  std::vector<Step> steps;
  std::vector<StepMemory> memories;
  double batch = 0;  // seconds to begin and end a batch of several threads
};
using Arrangement = std::vector<std::vector<std::uint32_t>>;  // the steps of each batch, in program order

// A batch is closed before the first step that depends on it.
Arrangement in_program_order(const Steps& steps);

struct ListingPolicy {
  bool by_path = false;            // the step with the longest path opens a batch; else the first one of the program
  std::size_t ahead = 0;           // how many batches of program order a step may be ahead …
  std::size_t messages_ahead = 0;  // … and messages
};
// Pre: `program` is in_program_order(steps).
Arrangement by_list(const Steps& steps, const Arrangement& program, const ListingPolicy& policy);

// by_list() where it is predicted to save time and needs no more memory at a time than program order; else nothing. More
// batches than in program order have to let messages travel during other work.
struct Saving {
  Arrangement batches;
  double seconds = 0;
};
Saving saving(const Steps& steps, const Arrangement& program, const ListingPolicy& policy);

// Whether any step could run in an earlier batch or, where there are messages, in a later one.
bool has_freedom(const Steps& steps, const Arrangement& program);
double predicted_seconds(const Steps& steps, const Arrangement& batches);
std::int64_t peak_bytes(const Steps& steps, const Arrangement& batches);

}  // namespace tap::backend
