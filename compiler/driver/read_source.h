// Reads a source file named on the command line. Only regular files: reading a FIFO or a device could block or never
// end.
#pragma once

#include "compiler/driver/session.h"

namespace tap::driver {

inline constexpr std::size_t max_source_bytes = 256u << 20;

// Adds the file to session.sources. Throws Failure: exit 2 if there is no such file, 4 if the system refuses to read it, 1 if it is too large.
FileId read_source(Session& session, const std::string& path);

}  // namespace tap::driver
