// Which meshes `tapc plan` searches: those of the command line or of its plans, as far as what the program says about meshes
// can be respected.
//
//   mesh pod = [data: 2, model: 2]        --mesh data=2,model=2: pod
//   X: f32[8, 8] @ pod[{data}, {}]        --mesh a=2,b=2: the same as [{a}, {}]
//                                         --mesh z=4: an error, since the search divides over whole axes of one mesh
//                                         --devices 4: meshes on which the sharding can be written
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/show/value_locations.h"
#include "cost/search/sharding_search.h"
#include "ir/graph.h"

namespace tap::driver {

using MeshAxes = std::vector<ir::MeshAxis>;

struct MeshesAsked {
  std::vector<std::string> mesh;  // --mesh; otherwise all of `devices`, or what the plans or the program declare
  std::int64_t devices = 0;
  bool fewer = false;  // every number of devices that divides them, too
};
// Those with the devices of the program's own meshes, and on which its shardings and splits can be respected. Throws Failure,
// exit 2, if there are none.
std::vector<MeshAxes> meshes_to_search(const MeshesAsked& asked, const cost::SearchOptions& search,
                                       const ir::Program& program, const ValueLocations& locations);

// Shardings over other meshes, as shardings over this one where they can be.
void follow_shardings_on(ir::Program& program, ir::MeshId mesh);

// The splits over meshes that the program asks for, as lines that every plan has to keep.
std::vector<ir::Decision> requested_over_meshes(const ir::Program& program);
// Without these lines: the program says them already.
void remove_requested(ir::Plan& plan, const std::vector<ir::Decision>& requested);

}  // namespace tap::driver
