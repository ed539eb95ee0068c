// --keep and --resume.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace tap::driver {

struct KeepOptions {
  std::string folder;   // empty: nothing is kept
  bool resume = false;  // what is there is used
  bool wanted() const { return !folder.empty(); }
};
void add_keep_options(CLI::App& app, KeepOptions& options);

}  // namespace tap::driver
