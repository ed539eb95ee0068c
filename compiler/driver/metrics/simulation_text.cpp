#include "compiler/driver/metrics/simulation_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/driver/show/columns.h"
#include "support/memory_failure.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

using Json = nlohmann::ordered_json;
using cost::SimulatedDevice, cost::SimulatedTask, cost::LinkUse;

std::string mesh_text(const ir::Mesh& mesh) {
  std::string text;
  for (const ir::MeshAxis& axis : mesh.axes)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", axis.name, axis.size);
  return mesh.axes.empty() ? "" : " [" + text + "]";
}

Json event_of(const SimulatedTask& task, std::int64_t device) {
  const bool is_message = task.from >= 0;
  Json event = {{"name", task.name},
                {"cat", is_message ? "message" : "task"},
                {"ph", "X"},
                {"pid", device},
                {"tid", is_message ? 1 : 0},
                {"ts", task.begin * 1e6},
                {"dur", (task.end - task.begin) * 1e6},
                {"args", {{"what", task.what}}}};
  if (is_message) event["args"] = {{"what", task.what}, {"from", task.from}, {"bytes", task.bytes}};
  return event;
}

}  // namespace

std::string simulation_table(const SimulationReport& report) {
  const cost::Simulation& run = report.run;
  std::string text = fmt::format("{}{} with {} each, in {}\n", plural(run.count, "device"), mesh_text(report.mesh),
                                 plural(report.threads, "thread"),
                                 plural(static_cast<std::int64_t>(run.devices.size()), "role"));
  text += fmt::format("{}; devices are idle {:.1f} % of the time\n\n", time_text(run.seconds), run.idle * 100);
  std::vector<Line> lines{
      {"role", "devices", "one of them", "computes", "waits", "ends", "messages", "received", "memory"}};
  for (std::size_t role = 0; role < run.devices.size(); ++role) {
    const SimulatedDevice& one = run.devices[role];
    lines.push_back({std::to_string(role), std::to_string(one.count), std::to_string(one.device), time_text(one.busy),
                     time_text(one.waiting), time_text(one.end), count_text(one.messages), bytes_text(one.received),
                     bytes_text(one.peak_bytes)});
  }
  text += columns(lines, 1);
  lines = {{"link", "messages", "bytes"}};
  for (const LinkUse& link : run.links) lines.push_back({link.name, count_text(link.messages), bytes_text(link.bytes)});
  if (!run.links.empty()) text += "\n" + columns(lines, 1);
  if (run.trips_skipped > 0)
    text += fmt::format("\n{} of iterates not simulated: they are assumed to run like the last simulated ones\n",
                        plural(run.trips_skipped, "trip"));
  return text;
}

std::string simulation_json(const SimulationReport& report) {
  AllocationMustSucceed memory_guard;
  const cost::Simulation& run = report.run;
  Json mesh = Json::array(), roles = Json::array(), links = Json::array();
  for (const ir::MeshAxis& axis : report.mesh.axes) mesh.push_back({{"axis", axis.name}, {"size", axis.size}});
  for (const SimulatedDevice& one : run.devices)
    roles.push_back({{"device", one.device},
                     {"devices", one.count},
                     {"computes", one.busy},
                     {"waits", one.waiting},
                     {"ends", one.end},
                     {"messages", one.messages},
                     {"received", one.received},
                     {"peak_memory", one.peak_bytes}});
  for (const LinkUse& link : run.links)
    links.push_back({{"link", link.name}, {"messages", link.messages}, {"bytes", link.bytes}});
  const Json all = {{"format", "tap-simulation"},
                    {"version", 1},
                    {"file", report.file},
                    {"program", report.program},
                    {"mesh", mesh},
                    {"devices", run.count},
                    {"threads", report.threads},
                    {"seconds", run.seconds},
                    {"idle", run.idle},
                    {"roles", roles},
                    {"links", links},
                    {"events", run.events},
                    {"trips_skipped", run.trips_skipped}};
  return all.dump(1) + "\n";
}

std::string simulation_trace(const SimulationReport& report) {
  AllocationMustSucceed memory_guard;
  const Json other = {
      {"format", "tap-simulated-trace"}, {"version", 1}, {"file", report.file}, {"program", report.program}};
  std::string text = fmt::format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{},\"traceEvents\":[", other.dump());
  const char* between = "\n";
  auto add = [&](const Json& event) { text += std::exchange(between, ",\n") + event.dump(); };
  for (const SimulatedDevice& one : report.run.devices) {
    add({{"name", "process_name"},
         {"ph", "M"},
         {"pid", one.device},
         {"args", {{"name", fmt::format("device {}, one of {}", one.device, one.count)}}}});
    for (const SimulatedTask& task : one.tasks) add(event_of(task, one.device));
  }
  return text + "\n]}\n";
}

}  // namespace tap::driver
