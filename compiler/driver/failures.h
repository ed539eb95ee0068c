// Turns failures into messages and exit codes; no other file does.
#pragma once

#include <functional>

#include "compiler/driver/session.h"

namespace tap::driver {

// Runs `work` and turns whatever it throws into a message and an exit code.
int guarded(Session& session, const std::function<int()>& work);

// Where not even an exception can be thrown: what is staged is removed, and the process exits as it does without memory.
[[noreturn]] void exit_out_of_memory() noexcept;

}  // namespace tap::driver
