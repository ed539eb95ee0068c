// A subcommand: a name, a line of help, and a function that declares its options and returns its action. A new one is
// a file in this folder with such a function, and a line in commands.cpp.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "compiler/driver/session.h"

namespace CLI {
class App;
}

namespace tap::driver {

using Action = std::function<int(Session&)>;  // returns an exit code

struct Command {
  std::string_view name;
  std::string_view summary;
  Action (*declare)(CLI::App& app);  // the options live as long as the action
};

std::span<const Command> commands();

}  // namespace tap::driver
