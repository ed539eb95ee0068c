// Process setup: open standard descriptors, and signal handlers that remove temporary files.
#pragma once

namespace tap::driver {

// Called in a signal handler, so it must not allocate or lock. False: not now, the signal will be raised again.
using CleanUp = bool (*)(int signal) noexcept;

// Opens closed standard descriptors such that their use fails: otherwise one of our files could get the number. SIGINT,
// SIGTERM, SIGHUP and SIGPIPE call `clean_up_on_signal` and exit with 128 + n; a fault of tapc exits with 70. Exceeding
// the file size limit is an error of write(), not a signal.
void prepare_process(CleanUp clean_up_on_signal);

}  // namespace tap::driver
