// tapc completion SHELL: prints a completion script, generated from the option tree, so that it is always complete.
//
//   source <(tapc completion bash)
#include <fmt/format.h>

#include "compiler/driver/commands/command_line.h"
#include "compiler/driver/commands/shell_words.h"

namespace tap::driver {
namespace {

std::string words(const std::vector<std::string>& list) { return fmt::format("{}", fmt::join(list, " ")); }

std::vector<std::string> command_list(const std::vector<CommandWords>& all) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < all.size(); ++i) names.push_back(all[i].name);
  return names;
}

std::vector<std::string> option_list(const CommandWords& command) {
  std::vector<std::string> names;
  for (const OptionWords& option : command.options) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::string bash_script(const std::vector<CommandWords>& all) {
  std::string values, options;
  for (const CommandWords& command : all) {
    options +=
        fmt::format("    {}) words='{}' ;;\n", &command == &all[0] ? "''" : command.name, words(option_list(command)));
    for (const OptionWords& option : command.options)
      if (!option.choices.empty())
        for (const std::string& name : option.names)
          values += fmt::format("    {}:{}) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n",
                                &command == &all[0] ? "" : command.name, name, words(option.choices));
  }
  return fmt::format(R"(# bash completion for tapc. Use: source <(tapc completion bash)
_tapc() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command= words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in -*) ;; *) command=${{COMP_WORDS[i]}}; break ;; esac
  done
  if [[ $before == = ]]; then before=${{COMP_WORDS[COMP_CWORD-2]}}; fi
  if [[ $word == = ]]; then before=${{COMP_WORDS[COMP_CWORD-1]}} word=; fi
  case $command:$before in
{}  esac
  case $command in
{}  esac
  if [[ -z $command && $word != -* ]]; then words='{}'; fi
  if [[ $word == -* || -z $command ]]; then COMPREPLY=($(compgen -W "$words" -- "$word")); else COMPREPLY=($(compgen -f -- "$word")); fi
}}
complete -o filenames -F _tapc tapc
)",
                     values, options, words(command_list(all)));
}

// In zsh's _arguments, brackets and colons in a description are escaped.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_script(const std::vector<CommandWords>& all) {
  std::string listed, cases;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const CommandWords& command = all[i];
    listed += fmt::format("    {}\n", quoted_for_shell(zsh_text(command.name) + ":" + command.summary));
    cases += fmt::format("      {}) _arguments -s", command.name);
    for (const OptionWords& option : command.options)
      for (const std::string& name : option.names) {
        std::string value = !option.takes_value      ? ""
                            : option.choices.empty() ? ":value:_files"
                                                     : ":value:(" + words(option.choices) + ")";
        bool joined = option.takes_value && name.starts_with("--");
        cases += " \\\n        " +
                 quoted_for_shell(fmt::format("*{}{}[{}]{}", name, joined ? "=" : "", zsh_text(option.summary), value));
      }
    cases += " '*:file:_files' ;;\n";
  }
  return fmt::format(R"(#compdef tapc
# zsh completion for tapc. Use: tapc completion zsh > a file _tapc in a folder of $fpath
_tapc() {{
  local -a listed
  listed=(
{}  )
  if (( CURRENT == 2 )); then
    _describe 'command' listed
  else
    local command=$words[2]
    shift words; (( CURRENT-- ))
    case $command in
{}    esac
  fi
}}
compdef _tapc tapc
)",
                     listed, cases);
}

std::string fish_script(const std::vector<CommandWords>& all) {
  std::string text = "# fish completion for tapc. Use: tapc completion fish | source\n";
  for (std::size_t i = 1; i < all.size(); ++i) {
    const CommandWords& command = all[i];
    text += fmt::format("complete -c tapc -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                        quoted_for_shell(command.summary));
    for (const OptionWords& option : command.options) {
      text += fmt::format("complete -c tapc -n '__fish_seen_subcommand_from {}'", command.name);
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.choices.empty()) text += " -x -a " + quoted_for_shell(words(option.choices));
      else if (option.takes_value) text += " -r";
      text += " -d " + quoted_for_shell(option.summary) + "\n";
    }
  }
  return text;
}

struct Shell {
  std::string_view name;
  std::string (*script)(const std::vector<CommandWords>& all);
};
constexpr Shell shells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

}  // namespace

Action declare_completion(CLI::App& app) {
  auto chosen = std::make_shared<std::string>();
  std::vector<std::string> names;
  for (const Shell& shell : shells) names.emplace_back(shell.name);
  app.add_option("SHELL", *chosen, "The shell")->required()->check(CLI::IsMember(names));
  return [chosen](Session& session) {
    for (const Shell& shell : shells)
      if (shell.name == *chosen) session.print(shell.script(CommandLine().words()));
    return exit_code::done;
  };
}

}  // namespace tap::driver
