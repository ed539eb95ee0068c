// The options of commands that compile: the passes to run, the plan, and what to print.
//
//   tapc opt mlp.tap --passes=inline_calls,compose_maps --dump-after=changed --dump-dir=stages --remarks --time-passes
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/driver/compile_file.h"
#include "compiler/driver/session.h"
#include "compiler/driver/write_outputs.h"
#include "compiler/pipeline/pipeline.h"
#include "passes/pass_manager.h"

namespace CLI {
class App;
}

namespace tap::driver {

struct PassOptions {
  std::vector<std::string> passes;  // with `chosen`; else those of the lowering
  bool chosen = false;
  ir::Plan plan = {};
  bool fuse = false;       // automatic fusion, in addition to the plan's groups
  std::string dump_after;  // a pass, `all` or `changed`; empty: no dumps
  std::string dump_dir = ".";
  std::string certificate;  // its file; empty: none
  bool verify = true;
  bool require_proof = false;  // what the checker only assumes is an error
  bool strict_fp = false;      // no reassociation of floats
  bool fast_reduce = false;    // devices combine partials of floats in groups
  bool no_distribute = false;  // products and folds stay as written
  bool no_implicit_reshard = false;
  bool time = false;
  passes::PassSeconds* seconds = nullptr;  // receives the time of each pass
  bool remarks = false;
};
void take(PassOptions& options, const SourceOptions& source);  // options that apply to every pass
void add_pass_options(CLI::App& app, PassOptions& options);

// The dumps: NN-PASS.txt, numbered by run of a pass and step of a plan.
class Dumps {
 public:
  // Throws Failure, exit 2, if --dump-after is not a pass.
  Dumps(const Session& session, const PassOptions& options);

  // Returns the number of this run.
  int after(std::string_view pass, bool changed, const std::function<std::string()>& text);

 private:
  const Session& session_;  // its files are not overwritten
  std::string dump_after_, folder_;
  int number_ = 0;
};

// For the pipeline. Throws Failure, exit 2, for an unknown pass.
pipeline::Options pipeline_options(const PassOptions& options, pipeline::Stage stop);

// The input of a compilation: the command's file, or a graph that was made from it.
using PipelineInput = std::variant<ProgramFile, ir::Program>;

// Compiles, writes the dumps and the certificate, prints warnings, remarks and times on standard error. Throws as
// pipeline::compile does.
pipeline::Compilation compile(Session& session, PipelineInput input, pipeline::Options how, const PassOptions& options,
                              Dumps& dumps, const std::function<void(const Compiled& built)>& after_build = {});

// The certificate's file, and FILE.rules.ir with the rules that it refers to.
std::vector<OutputFile> certificate_files(const std::string& file, const pipeline::Compilation& made);

// The list for people: the stages in order and the passes of each, with the reasons for their positions.
std::string list_of_passes();

}  // namespace tap::driver
