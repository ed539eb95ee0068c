// Reads a machine file (machine_file.h); errors have line and column.
#pragma once

#include "compiler/driver/session.h"
#include "cost/machine/device.h"

namespace tap::driver {

// What the file leaves out is as `known` has it. Throws Failure, exit 3.
cost::Cluster read_machine_file(const Session& session, FileId file, const cost::Device& known);

// A file that reads back as the same. `notes` stand above it as comments.
std::string machine_file_of(const cost::Cluster& cluster, const std::string& notes);

}  // namespace tap::driver
