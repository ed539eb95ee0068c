// From a file on the command line into the pipeline: the options that select the program and its sizes, and the exit
// code for its diagnostics. Shared by every subcommand that compiles.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/session.h"
#include "compiler/frontend/elaborate/compile.h"
#include "compiler/pipeline/pipeline.h"

namespace CLI {
class App;
}

namespace tap::driver {

struct SourceOptions {
  std::string program;
  std::vector<std::string> dims;    // n=8
  std::vector<std::string> shapes;  // X=f32[4,8], for a command that needs no data
  bool require_proof = false;
  bool strict_fp = false;
  bool fast_reduce = false;
  bool no_distribute = false;
  bool no_implicit_reshard = false;
  bool no_cache = false;  // the user's folders are neither read nor written
};
void add_source_options(CLI::App& app, SourceOptions& options);
void add_no_cache_option(CLI::App& app, bool& no_cache);  // also part of source options
// --no-implicit-reshard, for commands that follow shardings.
void add_reshard_option(CLI::App& app, SourceOptions& options);
void add_shape_option(CLI::App& app, SourceOptions& options);

// Throws Failure, exit 2, for a malformed --dim or shape.
CompileOptions compile_options(const SourceOptions& options);

// FILE of a command: a program in Tap, or the text of a stage, with the options for compiling it.
struct ProgramFile {
  FileId file;
  CompileOptions how;
  std::vector<std::string> shapes = {};  // given shapes: the program must have these inputs
};
// Reads the file. Throws Failure: exit 2 for the manifest of a compiled program, and for --program or --dim with a
// stage text, which has already fixed both.
ProgramFile read_program_file(Session& session, const std::string& path, const SourceOptions& options);
ProgramFile make_program_file(const Session& session, FileId file, CompileOptions how,
                              std::vector<std::string> shapes = {});

// Runs the pipeline on the file and reports every diagnostic; records the locations of operations and inputs in the
// session. Throws Reported if there were errors, Failure if the file has no program, and as pipeline::compile does.
pipeline::Compilation compile_file(Session& session, const ProgramFile& input, const pipeline::Options& options,
                                   pipeline::Observer observer = {});
// Only up to the graph that the text describes.
Compiled build_file(Session& session, const ProgramFile& input);

// Whether the program is legal without the shapes of its given inputs: if so, the data is at fault.
bool compiles_without_inputs(Session& session, const ProgramFile& input);

// For a command that needs source text. Throws Failure, exit 2, for a stage.
void require_source(const Session& session, FileId file);

}  // namespace tap::driver
