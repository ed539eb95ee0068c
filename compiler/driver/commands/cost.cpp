// tapc cost FILE: predicts the run time of a program, term by term, without running it.
//
//   tapc cost mlp.tap
//   tapc cost mlp.tap --plan=mlp.plan --machine=server.toml --threads=8
//   tapc cost mlp.tap --json                every number as it is
#include <CLI/CLI.hpp>

#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/priced_program.h"

namespace tap::driver {
namespace {

struct CostOptions : PricedOptions {
  bool json = false;
};

int predict(Session& session, const CostOptions& options) {
  const PricedProgram priced = price(session, options);
  write_decisions(session, options.decisions, priced.made.plan);
  session.print(options.json ? cost_json(priced.report, priced.model) : cost_table(priced.report, priced.model));
  return exit_code::done;
}

}  // namespace

Action declare_cost(CLI::App& app) {
  auto options = std::make_shared<CostOptions>();
  app.add_option("FILE", options->file, "A source file, or the text of a stage (.ir)")->required();
  add_decision_options(app, options->decisions);
  add_priced_options(app, *options);
  app.add_flag("--json", options->json, "Print JSON (docs/schema/cost.schema.json)");
  return [options](Session& session) { return predict(session, *options); };
}

}  // namespace tap::driver
