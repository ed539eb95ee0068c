// The outputs of `tapc compile -o OUT --emit=…`: the ending of OUT selects its format, the other files are named
// after it.
//
//   -o mlp.so --emit=py,loops      mlp.so mlp.h mlp.json mlp_program.py mlp.loops
//   -o mlp.o                       mlp.o mlp.h
//   -o mlp.ll                      mlp.ll
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tap::driver {

struct OutputKind {
  std::string_view word, ending, what;
};
// The values of --emit, in the order in which they are written.
std::span<const OutputKind> output_kinds();

struct CompileOutputs {
  std::string stem;        // of all outputs, with folders
  std::string library;     // the library's file, without folders
  bool is_library = true;  // OUT is a shared library: a manifest describes it
  std::vector<std::string> kinds;

  bool includes(std::string_view word) const;
  // Nothing needs machine code.
  bool only_mlir() const { return !is_library && kinds == std::vector<std::string>{"mlir"}; }
  bool has_code() const { return is_library || includes("obj") || includes("exe"); }
  bool has_header() const { return is_library || includes("obj"); }
  std::string folder() const;
  std::string header() const;  // without folders
};

// Throws Failure if OUT's ending is unknown or contradicts --emit.
CompileOutputs compile_outputs(const std::string& output, const std::vector<std::string>& emit);

}  // namespace tap::driver
