// A depfile for build tools: one make rule, from an output to every file that was read.
//
//   libmlp.so: mlp.tap layers.tap mlp.plan
#pragma once

#include <string>
#include <vector>

namespace tap::driver {

struct Session;
struct SourceOptions;

// The files that the command has read so far, each once: sources, used modules, the plan, the machine file. The
// standard library is part of tapc, so it is not listed.
std::vector<std::string> files_read(const Session& session);

// Also lists the files that `options` takes shapes from (-i X=@x.npy). Throws Failure, exit 2, for a name that make
// cannot express: one with a line break.
std::string depfile(const std::string& output, const Session& session, const SourceOptions& options);

}  // namespace tap::driver
