// The subcommands, in the order in which `tapc --help` lists them.
#include "compiler/driver/commands/command.h"

namespace tap::driver {

Action declare_bench(CLI::App& app);
Action declare_calibrate(CLI::App& app);
Action declare_check(CLI::App& app);
Action declare_cmp(CLI::App& app);
Action declare_compile(CLI::App& app);
Action declare_completion(CLI::App& app);
Action declare_cost(CLI::App& app);
Action declare_diff(CLI::App& app);
Action declare_explain(CLI::App& app);
Action declare_fmt(CLI::App& app);
Action declare_inspect(CLI::App& app);
Action declare_new(CLI::App& app);
Action declare_ops(CLI::App& app);
Action declare_opt(CLI::App& app);
Action declare_plan(CLI::App& app);
Action declare_reshard(CLI::App& app);
Action declare_run(CLI::App& app);
Action declare_sharding(CLI::App& app);
Action declare_simulate(CLI::App& app);
Action declare_verify(CLI::App& app);

namespace {

constexpr Command all_commands[] = {
    {"check", "Check that programs and operators are legal", declare_check},
    {"run", "Run a program on given inputs", declare_run},
    {"compile", "Compile a program to a shared library with a C header and a manifest", declare_compile},
    {"bench", "Measure the run time and compile time of a program", declare_bench},
    {"cost", "Predict the run time of a program, term by term", declare_cost},
    {"simulate", "Simulate a run on the devices of a machine, event by event", declare_simulate},
    {"plan", "Search for the best way to divide a program over a mesh of devices", declare_plan},
    {"diff", "Compare two plans of a program, or two programs: time, memory, traffic", declare_diff},
    {"calibrate", "Measure this machine, and write a machine file", declare_calibrate},
    {"cmp", "Compare two tensor files", declare_cmp},
    {"reshard", "Divide the tensors of files differently", declare_reshard},
    {"verify", "Prove that the compiled program computes what the source computes", declare_verify},
    {"inspect", "Show the graph of a program", declare_inspect},
    {"opt", "Run passes on a program and print the result", declare_opt},
    {"ops", "List operators, or describe one and how it can be sharded", declare_ops},
    {"sharding", "Show how values are sharded, and the memory per device", declare_sharding},
    {"fmt", "Format source files", declare_fmt},
    {"explain", "Explain a diagnostic code, or the sharding of a value", declare_explain},
    {"new", "Create a small example project", declare_new},
    {"completion", "Print a shell completion script", declare_completion},
};

}  // namespace

std::span<const Command> commands() { return all_commands; }

}  // namespace tap::driver
