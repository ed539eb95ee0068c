// A program as a shared library: its kernels, its schedule and the executor, behind the functions that the generated
// header declares. The linker runs in this process on files in memory; nothing is left on disk.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/loops/loops.h"

namespace tap::backend {

// A processor to make code for.
struct Target {
  std::string name;    // native, x86-64-v3, …
  std::string triple;  // as LLVM writes it
  std::string cpu;
  std::string features;   // +avx2,+fma,…
  bool linkable = false;  // the runtime that tapc carries is for it
  bool operator==(const Target&) const = default;
};
std::vector<std::string> target_names();
// Null for a name that is none.
std::optional<Target> target_named(std::string_view name);
// What code for the target may use and this processor lacks: avx512f, …
std::vector<std::string> missing_features(const std::vector<std::string>& wanted);
// The features that the loader of the code must check, with `missing_features`.
std::vector<std::string> features_of(const Target& target);

// The exported functions are PREFIX_prepare and so on; all else is numbered and hidden.
struct Library {
  std::string prefix;
  const std::vector<Kernel>* kernels = nullptr;
  std::vector<std::int64_t> tables;
  bool standalone = false;  // is linked to a program of its own, too
};
struct LibraryCode {
  std::string object;          // of the program alone, without the runtime
  std::string llvm, assembly;  // empty unless requested
};
struct CodeOptions {
  bool llvm = false, assembly = false;
};
LibraryCode emit(const Library& library, const Target& target, const CodeOptions& options = {});
// The symbol of the list of kernels in the object, which is not exported from the library.
std::string kernel_list(std::string_view prefix);
// Whether this processor can run code for the target.
bool runs_here(const Target& target);

// Linked with the runtime. Throws Failure, exit 4, with what the linker said. Pre: the target is linkable. `name`: of its file,
// by which those who link with it look for it, wherever the file is then.
std::string link_shared(const std::string& object, const std::string& name);
// A program that reads and writes files (runtime/embedded/standalone.cpp). Pre: emitted as `standalone`.
std::string link_program(const std::string& object);
std::string link_relocatable(const std::string& object);

// In hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace tap::backend
