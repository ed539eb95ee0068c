// A trace: the sequence of events of a program on one device (kernels on boxes, copies, messages). Schedules and the
// block graph of one device both become traces, so that the same terms apply to both.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backend/loops/loops.h"
#include "ir/graph_ids.h"
#include "ir/schedule.h"

namespace tap::backend {
struct CompiledProgram;  // compiled_program.h
}

namespace tap::cost {

// A memory that an event reads or writes.
struct Touch {
  std::size_t memory = 0;
  double bytes = 0;    // of it in all
  double members = 1;  // of a row: so many such memories
};

struct KernelEvent {
  std::size_t kernel = 0;  // of the table
  ir::Box box;
  double calls = 1;            // of a row
  double portions = 1;         // into how many parts threads may cut each
  std::vector<Touch> touches;  // operands, then results
};
struct CopyEvent {  // from one memory to another of the device
  double bytes = 0;
  double runs = 1;  // pieces that are side by side
  std::optional<Touch> from;
  Touch to;
};
struct MessageEvent {
  std::int64_t from = 0;
  double bytes = 0;
  Touch to;
};
struct OutsideEvent {
  double operations = 0;
};
struct Event;
struct Repeat {
  double times = 1;
  std::vector<std::pair<std::size_t, std::size_t>> exchanged;  // memories, after each round
  std::vector<Event> body;
};
struct Event {
  std::string name;       // of the operation, for people
  std::string what;       // what becomes of it: a kernel's number, a copy, …
  std::size_t batch = 0;  // those of one number may go on at a time
  std::variant<KernelEvent, CopyEvent, MessageEvent, OutsideEvent, Repeat> does;
};
using Trace = std::vector<Event>;

// On this machine, by threads.
Trace trace_of(const ir::Schedule& schedule, const std::vector<backend::Kernel>& kernels);

// On one device of a mesh, which receives what others have. Of that device alone is anything expanded. Pre: the program is
// realised (passes/splits/realise.h).
backend::CompiledProgram lowered_for_device(const ir::Program& program, std::int64_t device, bool strict_fp,
                                            const ir::Machine& machine);
Trace trace_of_device(const backend::CompiledProgram& lowered, std::int64_t device);

}  // namespace tap::cost
