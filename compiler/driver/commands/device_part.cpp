#include "compiler/driver/commands/device_part.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/driver/failures.h"
#include "ir/block_program.h"
#include "ir/graph.h"
#include "ir/shardings/device_assignment.h"
#include "ir/shardings/mesh_position.h"
#include "passes/splits/expand_device.h"
#include "support/byte_size.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

bool runs_on(const ir::Program& program, const ir::Operation& operation, std::int64_t device) {
  if (const ir::Mesh* mesh = ir::mesh_of(program, operation))
    return mesh->devices.empty() ? device < ir::device_count(*mesh)
                                 : std::count(mesh->devices.begin(), mesh->devices.end(), device) > 0;
  const ir::DeviceAssignment assignment(program, operation);
  for (std::int64_t position = 0; position < assignment.count(); ++position)
    if (assignment.device(position) == device) return true;
  return false;
}

}  // namespace

void require_device(const ir::Program& program, std::int64_t device) {
  bool placed = false;
  for (const ir::Graph& graph : program.graphs)
    for (const ir::Operation& operation : graph.operations) {
      if (std::none_of(operation.placements.begin(), operation.placements.end(), ir::on_devices)) continue;
      if (runs_on(program, operation, device)) return;
      placed = true;
    }
  throw Failure{
      exit_code::wrong_command_line,
      Diagnostic(Code::command_line, Span{},
                 placed ? fmt::format("no operation runs on device {}", device) : "no operation is split over devices")
          .help(placed ? "devices are numbered from 0; `tapc inspect FILE --plan P` shows where operations are placed"
                       : "declare shardings in the program or give a plan")};
}

std::string part_of_device(const ir::Program& program, std::int64_t device) {
  require_device(program, device);
  const ir::BlockProgram part = passes::expand_device(program, device);
  std::size_t applications = 0, moves = 0;
  std::uint64_t bytes = 0;
  std::string text;
  for (const ir::BlockGraph& rows : part.graphs) {
    const ir::BlockGraph graph = by_device(rows);
    for (const ir::Task& task : graph.tasks) {
      auto* move = std::get_if<ir::Move>(&task);
      applications += move ? 0 : static_cast<std::size_t>(count_of(std::get<ir::Application>(task).row));
      if (!move || graph[move->from.id].device == device || graph[move->from.id].device == ir::everywhere) continue;
      ++moves;
      const ir::Value& value = program[graph.graph][graph[move->from.id].value];
      bytes += static_cast<std::uint64_t>(move->box.size()) * size_of(value.type.element);
    }
    if (!graph.tasks.empty()) text += ir::print(program, graph);
  }
  return fmt::format("device {}: {}, receives {} ({} in total) from other devices\n", device,
                     plural(applications, "application"), plural(moves, "box", "boxes"),
                     byte_size(static_cast<double>(bytes))) +
         text;
}

}  // namespace tap::driver
