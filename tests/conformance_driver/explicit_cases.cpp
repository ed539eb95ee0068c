// Explicit reshards: operations whose operands and results have given shardings. What each operation is resharded to must
// make sense, device by device, every value must end as it is requested, and the axes along which partials are combined are
// those of the case.
#include <fmt/format.h>

#include <algorithm>

#include "ir/shardings/mesh_position.h"
#include "passes/shardings/explicit_reshards.h"
#include "tests/conformance_driver/case_program.h"
#include "tests/conformance_driver/compile_case.h"
#include "tests/conformance_driver/kinds.h"
#include "tests/conformance_driver/simulate_collectives.h"
#include "tests/conformance_driver/simulate_sites.h"

namespace tap::conformance {
namespace {

using ir::Mesh;
using passes::Reshard;
using passes::SiteShardings;

std::string text_of(const std::vector<ir::AxisName>& axes) {
  std::vector<std::string> parts;
  for (const ir::AxisName& axis : axes) parts.push_back(to_string(axis));
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

// The axes of all-reduces, in order; one that several results of an operation share stands there once for each.
std::vector<std::string> expected_partials(const Json& expected) {
  std::vector<std::string> list;
  for (const Json& line : expected)
    if (line.at("op") == "all_reduce") {
      std::vector<ir::AxisName> axes;
      for (const Json& axis : line.at("axes")) axes.push_back(axis_name_of(axis));
      list.push_back(text_of(axes));
    }
  return list;
}

// The axes along which a move combines partials: everywhere, or scattered.
std::vector<ir::AxisName> combined(const ir::Program& program, const Reshard& reshard) {
  ir::Axes all;
  for (const passes::Collective& step : reshard.steps)
    if (step.kind == passes::CollectiveKind::all_reduce || step.kind == passes::CollectiveKind::reduce_scatter)
      all.insert(all.end(), step.over.begin(), step.over.end());
  const Mesh& mesh = program[reshard.from.mesh];
  std::vector<ir::AxisName> names;
  for (const ir::AxisRef& axis : in_mesh_order(mesh, all)) names.push_back(named(mesh, axis));
  return names;
}

constexpr std::int64_t most_simulated = 1 << 16;  // devices times cells

// That a value which several sites read and write gets from one sharding to the other.
void check_steps(const ir::Program& program, const Reshard& reshard, const Shape& shape,
                 std::vector<std::string>& wrong) {
  const Mesh &from = program[reshard.from.mesh], &to = program[reshard.to.mesh];
  if (element_count(shape) > most_simulated / device_count(from)) return;
  for (std::string& line : simulate({from, reshard.from}, {to, reshard.to}, shape, reshard.steps).failures)
    wrong.push_back(std::move(line));
}

}  // namespace

std::string explicit_tap(const Json&, const Json& test) { return program_of_case(test); }

std::vector<std::string> explicit_failures(const Json&, const Json& test) {
  ir::Program program = compile_case(program_of_case(test));
  const ir::Graph& graph = program[program.main];
  std::vector<SiteShardings> sites = passes::explicit_shardings(program, graph);
  std::vector<std::string> wrong;
  for (const SiteShardings& site : sites)
    if (site.mesh.valid())
      for (std::string& line : passes::faults_of(program, program.main, site)) wrong.push_back(std::move(line));
  std::vector<std::string> got, expected = expected_partials(test.at("expected"));
  for (const Reshard& reshard : passes::reshards(program, graph, sites)) {
    const passes::Site& site = sites[reshard.site].site;
    ir::ValueId value = (reshard.of_result ? site.results : site.operands)[reshard.tensor];
    check_steps(program, reshard, graph[value].type.shape, wrong);
    const std::vector<ir::AxisName> partial = combined(program, reshard);
    if (!partial.empty()) got.push_back(text_of(partial));
  }
  if (got != expected)
    wrong.push_back(fmt::format("partials along [{}], expected [{}]", fmt::join(got, ", "), fmt::join(expected, ", ")));
  if (!wrong.empty())
    for (const SiteShardings& site : sites)
      for (std::size_t k = 0; k < site.results.size(); ++k)
        wrong.push_back(fmt::format("{} is computed as {}", graph[site.site.results[k]].name,
                                    to_string(program.meshes, site.results[k])));
  return wrong;
}

}  // namespace tap::conformance
