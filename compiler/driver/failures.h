// Turns failures into messages and exit codes; no other file does.
#pragma once

#include <functional>

#include "compiler/driver/session.h"

namespace tap::driver {

// Runs `work` and turns any exception into a message and an exit code.
int guarded(Session& session, const std::function<int()>& work);

// For when not even an exception can be thrown: removes staged files and exits with the exit code for out of memory.
[[noreturn]] void exit_out_of_memory() noexcept;

}  // namespace tap::driver
