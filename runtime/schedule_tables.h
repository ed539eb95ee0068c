// A schedule as plain words, for the executor. One position-independent block of 64-bit words without addresses;
// lists and strings are referred to by their offset in words. backend/schedule/encode_schedule.cpp writes it,
// executor.cpp runs it; a compiled library contains it as constant data.
//
// Prepared operands are built once, in a separate buffer that all runs read.
//
// A program is a sequence of batches; the tasks of a batch are independent, so threads may run them in any order, and
// likewise the tiles of a task. Memory is one arena, in which buffers with disjoint lifetimes overlap.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace tap::tables {

inline constexpr int64_t magic = 0x31305343484c5054;  // "TPLHCS01"
inline constexpr int64_t version = 7;

struct List {
  int64_t at;  // the first, in words from the beginning
  int64_t count;
};
struct Text {
  int64_t at;  // in words from the beginning; not terminated
  int64_t bytes;
};

enum Place : int64_t { in_arena, is_input, is_output, in_prepared };

// Memory of a box of a value, row-major.
struct Buffer {
  int64_t place;
  int64_t at;  // byte offset in the arena or the prepared operands; or the number of the input or output
  int64_t bytes;
  int64_t device;  // -1: every process has its own
};

// An input or output of the caller.
struct Tensor {
  Text name;
  int64_t element;  // ElementType (support/element_type.h)
  int64_t element_bytes;
  List extents;
  int64_t constant;  // 1: a `const` input, the same in all runs
};

// Names of an operation and its tensors, for messages.
struct Dim {
  Text name;
  int64_t hidden;  // 1: a block dim, which is not in the source
};
struct Operand {
  Text name;
  List extents;
};
struct Operation {
  Text name;
  Text result;    // the value that it writes
  List dims;      // Dim
  List operands;  // Operand
};

enum TaskKind : int64_t { kernel_call, copy_box, fill_buffer, outside_call, iteration };

// Every task begins with these.
struct Task {
  int64_t kind;
  int64_t tiles;  // parts that threads may take, in any order
  int64_t order;  // of several failures in one batch, the one with the least order is reported
};
// The address of a tensor's cell 0, which need not be in memory.
struct Argument {
  int64_t buffer;
  int64_t offset;  // in bytes, relative to the buffer; may be negative
};
struct Counter {
  int64_t dim;
  int64_t level;  // 0 is the innermost iterate
};
// One call, or several in a row that differ only by constant steps: call n is n steps further on. The tiles are those
// of all calls.
struct KernelCall : Task {
  int64_t repeats;
  int64_t box_step;        // as many words as the box
  int64_t argument_steps;  // an Argument for each: the steps of buffers and offsets
  int64_t kernel;
  int64_t kernel_tiles;  // of one call's box, distributed evenly over its parts
  int64_t operations;    // the number of the first Operation in the table: section 0
  List box;              // lo, hi per dim
  List arguments;        // Argument
  int64_t strides;       // of all arguments, one after another
  List counters;         // dims of the box whose value is the current trip
};
struct Copy : Task {
  Argument from, to;  // the first cell of the box
  int64_t element_bytes;
  List extents;
  int64_t from_strides, to_strides;  // in bytes
};
struct Fill : Task {
  int64_t buffer;
  int64_t element_bytes;
  int64_t count;
  int64_t value;  // as bits
};
struct OutsideCall : Task {
  int64_t number;
  List box;
  int64_t extents;
  List regions;  // Region
};
struct Region {
  int64_t buffer;
  int64_t extents, strides;
};
// After each trip, the buffers of `now` and `next` are exchanged.
struct State {
  int64_t now, next;
};
struct Iteration : Task {
  int64_t first, end;  // the trips
  int64_t body;        // a sequence
  List states;
};

struct Batch {
  List tasks;  // offsets of Tasks
  int64_t tiles;
  int64_t sharing;  // Tiles (support/portions.h): what is known of the tiles, or that one thread should run them all
  // A tile may run before those tiles of the batch before, in a body's first batch those of the last one in the trip before, whose
  // numbers differ from its own by at least this; both have as many tiles. 0: only after all of them, as where they
  // may fail: who fails first is found by running them again.
  int64_t apart;
};
struct Sequence {
  List batches;
};

struct Head {
  int64_t magic, version;
  int64_t words;  // of all
  int64_t arena_bytes;
  int64_t prepared_bytes;
  int64_t preparation;    // the sequence that packs the constants; -1: none
  int64_t scratch_bytes;  // maximum over all kernels
  int64_t most_arguments;
  int64_t depth;  // of nested iterates
  List buffers, sequences, inputs, outputs, operations;
  List outside;   // Text: symbols of the outside kernels
  List features;  // Text: processor features that the code may use (processor.def)
  int64_t kernels;
};

// A view of the words.
class Reader {
 public:
  explicit Reader(const int64_t* words) : words_(words) {}
  const Head& head() const { return *at<Head>(0); }
  const int64_t* words(int64_t offset) const { return words_ + offset; }
  template <class T>
  const T* at(int64_t offset) const {
    return reinterpret_cast<const T*>(words_ + offset);
  }
  template <class T>
  const T* all(const List& list) const {
    return at<T>(list.at);
  }
  const char* text(const Text& text) const { return reinterpret_cast<const char*>(words_ + text.at); }

 private:
  const int64_t* words_;
};

inline int64_t bytes_of(const Reader& tables, const Tensor& tensor) {
  int64_t bytes = tensor.element_bytes;
  for (int64_t axis = 0; axis < tensor.extents.count; ++axis) bytes *= tables.words(tensor.extents.at)[axis];
  return bytes;
}

}  // namespace tap::tables
