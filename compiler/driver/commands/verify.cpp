// tapc verify FILE: compiles a program and lets the independent checker prove that every step computes the same as
// the source.
//
//   tapc verify mlp.tap --plan=mlp.plan --certificate=mlp.cert
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/decisions.h"
#include "compiler/driver/commands/passes.h"
#include "compiler/driver/write_outputs.h"
#include "compiler/pipeline/proof.h"
#include "ir/text/certificate_text.h"
#include "ir/text/stage_text.h"

namespace tap::driver {
namespace {

// Up to which stage the program is verified. Stages after the sharded graph take time for each block.
const std::vector<std::string> verified_stages = {
    "sharded",
    "block",
    "schedule",
};

pipeline::Stage stop_of(const std::string& stage) {
  return stage == "sharded" ? pipeline::Stage::sharded
         : stage == "block" ? pipeline::Stage::blocks
                            : pipeline::Stage::schedule;
}

struct VerifyOptions {
  std::string file, certificate, stages;
  DecisionOptions decisions;
  SourceOptions source;
  std::string stage = verified_stages.back();
  bool time = false;
};

// Writes the stages, too, so that tapc-check can repeat the check.
void write(const Session& session, const VerifyOptions& options, const pipeline::Compilation& made) {
  std::vector<OutputFile> files;
  if (!options.certificate.empty()) files = certificate_files(options.certificate, made);
  const std::size_t first = files.size();
  auto stage = [&](const std::string& text) {
    files.push_back({fmt::format("{}.{:02}.ir", options.stages, files.size() - first), {text}});
  };
  if (!options.stages.empty()) {
    for (const ir::Program& program : made.stages) stage(ir::print(program));
    if (made.expanded()) stage(ir::print(*made.expanded()));
    if (made.schedule) stage(ir::print(*made.schedule));
  }
  if (!files.empty()) write_outputs(session, files);
}

int verify(Session& session, const VerifyOptions& options) {
  PassOptions passes;
  take(passes, options.source);
  read_decisions(session, options.decisions, passes);
  pipeline::Options config = pipeline_options(passes, stop_of(options.stage));
  config.proof = pipeline::Proof::recorded;
  let_decide(session, options.decisions, {"", "native", options.source.no_cache}, config);
  const pipeline::Compilation made =
      compile_file(session, read_program_file(session, options.file, options.source), config);
  write(session, options, made);
  write_decisions(session, options.decisions, made.plan);
  for (const Diagnostic& diagnostic : made.reported) session.report(diagnostic);
  session.print(pipeline::summary(made));
  if (options.time) {
    std::size_t operations = 0;
    for (const ir::Graph& graph : made.stages.front().graphs) operations += graph.operations.size();
    session.print(fmt::format("checked in {:.1f} ms, {:.2f} ms per operation\n", made.checking * 1e3,
                              made.checking * 1e3 / static_cast<double>(std::max<std::size_t>(1, operations))));
  }
  pipeline::require_justified(made, options.source.require_proof);
  return exit_code::done;
}

}  // namespace

Action declare_verify(CLI::App& app) {
  auto options = std::make_shared<VerifyOptions>();
  app.add_option("FILE", options->file, "A source file, or the text of a stage (.ir)")->required();
  add_decision_options(app, options->decisions);
  app.add_option("--certificate", options->certificate, "Write the certificate to this file");
  app.add_option("--stages", options->stages, "Write the certified stages to PREFIX.00.ir, PREFIX.01.ir, ...");
  app.add_option("--stage", options->stage,
                 "The last stage to verify: sharded (split and placed), block (every application and transfer), "
                 "schedule (every task of native code and its memory; default)")
      ->check(CLI::IsMember(verified_stages));
  app.add_flag("--time-passes", options->time, "Print how long checking took");
  add_source_options(app, options->source);
  add_reshard_option(app, options->source);
  add_shape_option(app, options->source);
  return [options](Session& session) { return verify(session, *options); };
}

}  // namespace tap::driver
