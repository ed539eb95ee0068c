// The text of a trace (trace_events.h) as values, for the panel "Time line" of a report. A trace is a file from anywhere: what is
// malformed is a mistake with its position.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/driver/show/located_json.h"

namespace tap::driver {

enum class TraceKind : std::uint8_t { kernel, copy, transfer, fill, outside, send, message, wait };
std::string_view name_of(TraceKind kind);

struct TraceEvent {
  TraceKind kind = TraceKind::kernel;
  std::string name, what, box;
  std::int64_t process = 0, row = 0;  // row: the worker, of tasks
  std::int64_t device = -1;           // -1: each process has it
  double began = 0, ended = 0;        // microseconds
  std::vector<std::int64_t> batch;    // sequence, batch, and the trips of the iterates around it
  std::int64_t task = 0, member = 0;  // which call of the batch; a call may be divided among workers
  std::int64_t tiles = 1;             // of the whole call
  std::int64_t message = -1;          // its number
  double bytes = 0;
  std::optional<double> predicted;  // of the whole call, in microseconds
  double measured = 0;
};

struct Trace {
  std::string program;  // the hash of the sharded program
  ByteRange program_at;
  std::string plan;                   // that ran, complete; empty in traces of earlier versions
  std::vector<TraceEvent> events;     // those of a process in the order of its batches
  std::vector<std::int64_t> workers;  // by process
};
std::variant<Trace, JsonMistake> parse_trace(std::string_view text);

}  // namespace tap::driver
