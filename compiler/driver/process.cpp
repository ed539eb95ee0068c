#include "compiler/driver/process.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>

#include <execinfo.h>
#include <fcntl.h>
#include <unistd.h>

#include "compiler/driver/reproducer.h"
#include "support/exit_code.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

CleanUp clean_up = [](int) noexcept { return true; };

void put(const char* text) { [[maybe_unused]] auto written = ::write(STDERR_FILENO, text, std::strlen(text)); }

void open_closed_descriptors() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    int direction = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;  // the wrong one
    [[maybe_unused]] int opened = ::open("/dev/null", direction);      // gets the lowest free number, which is this one
  }
}

static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);
std::atomic<bool> work_ends_itself{false};
std::atomic<int> caught_signal{0};

// The user, or the reader of our output, has stopped.
extern "C" void stop(int signal) {
  if ((signal == SIGINT || signal == SIGTERM) && work_ends_itself.load() && caught_signal.exchange(signal) == 0) return;
  if (clean_up(signal)) ::_exit(128 + signal);
}

// A bug in tapc (or a library) that caused a signal. The handler runs on its own stack.
extern "C" void fault(int signal) {
  clean_up(signal);
  const char* what = signal == SIGSEGV   ? "segmentation fault"
                     : signal == SIGFPE  ? "arithmetic fault"
                     : signal == SIGABRT ? "abort"
                     : signal == SIGBUS  ? "bus error"
                                         : "illegal instruction";
  char name[256];
  write_reproducer(Phase::of_failure(), what, name);
  put("tapc: internal error in ");
  put(Phase::of_failure());
  put(": ");
  put(what);
  put(*name ? "; reproducer written to " : "; the reproducer could not be written");
  put(name);
  put("\n");
  ::_exit(exit_code::internal);
}

void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction before {
  }, action{};
  // A parent that ignores a signal (nohup, a shell's background job) wants it ignored here, too.
  if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) return;
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

void handle_faults() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizers have their own reports
  static char stack[1 << 16];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  ::sigaltstack(&alternate, nullptr);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    handle(signal, fault, SA_ONSTACK | static_cast<int>(SA_RESETHAND));
#endif
}

// When an exception first passes through a frame of the C library, it loads its unwinder, and gives up without memory
// for it. That exception may be about a lack of memory, so load it now.
void load_unwinder() {
  void* frame = nullptr;
  ::backtrace(&frame, 1);
}

}  // namespace

EndsWorkOnSignal::EndsWorkOnSignal() { work_ends_itself.store(true); }
EndsWorkOnSignal::~EndsWorkOnSignal() { work_ends_itself.store(false); }
int EndsWorkOnSignal::caught() { return caught_signal.load(); }

void prepare_process(CleanUp clean_up_on_signal) {
  clean_up = clean_up_on_signal;
  load_unwinder();
  open_closed_descriptors();
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) handle(signal, stop, 0);
  ::signal(SIGXFSZ, SIG_IGN);  // a file at its size limit: write() then fails, as on a full disk
  handle_faults();
}

}  // namespace tap::driver
