// The C interface of a compiled library: the implementation of its exported functions
// (docs/reference/compiled_libraries.md). It needs only the C library and has C linkage, so that generated code can
// call it by name.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/executor.h"

namespace tap::library {

inline constexpr int64_t abi_version = 1;
// Part of every message about a tensor of the wrong type or shape, and of no other.
inline constexpr char misfit[] = " has the wrong ";

// What one process of a job runs, if the program was compiled for such jobs. Its inputs and results are boxes of the program's.
struct ProcessProgram {
  int64_t rank, ranks, devices;
  int64_t longest_step;  // milliseconds, as predicted for one thread
  const int64_t* tables;
  const int64_t* parts;  // for each input, then for each result: the tensor's number, and lo, hi for each axis
};

// Data in the generated code.
struct Program {
  const int64_t* tables;
  const KernelFunction* kernels;
  int64_t process_count;
  const ProcessProgram* processes;
  int64_t identity;  // the same in all processes of a job
};

// Which tensors of a program.
enum class Kind : int32_t { constants = 0, inputs = 1, results = 2 };

// Of one process of a job: a box of the tensor with this number, by its bounds, lo and hi for each axis.
struct Part {
  int64_t tensor;
  const int64_t* bounds;
};
// By `number` among the parts of this kind. False: there is none.
bool part_of(const Program& program, const ProcessProgram& process, Kind kind, int64_t number, Part& part);
const ProcessProgram* process_of(const Program& program, int64_t rank, int64_t ranks);  // null: not compiled for this

// As tapestry_options, tapestry_tensor and DLTensor in the generated header.
struct Options {
  int64_t threads;                 // 0: as many as the process may use
  const OutsideFunction* kernels;  // outside kernels, in the manifest's order
};
using executor::TensorView;
struct DlTensor {
  void* data;
  struct {
    int32_t type, id;
  } device;
  int32_t rank;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } type;
  const int64_t* shape;
  const int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};

// DLPack's type codes by ElementType (support/element_type.h): f64 f32 f16 bf16 i64 i32 i16 i8 u8 bool.
inline constexpr uint8_t dl_codes[] = {2, 2, 2, 4, 0, 0, 0, 0, 1, 6};

struct Context;
struct BoundRun;

}  // namespace tap::library

extern "C" {

// Each returns an executor::Status. Every call of `prepare` creates a context, unless memory runs out. If the call
// failed, the context only holds the message, and can only be released.
int32_t tap_library_prepare(const tap::library::Program* program, tap::library::Context** context,
                            const tap::library::TensorView* constants, const tap::library::Options* options);
int32_t tap_library_run(tap::library::Context* context, const tap::library::TensorView* inputs,
                        const tap::library::TensorView* outputs);
// A run with tensors that stay where they are, to be called often, by one thread at a time; unbound before the context is released.
int32_t tap_library_bind(tap::library::Context* context, const tap::library::TensorView* inputs,
                         const tap::library::TensorView* outputs, tap::library::BoundRun** bound);
int32_t tap_library_call(tap::library::BoundRun* bound);
void tap_library_unbind(tap::library::BoundRun* bound);
int32_t tap_library_prepare_dlpack(const tap::library::Program* program, tap::library::Context** context,
                                   const tap::library::DlTensor* const* constants,
                                   const tap::library::Options* options);
int32_t tap_library_run_dlpack(tap::library::Context* context, const tap::library::DlTensor* const* inputs,
                               const tap::library::DlTensor* const* outputs);
// Copies the message of the last failed call, truncated to `size` with its terminator; returns its full length.
size_t tap_library_message(tap::library::Context* context, char* text, size_t size);
void tap_library_release(tap::library::Context* context);

// The job of a communicator, a Fortran handle; null: the launcher's. Constants, and the tensors of runs, are parts.
int32_t tap_library_prepare_mpi(const tap::library::Program* program, tap::library::Context** context,
                                const int32_t* communicator, const tap::library::TensorView* constants,
                                const tap::library::Options* options);
// Its two steps. A process that is alone in its job has the whole program.
int32_t tap_library_join(const tap::library::Program* program, tap::library::Context** context,
                         const int32_t* communicator, const tap::library::Options* options);
int32_t tap_library_start(tap::library::Context* context, const tap::library::TensorView* constants,
                          const tap::library::Options* options);
// The number of the tensor in the part, among those of its kind; -1: the process has no such part. `bounds` may be null.
int64_t tap_library_part(const tap::library::Program* program, int32_t kind, int64_t rank, int64_t ranks,
                         int64_t number, int64_t* bounds);
}
