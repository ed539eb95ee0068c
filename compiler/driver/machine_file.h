// --machine FILE.toml: what schedules are to know of a machine, in place of what is known of the target and found on this
// machine. What the file leaves out stays.
//
//   [registers]
//   bytes = 32          # of one vector register
//   count = 16
//   [caches]            # what one core may count on
//   l1 = "48 KiB"       # or in bytes: 49152
//   l2 = "2 MiB"
//   l3 = "16 MiB"
//
// The same program gives the same bits with any such file, only not as fast.
#pragma once

#include <string>

#include "compiler/driver/session.h"
#include "ir/machine.h"

namespace CLI {
class App;
}

namespace tap::backend {
struct Target;
}

namespace tap::driver {

void add_machine_option(CLI::App& app, std::string& path);

// Throws Failure, exit 3, with the place in the file. No path: the target's.
ir::Machine machine_for(Session& session, const backend::Target& target, const std::string& path);

}  // namespace tap::driver
