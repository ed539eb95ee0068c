// --machine FILE.toml: what is to be known of a machine, in place of what is known of the target and found on this machine. What
// the file leaves out stays. docs/reference/machine_files.md lists all keys.
//
//   [registers]
//   bytes = 32          # of one vector register
//   count = 16
//   [caches]            # what one core may count on
//   l1 = "48 KiB"       # or in bytes: 49152
//   [rates.f32]
//   arithmetic = "90 G/s"
//   [[links]]
//   name = "rack"
//   count = 8
//   bandwidth = "10 GB/s"
//
// The same program and plan give the same bits with any such file, only not as fast.
#pragma once

#include <string>

#include "compiler/driver/session.h"
#include "cost/machine/device.h"

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
// The same with everything that the cost model asks. Of the first type of device is the processor that code is made for.
cost::Cluster cluster_for(Session& session, const backend::Target& target, const std::string& path);

}  // namespace tap::driver
