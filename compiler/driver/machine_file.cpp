#include "compiler/driver/machine_file.h"

#include <CLI/CLI.hpp>

#include "backend/llvm/library.h"
#include "backend/machine_of.h"
#include "compiler/driver/machines/installed.h"
#include "compiler/driver/machines/machine_reader.h"
#include "compiler/driver/read_source.h"
#include "cost/machine/host.h"

namespace tap::driver {
namespace {

// The number of threads of another target is unknown.
cost::Device device_of(const backend::Target& target) {
  const bool native = target.name == "native";
  cost::Device device = cost::builtin(backend::machine_of(target), native ? cost::usable_threads() : 1);
  if (native) device.memory_bytes = cost::usable_memory();
  return device;
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

cost::Cluster cluster_for(Session& session, const backend::Target& target, const std::string& path) {
  cost::Device device = device_of(target);
  const std::string file = file_for(target, path);
  if (file.empty()) return cost::builtin_cluster(std::move(device));
  return read_machine_file(session, read_source(session, file), device);
}

ir::Machine machine_for(Session& session, const backend::Target& target, const std::string& path) {
  return file_for(target, path).empty() ? backend::machine_of(target)
                                        : cluster_for(session, target, path).types.front().core;
}

}  // namespace tap::driver
