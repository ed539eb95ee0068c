#include "compiler/driver/keep/keep_options.h"

#include <CLI/CLI.hpp>

namespace tap::driver {

void add_keep_options(CLI::App& app, KeepOptions& options) {
  CLI::Option* folder = app.add_option(
      "--keep", options.folder, "Keep the results of tasks in this folder as they end, for a run that is interrupted");
  app.add_flag("--resume", options.resume,
               "Compute only what --keep has not kept of an earlier run of this program on these inputs")
      ->needs(folder);
}

}  // namespace tap::driver
