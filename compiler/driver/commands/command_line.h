// The command line as a CLI11 tree, with our error messages instead of CLI11's.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

#include "compiler/driver/commands/command.h"

namespace tap::driver {

// Commands and options as words, for completion scripts.
struct OptionWords {
  std::vector<std::string> names;    // -o, --output
  std::vector<std::string> choices;  // of its value, if there is a fixed set
  std::string summary;
  bool takes_value = false;
};
struct CommandWords {
  std::string name;
  std::string summary;
  std::vector<OptionWords> options;
};

class CommandLine {
 public:
  CommandLine();  // with the options of all commands
  // With the options of the commands among these words only: to declare those of all takes a sixth of a short run.
  explicit CommandLine(std::span<const char* const> words);

  // Parses and runs. Wrong options throw a Failure with exit code 2.
  int run(Session& session, int argc, const char* const* argv);
  std::vector<CommandWords> words() const;

 private:
  template <class Wanted>
  void declare(Wanted wanted);
  void add_message_options(CLI::App& app);
  int help(Session& session, int argc, const char* const* argv);
  void parse(Session& session, int argc, const char* const* argv);
  void apply_message_options(Session& session) const;
  const CLI::App& chosen() const;  // the given subcommand, else the root
  Failure wrong(std::string message, std::string help = "") const;
  Failure no_command(const std::string& name) const;
  Failure unexpected_argument(const std::string& argument) const;
  std::string usage() const;

  CLI::App app_{"tapc, the compiler of the Tap language: from shardable tensor expressions to native code.", "tapc"};
  std::vector<std::pair<CLI::App*, Action>> actions_;
  std::string message_format_ = "human";
  std::string colour_ = "auto";
};

}  // namespace tap::driver
