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
  double bytes = 0;    // total, of all members
  double members = 1;  // of a row: the number of memories
};

struct KernelEvent {
  std::size_t kernel = 0;  // number in the table
  ir::Box box;
  double calls = 1;            // number of calls in a row
  double portions = 1;         // number of parts into which threads may split each call
  std::vector<Touch> touches;  // operands, then results
};
struct CopyEvent {  // between two memories of the device
  double bytes = 0;
  double runs = 1;  // contiguous pieces
  std::optional<Touch> from;
  Touch to;
};
struct MessageEvent {
  std::int64_t from = 0;
  double bytes = 0;
  Touch to;
  std::size_t value = 0;  // that is sent: its number is the same in the traces of all devices of a program
};
struct OutsideEvent {
  double operations = 0;
  std::vector<Touch> touches = {};
};
struct Event;
struct Repeat {
  double times = 1;
  std::vector<std::pair<std::size_t, std::size_t>> exchanged;  // memories exchanged after each trip
  std::vector<Event> body;
  // Of a device's part only: the values with which a trip begins, with their memories; and results of the whole.
  std::vector<std::pair<std::size_t, std::size_t>> states = {};
  std::vector<std::size_t> results = {};  // memories
};
struct Event {
  std::string name;       // of the operation, for people
  std::string what;       // the kernel's number, a copy, …
  std::size_t batch = 0;  // events of one batch may run concurrently
  std::variant<KernelEvent, CopyEvent, MessageEvent, OutsideEvent, Repeat> does;
  std::vector<std::size_t> values = {};  // that it writes, of a device's part only: numbers as for messages
};
using Trace = std::vector<Event>;

// On this machine with its threads.
Trace trace_of(const ir::Schedule& schedule, const std::vector<backend::Kernel>& kernels);

// For one device of a mesh, which receives data from others. Expands only this device's part. Pre: the program is
// realised (passes/splits/realise.h).
backend::CompiledProgram lowered_for_device(const ir::Program& program, std::int64_t device, bool strict_fp,
                                            const ir::Machine& machine);
Trace trace_of_device(const backend::CompiledProgram& lowered, std::int64_t device);

}  // namespace tap::cost
