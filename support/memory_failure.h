// What happens where memory is refused to who can neither throw nor return: LLVM and isl, which are built without exceptions,
// and destructors that allocate, as those of nlohmann::json do. The process ends there, in order, by a function that its owner
// gives; everywhere else std::bad_alloc is thrown.
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
