// Out of memory in code that can neither throw nor return an error: LLVM and isl, which are built without exceptions,
// and destructors that allocate, such as those of nlohmann::json. There the process ends in an orderly way, through a
// function that the driver provides; everywhere else std::bad_alloc is thrown.
//
//   set_out_of_memory_exit(exit_out_of_memory);        once
//   AllocationMustSucceed here;                                   in a function that calls such code
#pragma once

namespace tap {

// `end` must neither return nor allocate. Applies to the whole process.
void set_out_of_memory_exit(void (*end)() noexcept);

// Marks this thread as being in such code during its lifetime.
class AllocationMustSucceed {
 public:
  AllocationMustSucceed();
  ~AllocationMustSucceed();
  AllocationMustSucceed(const AllocationMustSucceed&) = delete;
  AllocationMustSucceed& operator=(const AllocationMustSucceed&) = delete;
};

// Called when an allocation has failed: ends the process if this thread is in such code.
void allocation_failed() noexcept;

}  // namespace tap
