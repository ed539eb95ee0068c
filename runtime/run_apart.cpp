#include "runtime/run_apart.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <exception>

namespace tap {
namespace {

constexpr std::size_t stack_bytes = std::size_t{1} << 18;

struct Work {
  const std::function<void()>& run;
  std::exception_ptr failure = nullptr;
  bool over = false;
};

void perform(Work& work) {
  try {
    work.run();
  } catch (...) { work.failure = std::current_exception(); }
  work.over = true;
}

int begin(void* work) {
  ::setsid();
  ::prctl(PR_SET_NAME, "tapc-apart");  // in lists of processes
  perform(*static_cast<Work*>(work));
  ::_exit(0);
}

// Sanitizers keep a state for each thread, which must not be used by two processes.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_possible = false;
#else
constexpr bool is_possible = true;
#endif

// CLONE_VFORK: this thread waits until the process has ended.
bool starts(Work& work) {
  if (!is_possible) return false;
  void* stack = ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return false;
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t process =
      ::clone(begin, static_cast<char*>(stack) + stack_bytes, CLONE_VM | CLONE_VFORK | SIGCHLD, &work);
  while (process > 0 && ::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {}
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::munmap(stack, stack_bytes);
  return process > 0;
}

}  // namespace

bool run_apart(const std::function<void()>& work) {
  Work shared{work};
  if (!starts(shared)) perform(shared);
  if (shared.failure) std::rethrow_exception(shared.failure);
  return shared.over;
}

}  // namespace tap
