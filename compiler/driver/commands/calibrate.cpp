// tapc calibrate: measures this machine, and installs what it found for this user's other commands, or writes it to a file for
// their --machine.
//
//   $ tapc calibrate
//   latency                   1.43e-09   +- 0.1 %
//   rates.f32.arithmetic      8.71e+10   +- 1.2 %
//   …
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>

#include "backend/llvm/library.h"
#include "compiler/driver/commands/command.h"
#include "compiler/driver/machine_file.h"
#include "compiler/driver/machines/calibration.h"
#include "compiler/driver/machines/installed.h"
#include "compiler/driver/machines/machine_reader.h"
#include "compiler/driver/median.h"
#include "compiler/driver/write_outputs.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

struct CalibrateOptions {
  std::string output;
};

// Creates the folders of the file to install.
std::string path_to_install() {
  std::string path = machine_file_to_install();
  auto failure = [](std::string message) {
    return Failure{exit_code::resource, Diagnostic(Code::cannot_write, Span{}, std::move(message))
                                            .help("`tapc calibrate -o FILE` writes the machine file elsewhere")};
  };
  if (path.empty()) throw failure("neither XDG_CONFIG_HOME nor HOME is an absolute path: nowhere to install");
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(folder, error);
  if (error) throw failure(fmt::format("cannot create `{}`: {}", folder.string(), error.message()));
  return path;
}

int measure_machine(Session& session, const CalibrateOptions& options) {
  Phase phase("measuring this machine");
  Stopwatch watch;
  const std::string path = options.output.empty() ? path_to_install() : options.output;
  cost::Cluster cluster = cluster_for(session, *backend::target_named("native"), builtin_machine);
  Calibration found = calibrate(session, cluster.types.front());
  std::string notes = fmt::format(
                  "# Measured by tapc calibrate in {:.1f} s. Values, each with the spread of its repetitions:\n",
                  watch.seconds()),
              table;
  for (const Measured& one : found.measured) {
    table += fmt::format("{:<28} {:<11.4g} +- {:.1f} %\n", one.name, one.value, 100 * one.spread);
    notes += fmt::format("#   {:<28} {:<11.4g} +- {:.1f} %\n", one.name, one.value, 100 * one.spread);
  }
  cluster.types.front() = std::move(found.device);
  cluster.links.clear();
  std::string text = machine_file_of(cluster, notes);
  if (path == "-") {
    session.print(text);
    return exit_code::done;
  }
  write_outputs(session, {{path, {std::move(text)}}});
  session.print(table);
  return exit_code::done;
}

}  // namespace

Action declare_calibrate(CLI::App& app) {
  auto options = std::make_shared<CalibrateOptions>();
  app.add_option("-o,--output", options->output,
                 "The machine file to write, - for standard output (default: install it for this user)");
  return [options](Session& session) { return measure_machine(session, *options); };
}

}  // namespace tap::driver
