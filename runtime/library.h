// The C interface of a compiled library: the implementation of its exported functions
// (docs/reference/compiled_libraries.md). It needs only the C library and has C linkage, so that generated code can
// call it by name.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/executor.h"

namespace tap::library {

inline constexpr int64_t abi_version = 1;
// In every message about a tensor whose type or shape is not the program's, and in no other.
inline constexpr char misfit[] = " has the wrong ";

// What the generated code knows of itself.
struct Program {
  const int64_t* tables;
  const KernelFunction* kernels;
};

// As tapestry_options, tapestry_tensor and DLTensor of the generated header.
struct Options {
  int64_t threads;                 // 0: as many as the process may run on
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

}  // namespace tap::library

extern "C" {

// Each gives an executor::Status. A context is there after every call of `prepare`, unless memory is lacking: after one that
// failed it has the message, and nothing else can be done with it but to release it.
int32_t tap_library_prepare(const tap::library::Program* program, tap::library::Context** context,
                            const tap::library::TensorView* constants, const tap::library::Options* options);
int32_t tap_library_run(tap::library::Context* context, const tap::library::TensorView* inputs,
                        const tap::library::TensorView* outputs);
int32_t tap_library_prepare_dlpack(const tap::library::Program* program, tap::library::Context** context,
                                   const tap::library::DlTensor* const* constants,
                                   const tap::library::Options* options);
int32_t tap_library_run_dlpack(tap::library::Context* context, const tap::library::DlTensor* const* inputs,
                               const tap::library::DlTensor* const* outputs);
// Copies the message of the last call that failed, truncated to `size` with its terminator; returns its full length.
size_t tap_library_message(tap::library::Context* context, char* text, size_t size);
void tap_library_release(tap::library::Context* context);
}
