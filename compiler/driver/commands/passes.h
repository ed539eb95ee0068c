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

namespace CLI {
class App;
}

namespace tap::driver {

struct PassOptions {
  std::vector<std::string> passes;  // with `chosen`; else those of the lowering
  bool chosen = false;
  ir::Plan plan = {};
  bool fuse = false;       // groups that the compiler chooses, beside those of the plan
  std::string dump_after;  // a pass, `all` or `changed`; empty: no dumps
  std::string dump_dir = ".";
  std::string certificate;  // a file for it; empty: none
  bool verify = true;
  bool require_proof = false;  // what the checker only assumes is refused
  bool strict_fp = false;      // floats are combined as they are written
  bool no_distribute = false;  // products and folds are computed as they are written
  bool no_implicit_reshard = false;
  bool time = false;
  bool remarks = false;
};
void take(PassOptions& options, const SourceOptions& source);  // options that apply to every pass
void add_pass_options(CLI::App& app, PassOptions& options);

// The dumps: NN-PASS.txt, counting every run of a pass and every step of a plan.
class Dumps {
 public:
  // Throws Failure, exit 2, where --dump-after names no pass.
  Dumps(const Session& session, const PassOptions& options);

  // The number of this run.
  int after(std::string_view pass, bool changed, const std::function<std::string()>& text);

 private:
  const Session& session_;  // whose files are not written over
  std::string wanted_, folder_;
  int number_ = 0;
};

// For the pipeline. Throws Failure, exit 2, for the name of a pass that there is not.
pipeline::Options pipeline_options(const PassOptions& options, pipeline::Stage stop);

// What is compiled: the file of the command, or a graph that was made of it before.
using Given = std::variant<GivenFile, ir::Program>;

// Compiles, writes the dumps and the certificate, reports warnings, remarks and times on standard error. Throws as
// pipeline::compile does.
pipeline::Compilation compile(Session& session, Given given, pipeline::Options how, const PassOptions& options,
                              Dumps& dumps);

// The certificate's file, and beside it, as FILE.rules.ir, the rules that it mentions.
std::vector<OutputFile> certificate_files(const std::string& file, const pipeline::Compilation& made);

// The list for people: the stages in order and the passes of each, with the reason for their place.
std::string list_of_passes();

}  // namespace tap::driver
