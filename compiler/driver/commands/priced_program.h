// From a file on the command line to the predicted cost of its program under a plan.
//
//   PricedProgram priced = price(session, options);
//   priced.report.cost.total.total()      seconds of one run
//   priced.made.plan                      with what the cost model decided
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/commands/decisions.h"
#include "compiler/driver/show/cost_table.h"
#include "compiler/pipeline/pipeline.h"

namespace tap::driver {

struct PricedOptions {
  std::string file, machine;
  DecisionOptions decisions;
  std::vector<std::string> mesh;  // data=4
  std::optional<std::int64_t> device;
  std::int64_t threads = 0;  // 0: as many as a run has by default
  SourceOptions source;
  std::string cpus = {};  // as --cpus names them
};
// The options but the file and those of decisions. Without devices: all are meant, and have as many threads as the machine says.
void add_priced_options(CLI::App& app, PricedOptions& options, bool with_device = true);

// Up to the program that the splits of its plan are applied to.
pipeline::Compilation fused_program(Session& session, const PricedOptions& options);
// Up to the sharded program.
pipeline::Compilation sharded_program(Session& session, const PricedOptions& options, const ir::Machine& machine);

struct PricedProgram {
  pipeline::Compilation made;
  cost::Model model;
  CostReport report;
};
// Throws as compile does, and Failure for sizes of meshes that do not fit the program.
PricedProgram price(Session& session, const PricedOptions& options);

}  // namespace tap::driver
