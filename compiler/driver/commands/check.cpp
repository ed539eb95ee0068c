// tapc check FILE…: all checks of a file that need no data. Prints nothing if there are no errors.
#include <CLI/CLI.hpp>

#include "compiler/driver/commands/command.h"
#include "compiler/driver/compile_file.h"
#include "compiler/driver/read_source.h"

namespace tap::driver {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
  SourceOptions source;
};

int check(Session& session, const CheckOptions& options) {
  CompileOptions compile = compile_options(options.source);
  compile.check_only = compile.program.empty();
  int worst = exit_code::done;
  for (const std::string& path : options.files) {
    try {
      build_file(session, {read_source(session, path), compile, options.source.shapes});
    } catch (const Reported& reported) {  // the other files are still checked
      worst = std::max(worst, reported.exit_code);
    } catch (const Failure& failure) {
      session.report(failure.diagnostic);
      worst = std::max(worst, failure.exit_code);
    }
  }
  return worst;
}

}  // namespace

Action declare_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("FILE", options->files, "Source files or stage texts")->required();
  add_source_options(app, options->source);
  add_shape_option(app, options->source);
  return [options](Session& session) { return check(session, *options); };
}

}  // namespace tap::driver
