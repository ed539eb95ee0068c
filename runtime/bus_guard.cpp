#include "runtime/bus_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>

namespace tap {

// A free slot has end 0. `begin` is written before `end` and read between two equal reads of `end`, so a slot that is
// being reused never matches partially. The slot of the faulting access is stable: its mapping is in use.
struct GuardedRange {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
  std::atomic<bool> taken{false};
  std::atomic<bool> broken{false};
};

namespace {

static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

std::array<GuardedRange, 1024> ranges;
std::uintptr_t page_size = 4096;
struct sigaction earlier {};  // the previous SIGBUS handler; written once, before our handler can run

GuardedRange* range_of(std::uintptr_t address) {
  for (GuardedRange& range : ranges) {
    std::uintptr_t end = range.end.load();
    if (end != 0 && address < end && address >= range.begin.load() && range.end.load() == end) return &range;
  }
  return nullptr;
}

// Replaces the lost page by a page of zeros. False if the access was not to one of our mappings.
bool map_zero_page(const siginfo_t* info) {
  if (info->si_code <= 0) return false;  // sent by a process: there is no address
  auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  GuardedRange* range = range_of(address);
  if (range == nullptr) return false;
  range->broken.store(true);
  auto* page = reinterpret_cast<void*>(address & ~(page_size - 1));  // mmap is a plain system call here
  return mmap(page, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page;
}

// Does what would happen without our handler.
void pass_on(int signal, siginfo_t* info, void* context) {
  bool plain = (earlier.sa_flags & SA_SIGINFO) == 0;
  bool was_sent = info->si_code <= 0;
  if (plain && earlier.sa_handler == SIG_IGN && was_sent) return;  // a fault cannot be ignored
  if (plain && (earlier.sa_handler == SIG_DFL || earlier.sa_handler == SIG_IGN)) {
    ::signal(signal, SIG_DFL);
    if (was_sent) raise(signal);  // otherwise the access is repeated and faults as usual
    return;
  }
  if ((earlier.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) ::signal(signal, SIG_DFL);
  if (plain) earlier.sa_handler(signal);
  else earlier.sa_sigaction(signal, info, context);
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  int saved = errno;
  if (!map_zero_page(info)) pass_on(signal, info, context);
  errno = saved;
}

void install() {
  page_size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  sigaction(SIGBUS, nullptr, &earlier);
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  action.sa_mask = earlier.sa_mask;  // the earlier handler runs inside ours
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace

GuardedRange* guard_range(const void* begin, std::size_t size) {
  static std::once_flag once;
  std::call_once(once, install);
  for (GuardedRange& range : ranges) {
    if (range.taken.exchange(true)) continue;
    range.broken.store(false);
    range.begin.store(reinterpret_cast<std::uintptr_t>(begin));
    range.end.store(reinterpret_cast<std::uintptr_t>(begin) + size);
    return &range;
  }
  return nullptr;
}

void release_range(GuardedRange* range) {
  range->end.store(0);
  range->begin.store(0);
  range->taken.store(false);
}

bool has_faulted(const GuardedRange* range) { return range->broken.load(); }

}  // namespace tap
