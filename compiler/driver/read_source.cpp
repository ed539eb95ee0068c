#include "compiler/driver/read_source.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "compiler/driver/reproducer.h"
#include "support/phase.h"
#include "support/read_file.h"

namespace tap::driver {
namespace {

Failure refused(const std::string& path, const FileRefusal& refusal) {
  auto failure = [](int exit_code, Code code, std::string message) {
    return Failure{exit_code, Diagnostic(code, Span{}, std::move(message))};
  };
  switch (refusal.why) {
    case FileRefusal::Why::not_regular:
      return failure(exit_code::wrong_command_line, Code::source_not_a_file,
                     fmt::format("`{}` is {}; a source must be a regular file", path, refusal.kind));
    case FileRefusal::Why::too_large:
      return failure(
          exit_code::wrong_program, Code::file_too_large,
          fmt::format("`{}` is larger than {} MiB, the limit for source files", path, max_source_bytes >> 20));
    case FileRefusal::Why::system: break;
  }
  int error = refusal.error;
  std::error_code ignored;
  std::string help = error == ENOENT && std::filesystem::is_regular_file(path + ".tap", ignored)
                         ? "did you mean `" + path + ".tap`?"
                         : "";
  bool wrong_name = error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG || error == ELOOP;
  Failure unreadable = failure(wrong_name ? exit_code::wrong_command_line : exit_code::resource,
                               Code::source_unreadable,
                               fmt::format("`{}` cannot be read: {}", path, std::strerror(error)));
  unreadable.diagnostic.help(std::move(help));
  return unreadable;
}

struct OtherFormat {
  std::string_view ending, what;
};
constexpr OtherFormat other_formats[] = {
    {".onnx", "an ONNX model; tapc reads Tap programs, and only the sharding specs of ONNX (`tapc sharding --from`)"},
    {".mlir", "MLIR; tapc writes it (`--emit=mlir`) and does not read it"},
    {".py", "a Python program; tapc reads Tap programs"},
    {".npy", "a tensor; pass it as an input: `-i X=@FILE`"},
    {".npz", "an archive of tensors; pass them as inputs: `-i @FILE`"},
    {".safetensors", "a tensor file; pass it as inputs: `-i @FILE`"},
    {".so", "a compiled library; `tapc run` compiles the source itself"},
};

// A binary file would only be rejected at its first byte that is not text.
void require_source_format(const std::string& path) {
  for (const OtherFormat& other : other_formats)
    if (path.ends_with(other.ending))
      throw Failure{exit_code::wrong_command_line,
                    Diagnostic(Code::command_line, Span{}, fmt::format("`{}` is {}", path, other.what))};
}

}  // namespace

FileId read_source(Session& session, const std::string& path) {
  Phase phase("reading the source");
  if (path.find('\0') != path.npos)
    throw Failure{exit_code::wrong_command_line,
                  Diagnostic(Code::source_unreadable, Span{}, "a file name contains a NUL byte")};
  require_source_format(path);
  auto read = read_regular_file(path, max_source_bytes);
  if (const auto* refusal = std::get_if<FileRefusal>(&read)) throw refused(path, *refusal);
  std::string& text = std::get<std::string>(read);
  remember_for_reproducer(path, text);
  return session.sources.add(path, std::move(text));
}

}  // namespace tap::driver
