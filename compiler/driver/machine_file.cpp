#include "compiler/driver/machine_file.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "backend/llvm/library.h"
#include "backend/machine_of.h"
#include "compiler/driver/machines/chosen_processors.h"
#include "compiler/driver/machines/installed.h"
#include "compiler/driver/machines/machine_reader.h"
#include "compiler/driver/read_source.h"
#include "cost/machine/host.h"
#include "support/quoted.h"

namespace tap::driver {
namespace {

// The number of threads of another target is unknown.
cost::Device device_of(const backend::Target& target) {
  const bool native = target.name == "native";
  cost::Device device = cost::builtin(backend::machine_of(target), native ? cost::usable_threads() : 1);
  if (native) device.memory_bytes = cost::usable_memory();
  return device;
}

// What was measured with all threads, for another number of them: this process may use more or fewer processors now.
void set_threads(cost::Device& device, std::int64_t threads) {
  if (threads < device.threads)
    device.scaling =
        1 - (1 - device.scaling) * static_cast<double>(threads - 1) / static_cast<double>(device.threads - 1);
  device.threads = threads;
}

// Empty: the built-in model.
std::string file_for(const backend::Target& target, const std::string& path) {
  if (path == builtin_machine) return "";
  return path.empty() && target.name == "native" ? installed_machine_file() : path;
}

}  // namespace

void add_machine_option(CLI::App& app, std::string& path) {
  app.add_option(
      "--machine", path,
      "A TOML file of machine parameters, which override the built-in sizes and rates of the target (default: "
      "the file that `tapc calibrate` installed, if any; `builtin`: use no file)");
}

void add_cpus_option(CLI::App& app, std::string& list) {
  app.add_option("--cpus", list,
                 "Use only these processors: 0-3,8, those of NUMA nodes, node:0, or all, with a thread on each of a "
                 "core's siblings (default: all that this process may use, with a thread per core)")
      ->check([](const std::string& text) {
        if (read_processor_list(text)) return std::string();
        return fmt::format("expected {}, not {}", form_of_processor_list, tap::quoted(text));
      });
}

bool keep_to_chosen(Session& session, const std::string& list, const std::string& machine_file, Purpose purpose) {
  const bool in_job = purpose == Purpose::run_in_job;
  if (!list.empty()) return keep_to_processors(*read_processor_list(list), fmt::format("`--cpus {}`", list), in_job);
  const backend::Target target = *backend::target_named("native");
  const std::string file = file_for(target, machine_file);
  if (file.empty()) return false;
  const std::string of_file = cluster_for(session, target, machine_file).cpus;
  if (of_file.empty()) return false;
  try {
    return keep_to_processors(*read_processor_list(of_file), fmt::format("`cpus = \"{}\"` in `{}`", of_file, file),
                              in_job);
  } catch (const Failure&) {
    if (purpose != Purpose::predict) throw;
    return false;
  }
}

cost::Cluster cluster_for(Session& session, const backend::Target& target, const std::string& path) {
  cost::Device device = device_of(target);
  const std::int64_t usable = device.threads;
  const std::string file = file_for(target, path);
  if (file.empty()) return cost::builtin_cluster(std::move(device));
  cost::Cluster cluster = read_machine_file(session, read_source(session, file), device);
  const bool is_installed = path.empty(), is_one_device = cluster.layout.empty() && cluster.count() < 2;
  if (is_installed && is_one_device) set_threads(cluster.types.front(), usable);
  return cluster;
}

ir::Machine machine_for(Session& session, const backend::Target& target, const std::string& path) {
  return file_for(target, path).empty() ? backend::machine_of(target)
                                        : cluster_for(session, target, path).types.front().core;
}

}  // namespace tap::driver
