// Reads a machine file (machine_file.h); errors have line and column.
#pragma once

#include "compiler/driver/session.h"
#include "cost/machine/device.h"

namespace tap::driver {

// `known` has the values that the file omits. Throws Failure, exit 3.
cost::Cluster read_machine_file(const Session& session, FileId file, const cost::Device& known);

// The text of a machine file that reads back as the same cluster, preceded by `notes` as comments.
std::string machine_file_of(const cost::Cluster& cluster, const std::string& notes);

}  // namespace tap::driver
