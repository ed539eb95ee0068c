// The process itself: open standard descriptors, and signals that leave nothing behind.
#pragma once

namespace tap::driver {

// A standard descriptor that is closed is opened such that using it fails: a file of ours must never get its number.
// SIGINT, SIGTERM, SIGHUP and SIGPIPE call `cleanup` (in a signal handler: it may not allocate or lock) and exit with
// 128 + n; a fault of ours exits with 70.
void prepare_process(void (*cleanup)());

}  // namespace tap::driver
