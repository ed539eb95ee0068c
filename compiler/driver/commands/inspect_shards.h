// `tapc inspect --shards VALUE`: the value as a grid of the boxes that devices hold.
#pragma once

#include <string>

#include "compiler/driver/compile_file.h"

namespace tap::driver {

// Throws Failure, exit 2, if the sharded graph has no such value.
std::string shards_of_value(Session& session, const ProgramFile& input, pipeline::Options how, const std::string& name,
                            bool colour);

}  // namespace tap::driver
