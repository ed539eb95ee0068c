// The runtime of a compiled library as one source: compiled into an object that `tapc compile` links in, and
// installed for targets that tapc cannot link.
#include "runtime/executor.cpp"
#include "runtime/executor_copy.cpp"
#include "runtime/executor_exchange.cpp"
#include "runtime/executor_message.cpp"
#include "runtime/executor_pool.cpp"
#include "runtime/executor_progress.cpp"
#include "runtime/executor_tasks.cpp"
#include "runtime/library.cpp"
#include "runtime/library_views.cpp"
#include "runtime/processor.cpp"
