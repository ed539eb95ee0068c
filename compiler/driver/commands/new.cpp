// tapc new DIR: creates a small example project: a program, and a README with commands to try.
#include <fmt/format.h>
#include <sys/stat.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/shell_words.h"
#include "runtime/staged_registry.h"
#include "runtime/write_file.h"

namespace tap::driver {
namespace {

namespace fs = std::filesystem;

struct ProjectFile {
  std::string_view name;
  std::string_view text;
};

constexpr ProjectFile project_files[] = {
    {"main.tap", R"tap(use std

dim rows = 4, cols = 3

/// Each row divided by its sum.
op normalise(x: T[n, m]) -> (y: T[n, m]) where T: float {
    s[i]    = sum[k] x[i, k]
    y[i, j] = x[i, j] / s[i]
}

program main(X: f32[rows, cols]) -> (Y: f32[rows, cols]) {
    Y = normalise(exp(X))
}
)tap"},
    {"README.md", R"md(# A Tap project

`main.tap` holds one operator, written as equations over cells, and one program.

    tapc check main.tap                                  # proves that every read and write is legal
    tapc run main.tap -i X=iota                          # runs it and prints the result
    tapc run main.tap -i X=rand:42 -o Y=@y.npy           # random input, result into a NumPy file
    tapc run main.tap -i X=rand:42 --dim rows=1000       # another size
    tapc ops normalise --file main.tap                   # what the operator reads, and how it can be sharded
    tapc inspect main.tap --format svg -o main.svg       # its graph as a picture
)md"},
    {".gitignore", "*.npy\n*.npz\n*.svg\n"},
};

[[noreturn]] void fail(const std::string& what, int error) {
  bool wrong = error == EEXIST || error == ENOTEMPTY || error == ENAMETOOLONG;
  throw Failure{
      wrong ? exit_code::wrong_command_line : exit_code::resource,
      Diagnostic(wrong ? Code::command_line : Code::cannot_write, Span{}, what + ": " + std::strerror(error))};
}

// With the permissions that mkdir gives a folder.
void fill(const std::string& folder) {
  std::vector<OutputFile> files;
  for (const ProjectFile& file : project_files)
    files.push_back({folder + "/" + std::string(file.name), {std::string(file.text)}});
  write_files(files);
  mode_t mask = ::umask(0);
  ::umask(mask);
  if (::chmod(folder.c_str(), 0777 & ~mask) != 0) fail("`" + folder + "` cannot be made accessible", errno);
}

// Created next to its final place and renamed, so that an incomplete project never has the requested name.
int make_project(Session& session, const std::string& directory) {
  if (directory.empty())
    throw Failure{
        exit_code::wrong_command_line,
        Diagnostic(Code::command_line, Span{}, "the folder name is empty").help("write a name: tapc new hello")};
  fs::path target = fs::path(directory).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();
  if (target.empty() || target == "." || target == "..")
    fail("`" + directory + "` is not a valid folder for a project", EEXIST);
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(target, ignored)) &&
      !(fs::is_directory(target, ignored) && fs::is_empty(target, ignored)))
    fail("`" + directory + "` was not created", EEXIST);
  std::string staging =
      (target.has_parent_path() ? target.parent_path() / ".tapc-new-XXXXXX" : fs::path(".tapc-new-XXXXXX")).string();
  CommitSection undivided;  // otherwise a signal would leave the folder behind
  if (!::mkdtemp(staging.data())) fail("`" + directory + "` cannot be created", errno);
  try {
    fill(staging);
    fs::rename(staging, target);
  } catch (const fs::filesystem_error& error) {
    fs::remove_all(staging, ignored);
    fail("`" + directory + "` cannot be created", error.code().value());
  } catch (...) {
    fs::remove_all(staging, ignored);
    throw;
  }
  session.print(fmt::format("{} is ready. Try:\n\n  cd {}\n  tapc run main.tap -i X=iota\n", directory,
                            shell_word(directory.starts_with('-') ? "./" + directory : directory)));
  return exit_code::done;
}

}  // namespace

Action declare_new(CLI::App& app) {
  auto directory = std::make_shared<std::string>();
  app.add_option("DIR", *directory, "The folder to create; if it exists, it must be empty")->required();
  return [directory](Session& session) { return make_project(session, *directory); };
}

}  // namespace tap::driver
