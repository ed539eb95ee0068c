// The entry point of tapc: from the command line to the exit code.
#pragma once

namespace tap::driver {

int run_tapc(int argc, const char* const* argv);

}  // namespace tap::driver
