// The one place that knows how failures end the process.
#pragma once

#include <functional>

#include "compiler/driver/session.h"

namespace tap::driver {

// Runs `work` and turns whatever it throws into a message and an exit code.
int guarded(Session& session, const std::function<int()>& work);

}  // namespace tap::driver
