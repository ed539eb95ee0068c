// Meshes and shardings on a command line, in the words of the language. Throw Failure, exit 2, located in the option's text.
//
//   --mesh 'pod = [data: 4, model: 2]'    --mesh x=4,y=2 is short for 'mesh = [x: 4, y: 2]'
//   --to 'pod[{data}, {model:(1)2}]'
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/session.h"
#include "ir/shardings/sharding.h"

namespace tap::driver {

std::vector<ir::Mesh> written_meshes(Session& session, const std::vector<std::string>& texts);
// `option` is its name, for messages.
ir::Sharding written_sharding(Session& session, const std::string& option, const std::string& text,
                              const std::vector<ir::Mesh>& meshes);

}  // namespace tap::driver
