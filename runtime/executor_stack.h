// An alternate stack for fault handlers (SA_ONSTACK): after a stack overflow, the thread's own stack has no room left
// for a handler. It may be allocated near the base of the thread's own stack. Uses only the C library, since compiled
// libraries contain it.
//
//   void* begin(void* work) { AlternateStack stack; … }      // in every thread but the first, which has one
#pragma once

#include <signal.h>

namespace tap {

class AlternateStack {
 public:
  AlternateStack() {
    stack_t before{}, mine{};
    if (sigaltstack(nullptr, &before) != 0 || !(before.ss_flags & SS_DISABLE)) return;  // a sanitizer has set one
    mine.ss_sp = bytes_;
    mine.ss_size = sizeof bytes_;
    installed_ = sigaltstack(&mine, nullptr) == 0;
  }
  ~AlternateStack() {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    if (installed_) sigaltstack(&none, nullptr);
  }
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  alignas(16) unsigned char bytes_[1 << 16];
  bool installed_ = false;
};

}  // namespace tap
