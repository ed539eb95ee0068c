// Process setup: open standard descriptors, and signal handlers that remove temporary files.
#pragma once

namespace tap::driver {

// Called in a signal handler, so it may not allocate or lock. False: not now, the signal will be raised again.
using CleanUp = bool (*)(int signal) noexcept;

// A standard descriptor that is closed is opened such that using it fails: a file of ours must never get its number.
// SIGINT, SIGTERM, SIGHUP and SIGPIPE call `clean_up_on_signal` and exit with 128 + n; a fault of ours exits with 70. A limit
// on the size of files is an error of write(), not a signal.
void prepare_process(CleanUp clean_up_on_signal);

}  // namespace tap::driver
