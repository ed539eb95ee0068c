// Out of memory in code that can neither throw nor return an error: LLVM and isl, which are built without exceptions,
// and destructors that allocate, such as those of nlohmann::json. There the process ends in an orderly way, through a
// function that the driver provides; everywhere else std::bad_alloc is thrown.
//
//   end_where_memory_must_suffice(end_without_memory);        once
//   MemoryMustSuffice here;                                   in a function that calls such code
#pragma once

namespace tap {

// `end` must not return, nor allocate. For the whole process.
void end_where_memory_must_suffice(void (*end)() noexcept);

// This thread is in such code while it lives.
class MemoryMustSuffice {
 public:
  MemoryMustSuffice();
  ~MemoryMustSuffice();
  MemoryMustSuffice(const MemoryMustSuffice&) = delete;
  MemoryMustSuffice& operator=(const MemoryMustSuffice&) = delete;
};

// For those who see that an allocation failed: ends the process if this thread is in such code.
void memory_was_refused() noexcept;

}  // namespace tap
