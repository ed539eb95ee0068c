// --machine FILE.toml: machine parameters that override those of the target and those found on this machine. Keys
// that the file omits keep their values. docs/reference/machine_files.md lists all keys.
//
//   [registers]
//   bytes = 32          # of one vector register
//   count = 16
//   [caches]            # the share of one core
//   l1 = "48 KiB"       # or in bytes: 49152
//   [rates.f32]
//   arithmetic = "90 G/s"
//   [[links]]
//   name = "rack"
//   count = 8
//   bandwidth = "10 GB/s"
//
// The file affects only speed: the same program and plan give the same bits with any machine file.
#pragma once

#include <cstdint>
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

// Throws Failure, exit 3, with the location in the file. Without a path: for this machine the installed file
// (machines/installed.h), else the target's defaults.
ir::Machine machine_for(Session& session, const backend::Target& target, const std::string& path);
// The same with everything that the cost model needs. The first type of device has the processor to compile for.
cost::Cluster cluster_for(Session& session, const backend::Target& target, const std::string& path);

// --cpus LIST (machines/chosen_processors.h). Empty: none.
void add_cpus_option(CLI::App& app, std::string& list);

enum class Purpose : std::uint8_t { run, run_in_job, predict };
// Lets this process use only the processors of `--cpus`, else of `cpus` in the machine file. Call it before anything counts them, and
// before there are other threads. A prediction does not care for those of the file that this machine lacks. Returns whether
// threads may be pinned to them. Throws Failure, exit 4 (choose), or 3 as above.
bool keep_to_chosen(Session& session, const std::string& list, const std::string& machine_file, Purpose purpose);

}  // namespace tap::driver
