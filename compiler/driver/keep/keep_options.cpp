#include "compiler/driver/keep/keep_options.h"

#include <CLI/CLI.hpp>

namespace tap::driver {

void add_keep_options(CLI::App& app, KeepOptions& options) {
  CLI::Option* folder =
      app.add_option("--keep", options.folder,
                     "Keep the results of finished tasks in this folder, so that an interrupted run can be resumed");
  app.add_flag("--resume", options.resume,
               "Resume an earlier run of this program on these inputs: compute only what --keep has not kept")
      ->needs(folder);
}

}  // namespace tap::driver
