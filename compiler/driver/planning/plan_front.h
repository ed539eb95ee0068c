// The plans of one program over one or more meshes that no other beats in time, memory, traffic and prices at once, and
// which of them a user wants.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/planning/program_to_divide.h"
#include "cost/search/sharding_search.h"
#include "ir/graph_ids.h"

namespace tap::driver {

struct RunPrice {  // money, energy, … for one run on all devices of a mesh
  std::string name;
  double per_run = 0;
};
struct MeshPlan {
  ir::Mesh mesh;
  bool is_declared = false;  // by the program
  cost::FoundPlan found;
  std::vector<RunPrice> prices = {};  // by name, of the machine file
};
struct PlanFront {
  std::vector<MeshPlan> plans;   // fastest first
  std::vector<ir::Mesh> meshes;  // that were searched
  std::size_t strategies = 0;
  bool goal_is_exact = true;
  std::size_t states = 0;        // of --states, if a budget chose them
  std::size_t first_meshes = 0;  // of --meshes, unless all were searched
  std::size_t labels = 0;        // that were compared: the same with more states if none was dropped
  // Lines that are to be kept, and are not. Without plans: on any mesh.
  std::vector<passes::PlanProblem> problems = {};
};
// Where there are many meshes: only the first are searched, in the order of what they promise.
struct MeshLimit {
  std::size_t most = 0;  // 0: all
  // Another mesh, which takes about so long; asked after the first.
  std::function<bool(double seconds)> has_time_for = {};
};
// Pre: no form has calls or splits. Each of the axes is a mesh: the program's, if it declares one with these axes,
// or that of the lines to keep or to start from. Meshes on which lines cannot be kept are left out.
// Calls `progress` now and then with the part that is done, from 0 to 1. Of many meshes, those are searched with all states that
// are the most promising with few. If options.limits is hurried, those that have not begun are left out, once there are plans.
PlanFront search_meshes(const FormsOfProgram& forms, const std::vector<std::vector<ir::MeshAxis>>& meshes,
                        const cost::SearchOptions& options, const std::function<void(double)>& progress = {},
                        const MeshLimit& limit = {});

// --at-most time=2ms,memory=1GiB,traffic=64MiB,euros=0.01
struct Demands {
  std::optional<double> seconds, memory, traffic;
  std::vector<std::pair<std::string, double>> prices = {};  // by name
  bool memory_is_all = false;                               // the limit is what the devices have, not the user's
};
// Throws Failure, exit 2. `prices`: the names that the machine file prices.
Demands parse_demands(const std::vector<std::string>& texts, const std::vector<std::string>& prices);

enum class Pick : std::uint8_t { fastest, smallest, least_traffic, knee, cheapest };
// Removes other plans. Throws Failure, exit 4, with the smallest relaxation if none meets the demands.
void keep_those_that_meet(PlanFront& front, const Demands& demands);
// `price`: which of the prices is to be least. Pre: there are plans; with Pick::cheapest, each has that price.
const MeshPlan& picked(const PlanFront& front, Pick pick, std::size_t price = 0);

// What the devices of the cluster's first type, or of any other, are priced by.
std::vector<std::string> priced_names(const cost::Cluster& cluster);

std::string effort_text(const PlanFront& front);  // --states 128 --meshes 5; empty unless a budget chose them
std::string summary(const MeshPlan& plan);        // 2.1 ms, 40 MiB per device, 8 MiB received, 0.002 euros
std::string front_table(const PlanFront& front);
std::string front_json(const PlanFront& front);
std::string plan_text(const MeshPlan& plan);  // with comments
ir::Plan plan_of(const MeshPlan& plan);       // with its mesh, unless the program declares it
std::string axes_text(const ir::Mesh& mesh);  // grid [data: 4]

}  // namespace tap::driver
