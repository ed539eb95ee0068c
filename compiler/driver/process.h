// Process setup: open standard descriptors, and signal handlers that remove temporary files.
#pragma once

namespace tap::driver {

// Called in a signal handler, so it must not allocate or lock. False: not now, the signal will be raised again.
using CleanUp = bool (*)(int signal) noexcept;

// Opens closed standard descriptors such that their use fails: otherwise one of our files could get the number. SIGINT,
// SIGTERM, SIGHUP and SIGPIPE call `clean_up_on_signal` and exit with 128 + n; a fault of tapc exits with 70. Exceeding
// the file size limit is an error of write(), not a signal.
void prepare_process(CleanUp clean_up_on_signal);

// While one exists, the first SIGINT or SIGTERM ends nothing: the work around which it stands asks for it, ends soon, and hands
// back what it has. The next one ends the process as usual.
class EndsWorkOnSignal {
 public:
  EndsWorkOnSignal();
  ~EndsWorkOnSignal();
  EndsWorkOnSignal(const EndsWorkOnSignal&) = delete;

  static int caught();  // its number; 0: none
};

}  // namespace tap::driver
