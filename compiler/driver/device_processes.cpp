#include "compiler/driver/device_processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "compiler/driver/mpi_host.h"
#include "compiler/driver/supervisor.h"
#include "ir/graph.h"
#include "ir/shardings/mesh_position.h"
#include "support/diagnostic.h"
#include "support/exit_code.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

Failure does_not_fit(const std::string& what, std::string help) {
  return {exit_code::wrong_command_line, Diagnostic(Code::command_line, Span{}, what).help(std::move(help))};
}

}  // namespace

std::int64_t count_devices(const ir::Program& program) {
  std::int64_t devices = 1;
  for (const ir::Mesh& mesh : program.meshes)
    for (std::int64_t index = 0; index < ir::device_count(mesh); ++index)
      devices = std::max(devices, ir::device_at(mesh, index) + 1);
  for (const ir::Graph& graph : program.graphs)
    for (const ir::Operation& operation : graph.operations)
      for (const ir::BlockPlacement& placed : operation.placements)
        for (const auto& set : placed.devices)
          for (std::int64_t device : set) devices = std::max(devices, device + 1);
  return devices;
}

executor::Distribution distribution_of(const MpiHost& host, const ir::Program& program, const DeviceProcesses& wanted) {
  executor::Distribution among{host.rank(), host.size(), count_devices(program), host.messages(), own_progress()};
  if (wanted.one_each && among.devices != among.ranks)
    throw does_not_fit(fmt::format("the program uses {}, but the job has {}", plural(among.devices, "device"),
                                   plural(among.ranks, "process", "processes")),
                       fmt::format("start {} with the launcher, or leave out `--one-device-per-rank`",
                                   plural(among.devices, "process", "processes")));
  if (wanted.map.empty()) return among;
  const auto listed = static_cast<std::int64_t>(wanted.map.size());
  if (listed != among.devices)
    throw does_not_fit(fmt::format("`--map` lists the processes of {}, but the program uses {}",
                                   plural(listed, "device"), plural(among.devices, "device")),
                       "list the process of each device, in the order of the devices: `--map 0,0,1,1`");
  for (std::int64_t device = 0; device < listed; ++device) {
    const std::int64_t process = wanted.map[static_cast<std::size_t>(device)];
    if (process < 0 || process >= among.ranks)
      throw does_not_fit(fmt::format("`--map` gives device {} to process {}, but the job has {}", device, process,
                                     plural(among.ranks, "process", "processes")),
                         "processes are numbered from 0");
  }
  among.map = wanted.map.data();
  return among;
}

}  // namespace tap::driver
