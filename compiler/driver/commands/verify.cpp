// tapc verify FILE: compiles a program and has the independent checker prove that every step on the way computes what the
// source computes.
//
//   tapc verify mlp.tap --plan=mlp.plan --certificate=mlp.cert
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "compiler/driver/certify.h"
#include "compiler/driver/commands/choices.h"
#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/passes.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/read_source.h"
#include "compiler/driver/read_stage.h"
#include "compiler/driver/write_outputs.h"
#include "ir/text/certificate_text.h"
#include "ir/text/stage_text.h"

namespace tap::driver {
namespace {

// How far the way is followed. What is behind the sharded graph costs time for each block.
const std::vector<std::string> verified_stages = {
    "sharded",
    "block",
#ifdef TAP_HAVE_BACKEND
    "schedule",
#endif
};

struct VerifyOptions {
  std::string file, plan, certificate, stages;
  SourceOptions source;
  std::string stage = verified_stages.back();
  bool time = false;
};

// With the stages beside it, tapc-check can look at it again.
void write(const Session& session, const VerifyOptions& options, const Certified& certified) {
  std::vector<OutputFile> files;
  if (!options.certificate.empty())
    files = certificate_files(options.certificate, certified.certificate, certified.rules);
  const std::size_t first = files.size();
  auto stage = [&](const std::string& text) {
    files.push_back({fmt::format("{}.{:02}.ir", options.stages, files.size() - first), {text}});
  };
  if (!options.stages.empty()) {
    for (const ir::Program& program : certified.stages) stage(ir::print(program));
    if (certified.blocks) stage(ir::print(*certified.blocks));
    if (certified.schedule) stage(ir::print(*certified.schedule));
  }
  if (!files.empty()) write_outputs(session, std::move(files));
}

int verify(Session& session, const VerifyOptions& options) {
  ir::Plan plan = read_plan(session, options.plan);
  FileId file = read_source(session, options.file);
  const CompileOptions how = compile_options(options.source);
  Compiled compiled = compile_or_read(session, file, how);
  require_inputs(compiled, options.source);
  Rewrites rewrites(session, file, how);
  Certified certified = certify(std::move(compiled.program), plan,
                                {{},
                                 options.source.strict_fp,
                                 rewrites.chosen_from(plan),
                                 options.source.require_proof,
                                 options.source.no_distribute},
                                false, options.source.no_implicit_reshard);
  if (!certified.verdict.refused() && options.stage != "sharded") expand(certified);
  if (!certified.verdict.refused() && options.stage == "schedule") schedule(certified, options.source.strict_fp);
  write(session, options, certified);
  for (const Diagnostic& diagnostic : certified.told) session.tell(diagnostic);
  session.print(summary(certified));
  if (options.time) {
    std::size_t operations = 0;
    for (const ir::Graph& graph : certified.stages.front().graphs) operations += graph.operations.size();
    session.print(fmt::format("checked in {:.1f} ms, {:.2f} ms an operation\n", certified.seconds * 1e3,
                              certified.seconds * 1e3 / static_cast<double>(std::max<std::size_t>(1, operations))));
  }
  require_justified(certified, options.source.require_proof);
  return exit_code::done;
}

}  // namespace

Action declare_verify(CLI::App& app) {
  auto options = std::make_shared<VerifyOptions>();
  app.add_option("FILE", options->file, "A source file, or the text of a stage")->required();
  app.add_option("--plan", options->plan, "A plan: what is fused and cut, and where the blocks go");
  app.add_option("--certificate", options->certificate, "Write the certificate to this file");
  app.add_option("--stages", options->stages, "Write the stages that it speaks of to PREFIX.00.ir, PREFIX.01.ir, ...");
  app.add_option(
         "--stage", options->stage,
         "How far: sharded (cut and placed), block (every application and move), schedule (every task of native "
         "code, and its memory; default)")
      ->check(CLI::IsMember(verified_stages));
  app.add_flag("--time-passes", options->time, "Tell how long checking took");
  add_source_options(app, options->source);
  add_reshard_option(app, options->source);
  add_shape_option(app, options->source);
  return [options](Session& session) { return verify(session, *options); };
}

}  // namespace tap::driver
