// A source file from the command line to a Compiled: the options that say which program at which sizes, and the exit
// code that its diagnostics mean. Shared by every subcommand that compiles.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/session.h"
#include "compiler/frontend/elaborate/compile.h"

namespace CLI {
class App;
}

namespace tap::driver {

struct SourceOptions {
  std::string program;
  std::vector<std::string> dims;    // n=8
  std::vector<std::string> shapes;  // X=f32[4,8], of a command that needs no data
  bool require_proof = false;
  bool strict_fp = false;
  bool no_distribute = false;
  bool no_implicit_reshard = false;
  bool no_cache = false;  // nothing is read from the user's folders nor kept there
};
void add_source_options(CLI::App& app, SourceOptions& options);
void add_no_cache_option(CLI::App& app, bool& no_cache);  // which is one of them
// --no-implicit-reshard, of commands that follow shardings.
void add_reshard_option(CLI::App& app, SourceOptions& options);
void add_shape_option(CLI::App& app, SourceOptions& options);

// Throws Failure, exit 2, for a malformed --dim or shape.
CompileOptions compile_options(const SourceOptions& options);

// Compiles and tells every diagnostic. Throws Reported if there were errors.
Compiled compile_file(Session& session, FileId file, const CompileOptions& options);
// The shapes were given of inputs that the program has, and of their types. Throws Failure, exit 3.
void require_inputs(const Compiled& compiled, const SourceOptions& options);
// The same as compile_file, and the file must have a program to run.
Compiled compile_program(Session& session, FileId file, const CompileOptions& options);
// Whether the program is legal without the shapes that its inputs bring along: then it is the data that do not fit.
bool compiles_without_inputs(Session& session, FileId file, CompileOptions options);

}  // namespace tap::driver
