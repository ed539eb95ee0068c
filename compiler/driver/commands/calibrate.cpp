// tapc calibrate -o machine.toml: measures this machine, for --machine of other commands.
//
//   $ tapc calibrate -o machine.toml
//   latency                   1.43e-09   +- 0.1 %
//   rates.f32.arithmetic      8.71e+10   +- 1.2 %
//   …
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "backend/llvm/library.h"
#include "compiler/driver/commands/command.h"
#include "compiler/driver/machine_file.h"
#include "compiler/driver/machines/calibration.h"
#include "compiler/driver/machines/machine_reader.h"
#include "compiler/driver/median.h"
#include "compiler/driver/write_outputs.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

struct CalibrateOptions {
  std::string output = "-";
};

int measure_machine(Session& session, const CalibrateOptions& options) {
  Phase phase("measuring this machine");
  Stopwatch watch;
  cost::Cluster cluster = cluster_for(session, *backend::target_named("native"), "");
  Calibration found = calibrate(session, cluster.types.front());
  std::string notes = fmt::format(
                  "# Measured by tapc calibrate in {:.1f} s. Each value has the spread of its repetitions:\n",
                  watch.seconds()),
              table;
  for (const Measured& one : found.measured) {
    table += fmt::format("{:<28} {:<11.4g} +- {:.1f} %\n", one.name, one.value, 100 * one.spread);
    notes += fmt::format("#   {:<28} {:<11.4g} +- {:.1f} %\n", one.name, one.value, 100 * one.spread);
  }
  cluster.types.front() = std::move(found.device);
  cluster.links.clear();
  std::string text = machine_file_of(cluster, notes);
  if (options.output == "-") {
    session.print(text);
    return exit_code::done;
  }
  write_outputs(session, {{options.output, {std::move(text)}}});
  session.print(table);
  return exit_code::done;
}

}  // namespace

Action declare_calibrate(CLI::App& app) {
  auto options = std::make_shared<CalibrateOptions>();
  app.add_option("-o,--output", options->output, "The machine file to write (default: standard output)");
  return [options](Session& session) { return measure_machine(session, *options); };
}

}  // namespace tap::driver
