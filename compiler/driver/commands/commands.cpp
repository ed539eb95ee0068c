// The subcommands, in the order in which `tapc --help` lists them.
#include "compiler/driver/commands/command.h"

namespace tap::driver {

Action declare_bench(CLI::App& app);
Action declare_check(CLI::App& app);
Action declare_cmp(CLI::App& app);
Action declare_compile(CLI::App& app);
Action declare_completion(CLI::App& app);
Action declare_explain(CLI::App& app);
Action declare_fmt(CLI::App& app);
Action declare_inspect(CLI::App& app);
Action declare_new(CLI::App& app);
Action declare_ops(CLI::App& app);
Action declare_opt(CLI::App& app);
Action declare_run(CLI::App& app);
Action declare_sharding(CLI::App& app);
Action declare_verify(CLI::App& app);

namespace {

constexpr Command all_commands[] = {
    {"check", "Prove that programs and operators are legal", declare_check},
    {"run", "Run a program on given inputs", declare_run},
#ifdef TAP_HAVE_BACKEND
    {"compile", "Make a shared library of a program, with a C header and a manifest", declare_compile},
    {"bench", "Tell how long a program takes, to run and to compile", declare_bench},
#endif
    {"cmp", "Tell how two files of tensors differ", declare_cmp},
    {"verify", "Prove that what the passes make computes what the source computes", declare_verify},
    {"inspect", "Show the graph of a program", declare_inspect},
    {"opt", "Run passes on a program and print what they made of it", declare_opt},
    {"ops", "List the operators, or describe one and how it can be sharded", declare_ops},
    {"sharding", "Tell how values are sharded, and what that takes on a device", declare_sharding},
    {"fmt", "Lay out source files evenly", declare_fmt},
    {"explain", "Explain a diagnostic code, or why a value is sharded as it is", declare_explain},
    {"new", "Start a small project that works out of the box", declare_new},
    {"completion", "Print a completion script for a shell", declare_completion},
};

}  // namespace

std::span<const Command> commands() { return all_commands; }

}  // namespace tap::driver
