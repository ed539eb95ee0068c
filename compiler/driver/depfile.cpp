#include "compiler/driver/depfile.h"

#include <algorithm>

#include "compiler/driver/compile_file.h"
#include "compiler/driver/standard_library.h"
#include "runtime/failure.h"
#include "runtime/tensors/input_spec.h"

namespace tap::driver {
namespace {

void add_once(std::vector<std::string>& paths, const std::string& path) {
  if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
}

// For make, Ninja and CMake. A backslash stands for itself, except before a space or `#`, where make halves a sequence
// of them.
std::string make_word(const std::string& path) {
  if (path.find_first_of("\r\n") != path.npos)
    throw wrong_command(Code::command_line, quoted(path) + " has a line break, which a depfile cannot hold",
                        "rename the file");
  std::string word;
  for (std::size_t k = 0; k < path.size(); ++k) {
    if (path[k] == '$') word += '$';
    if (path[k] == ' ' || path[k] == '\t' || path[k] == '#') {
      for (std::size_t before = k; before > 0 && path[before - 1] == '\\'; --before) word += '\\';
      word += '\\';
    }
    word += path[k];
  }
  return word;
}

}  // namespace

std::vector<std::string> files_read(const Session& session) {
  std::vector<std::string> paths;
  for (std::size_t k = 0; k < session.sources.size(); ++k)
    if (const SourceFile& file = session.sources.file(FileId(k)); file.text() != embedded::std_tap)
      add_once(paths, file.path());
  return paths;
}

std::string depfile(const std::string& output, const Session& session, const SourceOptions& options) {
  std::vector<std::string> paths = files_read(session);
  for (const std::string& text : options.shapes)
    if (const InputSpec spec = parse_shape_spec(text); std::holds_alternative<FileValue>(spec.value))
      if (const std::string& path = std::get<FileValue>(spec.value).path; !path.empty()) add_once(paths, path);
  std::string rule = make_word(output) + ":";
  for (const std::string& path : paths) rule += " \\\n  " + make_word(path);
  return rule + "\n";
}

}  // namespace tap::driver
