// What a subcommand is: a name, one line for the list, and a function that declares its options and returns what it does.
// A new one is a file beside this with such a function, and one line in commands.cpp.
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
