// tapc fmt FILE…: formats source files in place. With --check nothing is written, and files that would change are
// listed.
#include <CLI/CLI.hpp>

#include <filesystem>
#include <optional>

#include "compiler/driver/commands/command.h"
#include "compiler/driver/compile_file.h"
#include "compiler/driver/read_source.h"
#include "compiler/frontend/syntax/format.h"
#include "runtime/write_file.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

struct FmtOptions {
  std::vector<std::string> files;
  bool check = false;
};

struct Formatted {
  FileId file;
  std::string text;
};

// Empty if the file does not parse, which is already reported.
std::optional<Formatted> format_file(Session& session, const std::string& path) {
  FileId file = read_source(session, path);
  require_source(session, file);
  Phase phase("formatting");
  Diagnostics diagnostics;
  std::optional<std::string> text = format_source(session.sources, file, {}, diagnostics);
  session.report(diagnostics);
  if (!text) return std::nullopt;
  return Formatted{file, std::move(*text)};
}

// The file itself is replaced, not a link to it.
void replace(const Session& session, const std::string& path, const std::string& text) {
  std::error_code error;
  std::filesystem::path target = std::filesystem::canonical(path, error);
  write_files({{error ? path : target.string(), {text}}});
  session.wrote(path);
}

int format_all(Session& session, const FmtOptions& options) {
  int worst = exit_code::done;
  for (const std::string& path : options.files) {
    std::optional<Formatted> formatted = format_file(session, path);
    if (!formatted) {
      worst = exit_code::wrong_program;
      continue;
    }
    if (formatted->text == session.sources.file(formatted->file).text()) continue;
    if (options.check) {
      session.print(path + "\n");
      worst = exit_code::wrong_program;
    } else {
      replace(session, path, formatted->text);
    }
  }
  return worst;
}

}  // namespace

Action declare_fmt(CLI::App& app) {
  auto options = std::make_shared<FmtOptions>();
  app.add_option("FILE", options->files, "Source files")->required();
  app.add_flag("--check", options->check,
               "Write nothing; list the files that are not formatted; exit code 1 if there are any");
  return [options](Session& session) { return format_all(session, *options); };
}

}  // namespace tap::driver
