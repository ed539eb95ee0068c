// The passes of a command: which ones, in what order, and what is shown of them. Shared by all commands that run them.
//
//   tapc opt mlp.tap --passes=inline_calls,compose_maps --dump-after=changed --dump-dir=stages --remarks --time-passes
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/driver/compile_file.h"
#include "compiler/driver/session.h"
#include "passes/pipeline.h"

namespace CLI {
class App;
}

namespace tap::driver {

struct PassOptions {
  std::vector<std::string> passes;  // with `chosen`; else those of the lowering
  bool chosen = false;
  ir::Plan plan = {};                      // what it chooses
  bool planned = false;                    // … and its other lines, with the passes that apply them
  const passes::RuleSet* rules = nullptr;  // what it may choose from
  std::string dump_after;                  // a pass, `all` or `changed`; empty: no dumps
  std::string dump_dir = ".";
  std::string certificate;  // a file for it; empty: none
  bool verify = true;
  bool require_proof = false;  // what the checker only assumes is refused
  bool strict_fp = false;      // floats are combined as they are written
  bool no_distribute = false;  // products and folds are computed as they are written
  bool time = false;
  bool remarks = false;
};
void take(PassOptions& options, const SourceOptions& source);  // what is asked of every pass
void add_pass_options(CLI::App& app, PassOptions& options);

// The dumps: NN-PASS.txt, counting every run of a pass and every step of a plan.
class Dumps {
 public:
  // Throws Failure, exit 2, where --dump-after names no pass.
  Dumps(const Session& session, const PassOptions& options);

  // The number of this run.
  int after(std::string_view pass, bool changed, const std::function<std::string()>& text);
  std::function<void(std::string_view pass, const ir::Program& made)> of_steps();

 private:
  const Session& session_;  // whose files are not written over
  std::string wanted_, folder_;
  int number_ = 0;
};

// Runs the passes, writes the dumps, tells remarks and times on standard error.
// Throws Failure, exit 2, for the name of a pass that there is not; UnjustifiedStep where the checker refuses what a pass claims.
// Pre: the program is verified.
passes::Passed run_passes(Session& session, ir::Program program, const PassOptions& options, Dumps& dumps);

// The list for people: a line for each pass, in order, with the reason for its place.
std::string list_of_passes();

}  // namespace tap::driver
