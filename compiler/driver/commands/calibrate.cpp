// tapc calibrate: measures this machine, and installs what it found for this user's other commands, or writes it to a file for
// their --machine.
//
//   $ tapc calibrate
//   latency                   1.43e-09   +- 0.1 %
//   rates.f32.arithmetic      8.71e+10   +- 1.2 %
//   …
//   $ mpirun -n 8 tapc calibrate --mpi -o cluster.toml     … and the links between each two of the processes
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>

#include "backend/llvm/library.h"
#include "compiler/driver/commands/command.h"
#include "compiler/driver/machine_file.h"
#include "compiler/driver/machines/calibration.h"
#include "compiler/driver/machines/installed.h"
#include "compiler/driver/machines/job_calibration.h"
#include "compiler/driver/machines/machine_reader.h"
#include "compiler/driver/median.h"
#include "compiler/driver/mpi_host.h"
#include "compiler/driver/write_outputs.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

struct CalibrateOptions {
  std::string output, cpus;
  bool mpi = false;
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

// What was measured, as lines of a table.
std::string table_of(const std::vector<Measured>& measured) {
  std::string table;
  for (const Measured& one : measured)
    table += fmt::format("{:<28} {:<11.4g} +- {:.1f} %\n", one.name, one.value, 100 * one.spread);
  return table;
}

// Figures of links, as those of devices: a level has those of all its pairs, and pairs that differ have their own.
std::vector<Measured> figures_of(const Links& links) {
  std::vector<Measured> figures;
  for (const LinkFigures& level : links.levels) {
    figures.push_back({fmt::format("links.{}.latency", level.link.name), level.link.latency, level.latency_spread});
    figures.push_back(
        {fmt::format("links.{}.bandwidth", level.link.name), level.link.bandwidth, level.bandwidth_spread});
  }
  for (const PairFigures& pair : links.pairs) {
    figures.push_back(
        {fmt::format("pairs.{}-{}.latency", pair.from, pair.to), pair.latency.value, pair.latency.spread});
    figures.push_back(
        {fmt::format("pairs.{}-{}.bandwidth", pair.from, pair.to), pair.bandwidth.value, pair.bandwidth.spread});
  }
  return figures;
}

// The cluster that was measured, and its figures.
struct MeasuredCluster {
  cost::Cluster cluster;
  std::vector<Measured> figures;
};

MeasuredCluster measured_here(Session& session, bool has_chosen) {
  MeasuredCluster made{cluster_for(session, *backend::target_named("native"), builtin_machine), {}};
  made.cluster.links.clear();
  Calibration found = calibrate(session, made.cluster.types.front(), has_chosen);
  made.cluster.types.front() = std::move(found.device);
  made.figures = std::move(found.measured);
  return made;
}

MeasuredCluster measured_by_job(Session& session, const MpiHost& host, bool has_chosen) {
  MeasuredCluster made{cluster_for(session, *backend::target_named("native"), builtin_machine), {}};
  JobCalibration found = calibrate_job(session, host, made.cluster.types.front(), has_chosen);
  if (!host.is_first()) return made;
  made.cluster.links.clear();
  made.cluster.types = std::move(found.types);
  if (made.cluster.types.size() > 1) made.cluster.layout = std::move(found.layout);
  for (const LinkFigures& level : found.links.levels) made.cluster.links.push_back(level.link);
  for (const PairFigures& pair : found.links.pairs)
    made.cluster.pairs.push_back({pair.from, pair.to, pair.latency.value, pair.bandwidth.value});
  made.figures = std::move(found.measured);
  for (Measured& figure : figures_of(found.links)) made.figures.push_back(std::move(figure));
  return made;
}

int measure_machine(Session& session, const CalibrateOptions& options) {
  if (const std::int64_t processes = executor::launched_processes(); !options.mpi && processes > 1)
    throw Failure{exit_code::wrong_command_line,
                  Diagnostic(Code::command_line, Span{},
                             fmt::format("{} processes were started, and each would measure the machine", processes))
                      .help("add `--mpi`, which measures the links between them, too")};
  Phase phase("measuring this machine");
  Stopwatch watch;
  session.quiet = options.mpi && MpiHost::is_follower();
  const bool has_chosen =
      keep_to_chosen(session, options.cpus, builtin_machine, options.mpi ? Purpose::run_in_job : Purpose::run);
  const bool writes = !session.quiet;
  const std::string path = !writes ? "" : options.output.empty() ? path_to_install() : options.output;
  const MeasuredCluster made = options.mpi ? measured_by_job(session, MpiHost::start(), has_chosen)
                                           : measured_here(session, has_chosen);
  if (!writes) return exit_code::done;
  const std::string table = table_of(made.figures);
  std::string notes =
      fmt::format("# Measured by tapc calibrate in {:.1f} s{}{}. Values, each with the spread of its repetitions:\n",
                  watch.seconds(), options.mpi ? fmt::format(", by {} processes", MpiHost::start().size()) : "",
                  options.cpus.empty() ? "" : fmt::format(", with --cpus {}", options.cpus));
  for (std::size_t at = 0, end = 0; at < table.size(); at = end + 1) {
    end = table.find('\n', at);
    notes += "#   " + table.substr(at, end - at) + "\n";
  }
  std::string text = machine_file_of(made.cluster, notes);
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
  app.add_flag("--mpi", options->mpi,
               "Measure the links between the processes of an MPI job, too, each of which is a device; the first one "
               "writes the file");
  add_cpus_option(app, options->cpus);
  return [options](Session& session) { return measure_machine(session, *options); };
}

}  // namespace tap::driver
