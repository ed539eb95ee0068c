// The plans of one program over one or more meshes that no other beats in time, memory and traffic at once, and which of
// them a user wants.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cost/search/sharding_search.h"
#include "ir/graph_ids.h"

namespace tap::driver {

struct MeshPlan {
  ir::Mesh mesh;
  bool is_declared = false;  // by the program
  cost::FoundPlan found;
};
struct PlanFront {
  std::vector<MeshPlan> plans;   // fastest first
  std::vector<ir::Mesh> meshes;  // that were searched
  std::size_t strategies = 0;
  bool goal_is_exact = true;
};
// Pre: the program has no calls and no splits. Each of the axes is a mesh: the program's, if it declares one with these axes.
PlanFront search_meshes(const ir::Program& program, const std::vector<std::vector<ir::MeshAxis>>& meshes,
                        const cost::SearchOptions& options);

// Every way to write a number of devices as a product of at most three axes, x, y and z.
std::vector<std::vector<ir::MeshAxis>> meshes_of(std::int64_t devices);

// --at-most time=2ms,memory=1GiB,traffic=64MiB
struct Demands {
  std::optional<double> seconds, memory, traffic;
};
// Throws Failure, exit 2.
Demands parse_demands(const std::vector<std::string>& texts);

enum class Pick : std::uint8_t { fastest, smallest, least_traffic, knee };
// Throws Failure, exit 4, with the smallest relaxation if no plan meets the demands.
const MeshPlan& picked(const PlanFront& front, Pick pick, const Demands& demands);

std::string summary(const cost::Objectives& predicted);  // 2.1 ms, 40 MiB per device, 8 MiB received
std::string front_table(const PlanFront& front);
std::string front_json(const PlanFront& front);
std::string plan_text(const MeshPlan& plan);  // with comments
ir::Plan plan_of(const MeshPlan& plan);       // with its mesh, unless the program declares it
std::string axes_text(const ir::Mesh& mesh);  // grid [data: 4]

}  // namespace tap::driver
