#include "compiler/driver/commands/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "compiler/driver/version.h"

namespace tap::driver {
namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  return names;
}

// CLI11's message is `--format: jso not in {text,dot}`: the given word, and the valid ones.
struct WrongChoice {
  std::string option, given;
  std::vector<std::string> choices;
};
std::optional<WrongChoice> as_wrong_choice(const std::string& text) {
  static constexpr std::string_view middle = " not in {";
  auto colon = text.find(": "), at = text.rfind(middle);
  if (colon == text.npos || at == text.npos || at < colon + 2 || text.back() != '}') return std::nullopt;
  WrongChoice result{text.substr(0, colon), text.substr(colon + 2, at - colon - 2), {}};
  std::string list = text.substr(at + middle.size(), text.size() - 1 - at - middle.size());
  for (std::size_t begin = 0; begin <= list.size();) {
    auto end = std::min(list.find(',', begin), list.size());
    result.choices.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

// CLI11's message is `--threads: Value 0 not in range 1 to 4096`, also for a word that is not a number.
std::optional<std::string> as_out_of_range(const std::string& text) {
  static constexpr std::string_view middle = ": Value ", range = " not in range ";
  auto value = text.find(middle), at = text.rfind(range);
  if (value == text.npos || at == text.npos || at < value) return std::nullopt;
  std::string given = text.substr(value + middle.size(), at - value - middle.size());
  std::string bounds = text.substr(at + range.size());
  for (auto zeros = bounds.find(".000000"); zeros != bounds.npos; zeros = bounds.find(".000000"))
    bounds.erase(zeros, 7);  // as CLI11 writes the float 86400
  return fmt::format("invalid value `{}` for {}: expected a number from {}", given, text.substr(0, value), bounds);
}

// CLI11's message is `--format excludes --splits`.
std::string as_excluded(const std::string& text) {
  static constexpr std::string_view middle = " excludes ";
  auto at = text.find(middle);
  if (at == text.npos) return text;
  return text.substr(0, at) + " cannot be combined with " + text.substr(at + middle.size());
}

// CLI11's message is `Could not convert: --threads = abc`.
std::string as_wrong_number(const std::string& text) {
  static constexpr std::string_view begin = "Could not convert: ";
  auto equals = text.find(" = ");
  if (!text.starts_with(begin) || equals == text.npos) return text;
  return "invalid value `" + text.substr(equals + 3) + "` for " + text.substr(begin.size(), equals - begin.size());
}

// CLI11's message is `--plan: At Most 1 required but received 2`, `--from: 2 required TEXT missing`, or a minimum
// number.
std::string as_wrong_count(const std::string& text) {
  static constexpr std::string_view most = ": At Most ", override = " was given a disallowed flag override";
  if (auto at = text.find(override); at != text.npos) return text.substr(0, at) + " takes no value";
  auto colon = text.find(": ");
  std::string option = text.substr(0, colon);
  if (auto at = text.find(most); at != text.npos) {
    const int each = std::atoi(text.c_str() + at + most.size()), words = std::atoi(text.c_str() + text.rfind(' ') + 1);
    const int times = words / std::max(each, 1);
    return option + " is given " + (times == 2 ? "twice" : std::to_string(times) + " times");
  }
  std::size_t digits = text.find_first_of("0123456789", colon == text.npos ? 0 : colon);
  if (digits == text.npos || text.substr(digits, 2) == "1 ") return option + " needs a value";
  return option + " needs " + text.substr(digits, text.find(' ', digits) - digits) + " values";
}

std::string join(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

// The value of --name=VALUE or --name VALUE anywhere on the line: needed before the line is parsed.
std::string early_value(int argc, const char* const* argv, std::string_view name, std::string otherwise) {
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (argument == "--") break;
    if (argument.starts_with(name) && argument.substr(name.size()).starts_with("="))
      return std::string(argument.substr(name.size() + 1));
    if (argument == name && i + 1 < argc) return argv[i + 1];
  }
  return otherwise;
}

}  // namespace

CommandLine::CommandLine() {
  declare([](std::string_view) { return true; });
}

CommandLine::CommandLine(std::span<const char* const> words) {
  declare([&](std::string_view command) { return std::find(words.begin(), words.end(), command) != words.end(); });
}

template <class Wanted>
void CommandLine::declare(Wanted wanted) {
  app_.set_help_flag("-h,--help", "Print this help and exit");
  app_.set_version_flag("--version", version_text());
  app_.failure_message(CLI::FailureMessage::simple);
  app_.footer("`tapc help COMMAND` shows a command's options, `tapc explain CODE` explains a message.");
  add_message_options(app_);
  for (const Command& command : commands()) {
    CLI::App* sub = app_.add_subcommand(std::string(command.name), std::string(command.summary));
    if (!wanted(command.name)) continue;
    sub->set_help_flag("-h,--help", "Print this help and exit");
    actions_.emplace_back(sub, command.declare(*sub));
    add_message_options(*sub);
  }
  // An option takes exactly its number of words: what follows is a FILE or another option.
  for (auto& [sub, action] : actions_)
    for (CLI::Option* option : sub->get_options())
      if (!option->get_lnames().empty() || !option->get_snames().empty()) option->allow_extra_args(false);
}

void CommandLine::add_message_options(CLI::App& app) {
  app.add_option("--message-format", message_format_, "Format of messages: human, or json (one object per line)")
      ->check(CLI::IsMember({"human", "json"}))
      ->group("Messages");
  app.add_option(
         "--color", colour_,
         "Colour messages, and pictures in a terminal: auto (on a terminal, unless NO_COLOR is set), always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->group("Messages");
}

void CommandLine::apply_message_options(Session& session) const {
  session.message_format = message_format_ == "json" ? MessageFormat::json : MessageFormat::human;
  ColourChoice choice = colour_ == "always"  ? ColourChoice::always
                        : colour_ == "never" ? ColourChoice::never
                                             : ColourChoice::automatic;
  session.colour = use_colour(choice, STDERR_FILENO);
  session.output_colour = use_colour(choice, STDOUT_FILENO);
}

const CLI::App& CommandLine::chosen() const {
  for (const auto& [sub, action] : actions_)
    if (sub->parsed()) return *sub;
  return app_;
}

std::string CommandLine::usage() const {
  const CLI::App& app = chosen();
  std::string name = &app == &app_ ? "tapc" : "tapc " + app.get_name();
  std::string text = CLI::Formatter().make_usage(&app, name);
  std::string line;
  for (char c : text)
    if (c != '\n') line += c;
  return line.starts_with("Usage: ") ? "usage: " + line.substr(7) : line;
}

Failure CommandLine::wrong(std::string message, std::string help) const {
  Diagnostic diagnostic(Code::command_line, Span{}, std::move(message));
  diagnostic.note(usage());
  std::string name = &chosen() == &app_ ? "tapc" : "tapc " + chosen().get_name();
  diagnostic.help(help.empty() ? "`" + name + " --help` lists the options" : std::move(help));
  return {exit_code::wrong_command_line, std::move(diagnostic)};
}

Failure CommandLine::no_command(const std::string& name) const {
  std::vector<std::string> names = command_names();
  auto near = did_you_mean(name, names);
  return wrong(fmt::format("unknown command `{}`", name),
               near ? "did you mean `" + *near + "`?" : "the commands are " + join(names, ", "));
}

Failure CommandLine::unexpected_argument(const std::string& argument) const {
  if (!argument.starts_with("-") && &chosen() == &app_) return no_command(argument);  // after `--color=never`
  if (!argument.starts_with("-")) return wrong("`" + argument + "` is an unexpected argument");
  std::string name = argument.substr(0, argument.find('='));
  auto near = did_you_mean(name, option_names(chosen()));
  return wrong("unknown option `" + name + "`", near ? "did you mean `" + *near + "`?" : "");
}

void CommandLine::parse(Session& session, int argc, const char* const* argv) {
  message_format_ = early_value(argc, argv, "--message-format", message_format_);
  colour_ = early_value(argc, argv, "--color", colour_);
  apply_message_options(session);
  try {
    app_.parse(argc, argv);
  } catch (const CLI::CallForHelp&) { throw; } catch (const CLI::CallForVersion&) {
    throw;
  } catch (const CLI::ParseError& error) {
    std::string text = error.what();
    if (auto choice = as_wrong_choice(text)) {
      auto near = did_you_mean(choice->given, choice->choices);
      throw wrong("invalid value `" + choice->given + "` for " + choice->option + ": expected one of " +
                      join(choice->choices, ", "),
                  near ? "did you mean `" + *near + "`?" : "");
    }
    if (dynamic_cast<const CLI::ExcludesError*>(&error)) throw wrong(as_excluded(text));
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) throw wrong(as_wrong_count(text));
    if (dynamic_cast<const CLI::ConversionError*>(&error)) throw wrong(as_wrong_number(text));
    if (auto range = as_out_of_range(text)) throw wrong(*range);
    // An unknown option is probably why something else is missing, so it is reported first.
    for (const std::string& argument : app_.remaining(true))
      if (argument.starts_with("-") && argument != "--") throw unexpected_argument(argument);
    if (dynamic_cast<const CLI::ExtrasError*>(&error) && !app_.remaining(true).empty())
      throw unexpected_argument(app_.remaining(true).front());
    throw wrong(text);
  }
  apply_message_options(session);
}

// `tapc help`, `tapc help run`: the same as --help.
int CommandLine::help(Session& session, int argc, const char* const* argv) {
  std::string name = argc > 2 ? argv[2] : "--help";
  const char* help_arguments[] = {argv[0], name.c_str(), "--help"};
  if (argc > 3) throw wrong(fmt::format("`{}` is an unexpected argument", argv[3]), "write `tapc help COMMAND`");
  return run(session, argc > 2 ? 3 : 2, help_arguments);
}

int CommandLine::run(Session& session, int argc, const char* const* argv) {
  if (argc > 1 && argv[1] == std::string_view("help")) return help(session, argc, argv);
  if (argc > 1 && argv[1][0] != '-') {  // CLI11 would only report a missing command
    std::vector<std::string> names = command_names();
    if (std::find(names.begin(), names.end(), argv[1]) == names.end()) {
      apply_message_options(session);
      throw no_command(argv[1]);
    }
  }
  try {
    parse(session, argc, argv);
  } catch (const CLI::CallForHelp&) {
    session.print(chosen().help(&chosen() == &app_ ? "" : "tapc"));
    return exit_code::done;
  } catch (const CLI::CallForVersion&) {
    session.print(version_text() + "\n");
    return exit_code::done;
  }
  for (const auto& [sub, action] : actions_)
    if (sub->parsed()) return action(session);
  throw wrong("missing command", "the commands are " + join(command_names(), ", "));
}

std::vector<CommandWords> CommandLine::words() const {
  auto describe = [](const CLI::App& app) {
    CommandWords words{app.get_name(), app.get_description(), {}};
    for (const CLI::Option* option : app.get_options()) {
      OptionWords one;
      for (const std::string& name : option->get_snames()) one.names.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
      if (one.names.empty()) continue;  // a positional argument
      one.summary = option->get_description();
      one.takes_value = option->get_type_size() != 0;
      if (auto choice =
              as_wrong_choice("o: x not in " + option->get_type_name().substr(std::min(
                                                   option->get_type_name().find('{'), option->get_type_name().size()))))
        one.choices = choice->choices;  // TEXT:{human,json}
      words.options.push_back(std::move(one));
    }
    return words;
  };
  std::vector<CommandWords> all{describe(app_)};
  for (const CLI::App* sub : app_.get_subcommands(nullptr)) all.push_back(describe(*sub));
  return all;
}

}  // namespace tap::driver
