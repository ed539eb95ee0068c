// The subcommands, in the order in which `tapc --help` lists them.
#include "compiler/driver/command.h"

namespace tap::driver {

Action declare_completion(CLI::App& app);
Action declare_explain(CLI::App& app);
Action declare_new(CLI::App& app);

namespace {

constexpr Command table[] = {
    {"explain", "Explain a diagnostic code at length", declare_explain},
    {"new", "Start a small project that works out of the box", declare_new},
    {"completion", "Print a completion script for a shell", declare_completion},
};

}  // namespace

std::span<const Command> commands() { return table; }

}  // namespace tap::driver
