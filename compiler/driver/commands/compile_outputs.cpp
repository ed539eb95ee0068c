#include "compiler/driver/commands/compile_outputs.h"

#include <algorithm>
#include <cctype>

#include "compiler/driver/commands/output_ending.h"
#include "runtime/failure.h"
#include "support/quoted.h"

namespace tap::driver {
namespace {

constexpr OutputKind kinds_of_emit[] = {{"obj", ".o", "an object file"},
                                        {"exe", "", "an executable that reads and writes .npy files"},
                                        {"llvm", ".ll", "LLVM IR as text"},
                                        {"asm", ".s", "assembly"},
                                        {"loops", ".loops", "the loops of the kernels"},
                                        {"schedule", ".schedule", "the schedule"},
                                        {"mlir", ".mlir", "the program in the MLIR dialects linalg and shard"},
                                        {"py", "_program.py", "a Python module"},
                                        {"cmake", "-config.cmake", "a CMake target"},
                                        {"pc", ".pc", "a pkg-config file"}};
constexpr std::string_view of_library[] = {"py", "cmake", "pc"};

bool describes_a_library(std::string_view word) {
  return std::find(std::begin(of_library), std::end(of_library), word) != std::end(of_library);
}

[[noreturn]] void refuse_ending(const std::string& output) {
  std::string known = "use .so for a library";
  for (const OutputKind& kind : kinds_of_emit)
    if (!kind.ending.empty() && !describes_a_library(kind.word))
      known += ", " + std::string(kind.ending) + " for " + std::string(kind.what);
  throw unknown_ending("compile", output, known);
}

void require_plain_library(const CompileOutputs& outputs) {
  bool plain = std::all_of(outputs.library.begin(), outputs.library.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '.' || c == '_' || c == '-' || c == '+';
  });
  if (!plain && (outputs.includes("cmake") || outputs.includes("pc")))
    throw wrong_command(Code::command_line,
                        tap::quoted(outputs.library) + " is not a valid file name in CMake and pkg-config files",
                        "use letters, digits and `._-+`");
}

}  // namespace

std::span<const OutputKind> output_kinds() { return kinds_of_emit; }

bool CompileOutputs::includes(std::string_view word) const {
  return std::find(kinds.begin(), kinds.end(), word) != kinds.end();
}
std::string CompileOutputs::folder() const { return stem.substr(0, stem.size() - base_name(stem).size()); }
std::string CompileOutputs::header() const { return base_name(stem) + ".h"; }

CompileOutputs compile_outputs(const std::string& output, const std::vector<std::string>& emit) {
  CompileOutputs outputs{output, base_name(output), true, emit};
  const std::string whole = base_name(output);
  const std::string_view ending = whole == ".so" ? ".so" : ending_of(output);
  if (whole.empty() || whole == "." || whole == ".." || whole == ".so")
    throw wrong_command(Code::command_line, tap::quoted(output) + " does not name a file", "write -o libmlp.so");
  outputs.stem.resize(output.size() - ending.size());
  if (ending.empty()) outputs.library += ".so";
  if (ending.empty() || ending == ".so") return require_plain_library(outputs), outputs;

  auto kind = std::find_if(std::begin(kinds_of_emit), std::end(kinds_of_emit),
                           [&](const OutputKind& known) { return known.ending == ending; });
  if (kind == std::end(kinds_of_emit) || describes_a_library(kind->word)) refuse_ending(output);
  for (const std::string& word : emit)
    if (describes_a_library(word))
      throw wrong_command(
          Code::command_line,
          "--emit=" + word + " describes a library, and " + tap::quoted(output) + " is " + std::string(kind->what),
          "write the library: -o " + base_name(outputs.stem) + ".so");
  outputs.is_library = false;
  if (!outputs.includes(kind->word)) outputs.kinds.emplace_back(kind->word);
  return outputs;
}

}  // namespace tap::driver
