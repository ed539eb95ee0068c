// A schedule: the tasks of a program in order, with all memory planned. It is the block graph of the main graph, with
// the bodies of iterates as sequences. Its text (stage_text.h) can be parsed back; backend/ builds schedules and
// encodes them for the executor.
//
//   X → H = relu(X) → Y = H * 2      as a schedule:
//
//   b0 f32 [0..32, 0..32] input 0  // X
//   b1 f32 [0..32, 0..32] arena 0  // H
//   b2 f32 [0..32, 0..32] output 0  // Y
//   sequence 0
//   batch
//     kernel 0 of 0 on [0..32, 0..32] (b0, b1), 8 tiles
//   batch
//     kernel 1 of 1 on [0..32, 0..32] (b1, b2), 8 tiles
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/block_graph.h"
#include "ir/certificate.h"
#include "ir/row.h"

namespace tap::ir {

using BufferId = Id<struct BufferTag>;
using BufferMember = Member<BufferId>;

enum class MemorySpace : std::uint8_t { arena, input, output, prepared };

// Memory of a box of a value, row-major. Kernels, copies and outside kernels address cells by their coordinates. In a
// row, each member is separate memory.
struct Buffer {
  std::string name;  // for people: a comment in the text
  ElementType element = ElementType::f32;
  Box box;
  MemorySpace space = MemorySpace::arena;
  std::int64_t at = 0;  // byte offset in the arena or the prepared operands; or the number of the input or output
  Row row = {};
  std::int64_t bytes() const;  // of one member; throws Overflow
  bool operator==(const Buffer&) const = default;
};

// The device of a buffer; in a row, each member is on another one. `everywhere`: each process has its own.
struct BufferDevice {
  std::int64_t first = everywhere;
  std::vector<std::int64_t> steps = {};      // by level of the buffer's row
  std::vector<std::int64_t> positions = {};  // not empty: the numbers above are positions in this list
};

struct Counter {  // a dim of a box whose value is the current trip
  std::uint32_t dim = 0, level = 0;
  bool operator==(const Counter&) const = default;
};
struct KernelCall {  // or a row of them
  std::size_t kernel = 0;
  std::int64_t tiles = 1;      // of one box, as the kernel's grain divides it
  std::size_t operations = 0;  // of `operations`: what section 0 of the kernel computes
  Box box;
  std::vector<Counter> counters;
  std::vector<BufferMember> buffers;  // operands, then results
  Row row = {};
  bool operator==(const KernelCall&) const = default;
};
struct CopyBox {
  BufferMember from, to;
  Box box;
  Row row = {};
  bool operator==(const CopyBox&) const = default;
};
struct Fill {
  BufferMember buffer;
  Scalar value;
  Row row = {};
  bool operator==(const Fill&) const = default;
};
struct OutsideCall {
  std::size_t outside = 0;    // of `outside`
  std::size_t operation = 0;  // of `operations`
  Box box;
  Shape extents;                      // of the whole index space
  std::vector<BufferMember> regions;  // one per access, reads first
  Row row = {};
  bool operator==(const OutsideCall&) const = default;
};
// Memory of a state, or of one device's box of it: what a trip reads, and what it leaves.
struct ExchangedState {
  std::uint32_t state = 0;
  BufferId now, next;
  bool operator==(const ExchangedState&) const = default;
};
// After each trip the memories of `now` and `next` are exchanged; for rows, those of each member.
struct Iteration {
  Range steps;
  std::size_t body = 0;                // of `sequences`
  std::size_t operation = 0;           // of `operations`
  std::vector<ExchangedState> states;  // in the order of the states
  bool operator==(const Iteration&) const = default;
};

// The numbers that change along a row (row.h), in this order.
inline Numbers numbers_of(Buffer& buffer) { return {&buffer.box, {&buffer.at}}; }
inline Numbers numbers_of(KernelCall& call) {
  Numbers numbers{&call.box};
  numbers.append(call.buffers);
  return numbers;
}
inline Numbers numbers_of(CopyBox& copy) { return {&copy.box, {&copy.from.number, &copy.to.number}}; }
inline Numbers numbers_of(Fill& fill) { return {nullptr, {&fill.buffer.number}}; }
inline Numbers numbers_of(OutsideCall& call) {
  Numbers numbers{&call.box};
  numbers.append(call.regions);
  return numbers;
}

struct ScheduledTask {
  std::variant<KernelCall, CopyBox, Fill, OutsideCall, Iteration> what;
  std::int64_t tiles = 1;  // parts that threads may take; for a row, of each call
  bool operator==(const ScheduledTask&) const = default;
};
using Batch = std::vector<ScheduledTask>;  // independent tasks; an iteration is alone in its batch
using Sequence = std::vector<Batch>;

// An operation of the program, with the path of regions around it, and its names for messages. In the order of the
// program, a group before its inner operations: if several fail at the same time, the first is reported.
struct ScheduledOperation {
  struct Dim {
    std::string name;
    bool hidden = false;  // a block dim
    bool operator==(const Dim&) const = default;
  };
  std::string name, result;
  std::vector<Dim> dims;
  std::vector<std::pair<std::string, Shape>> operands;
  OperationRef what = {};
  bool operator==(const ScheduledOperation&) const = default;
};

struct ProgramTensor {
  std::string name;
  TensorType type;
  bool constant = false;
  bool operator==(const ProgramTensor&) const = default;
};

// A constant operand that a kernel reads in a packed layout, which another kernel makes
// (backend/lower/lower_prepared.cpp). The layout has one axis for each dim of the operator that indexes the operand, in
// this order; one of them counts panels of `step` points, and the last axis is the position in a panel. For a group, it
// is an operand of the one inner operation that reads it, and the dims are that operation's.
//
//   y[i, j] = sum[k] x[i, k] * w[k, j]      w of f32[900, 700] as f32[22, 900, 32] over (1 by 32, 2), the dims being i, j, k
struct Preparation {
  std::uint32_t operand = 0;
  std::size_t kernel = 0;
  TensorType type;  // of the packed operand
  std::vector<std::uint32_t> dims = {};
  std::uint32_t along = 0;  // number in `dims`
  std::int64_t step = 1;
  bool operator==(const Preparation&) const = default;
};

// What a kernel computes: this operator and operators equal to it, with operands prepared the same way; or, with
// `packs`, the layout of that operand which this operator reads. And what the kernel supports.
struct ScheduledKernel {
  OperatorId computes;
  std::optional<std::uint32_t> packs = {};
  bool any_box = false;                        // if false: only whole blocks
  std::optional<std::uint32_t> tile_dim = {};  // calls may split the box along this dim, …
  std::int64_t grain = 1;                      // … at multiples of this, which does not exceed the dim's extent
  bool operator==(const ScheduledKernel&) const = default;
};

struct Schedule {
  std::vector<ProgramTensor> inputs, outputs;
  std::vector<Buffer> buffers;
  std::vector<Sequence> sequences;         // the first is the program, the others are bodies of iterates and …
  std::optional<std::size_t> preparation;  // … what runs once, with the constants
  std::vector<ScheduledOperation> operations;
  std::vector<std::string> outside;  // symbols of outside kernels
  std::vector<ScheduledKernel> kernels;
  std::vector<std::optional<std::size_t>> kernel_of;  // by operator: the kernel that computes it
  std::vector<std::vector<Preparation>> prepared;     // by operator: the operands that this kernel needs packed
  std::int64_t arena_bytes = 0;
  std::int64_t prepared_bytes = 0;
  bool operator==(const Schedule&) const = default;
};

// The same, without rows across memories: rows differ only in the boxes of kernels.
Schedule by_memory(const Schedule& schedule);

}  // namespace tap::ir
