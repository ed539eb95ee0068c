// The state of one run of a program, and the execution of a task's tiles in it.
#pragma once

#include "runtime/executor.h"

namespace tap::executor {

// One run at a time has it.
struct Call {
  Call* next;
  char* arena;
  void** addresses;   // by buffer; an iterate exchanges them
  int64_t* counters;  // of the iterates that run
  char* own;          // of the threads, own_bytes each: room for arguments, then scratch
  int64_t own_bytes;
  char** staged;  // by input, then by output: a row-major copy where the caller's is not; else null
  Message* message;
  Message* result;
};

// A KernelFailure.
int32_t run_tiles(const Code& code, const Call& call, const tables::Task& task, int64_t depth, int64_t thread,
                  int64_t first, int64_t end, KernelError* error);

}  // namespace tap::executor
