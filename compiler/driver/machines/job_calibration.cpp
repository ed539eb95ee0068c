#include "compiler/driver/machines/job_calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "compiler/driver/machines/chosen_processors.h"
#include "compiler/driver/machines/link_trials.h"
#include "compiler/driver/machines/machine_reader.h"
#include "compiler/driver/mpi_host.h"
#include "compiler/driver/process_messages.h"
#include "cost/machine/host.h"

namespace tap::driver {
namespace {

using cost::Device;

constexpr double seconds_of_links = 15;
constexpr std::byte done{1};

// Without the processor: waiting in MPI would take all of one from what is measured.
void sleep_until_message(const MpiHost& host, std::int64_t from) {
  while (!host.has_message(from)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

// Devices as kernels and the model see them: measured rates of equal processors differ by some percent.
bool are_alike(const Device& a, const Device& b) {
  constexpr double near = 1.3;
  auto is_near = [](double x, double y) { return x <= near * y && y <= near * x; };
  auto rate = [](const Device& device) { return device.rates.of(ElementType::f32, cost::Instruction::arithmetic); };
  return a.threads == b.threads && a.core == b.core && is_near(a.memory_bytes, b.memory_bytes) &&
         is_near(rate(a), rate(b)) && is_near(a.levels.back().read, b.levels.back().read);
}

// One entry for each run of processes whose nodes are alike.
void add(JobCalibration& found, Device device, std::int64_t processes) {
  if (!found.types.empty() && are_alike(found.types.back(), device)) {
    found.layout.back().second += processes;
    return;
  }
  device.name = fmt::format("device{}", found.types.size());
  found.layout.emplace_back(found.types.size(), processes);
  found.types.push_back(std::move(device));
}

}  // namespace

JobCalibration calibrate_job(Session& session, const MpiHost& host, cost::Device known, bool has_chosen) {
  const std::vector<std::int64_t> nodes = host.nodes();
  const ProcessMessages messages(host);
  const std::int64_t self = host.rank(), first = nodes[static_cast<std::size_t>(self)];
  const std::int64_t of_node = std::ranges::count(nodes, first);
  // Processes that are not bound to processors share those of the node, or those that are chosen, and all share its memory.
  const std::int64_t together = has_chosen ? known.threads : cost::threads_on(processors_here().online);
  known.threads = std::clamp<std::int64_t>(together / of_node, 1, known.threads);
  known.memory_bytes = std::floor(known.memory_bytes / static_cast<double>(of_node));

  JobCalibration found;
  const std::vector<PairFigures> pairs = measure_links(host, seconds_of_links);
  if (self != first) {
    sleep_until_message(host, first);
    std::byte received{};
    messages.receive(first, std::span(&received, 1));
    return found;
  }
  Calibration own = calibrate(session, known, has_chosen);
  for (std::int64_t process = 0; process < host.size(); ++process)
    if (process != self && nodes[static_cast<std::size_t>(process)] == self)
      messages.send(process, std::span(&done, 1));
  if (!host.is_first()) {
    messages.send_text(0, machine_file_of({{own.device}}, ""));
    return found;
  }
  found.measured = std::move(own.measured);
  std::vector<Device> of_first(nodes.size());
  of_first.front() = own.device;
  for (std::int64_t process = 0; process < host.size(); ++process) {
    const auto node = static_cast<std::size_t>(nodes[static_cast<std::size_t>(process)]);
    if (process > 0 && static_cast<std::int64_t>(node) == process) {
      const FileId text = session.sources.add(fmt::format("process {}", process), messages.receive_text(process));
      of_first[node] = read_machine_file(session, text, own.device).types.front();
    }
    add(found, of_first[node], 1);
  }
  found.links = links_of(nodes, pairs);
  return found;
}

}  // namespace tap::driver
