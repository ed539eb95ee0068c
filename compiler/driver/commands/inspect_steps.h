// `tapc inspect --after PASS` and `--diff`: the graph after a pass, and what passes changed.
#pragma once

#include <string>

#include "compiler/driver/compile_file.h"

namespace tap::driver {

// The program after the last run of this pass. Throws Failure, exit 2, for an unknown pass, and for one that did not run.
Compiled compiled_after(Session& session, const ProgramFile& input, const pipeline::Options& how,
                        const std::string& pass);

// `PASS`: its changes; `A..B`: those of all passes after A up to B. An empty A is the program as written, an empty B the last
// pass. Throws likewise, and if B runs before A.
std::string diff_of_passes(Session& session, const ProgramFile& input, const pipeline::Options& how,
                           const std::string& passes);

}  // namespace tap::driver
