// A program as a shared library: its kernels, its schedule and the executor, behind the functions that the generated
// header declares. The linker runs in this process on files in memory; nothing is left on disk.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/llvm/kernel_cache.h"
#include "backend/loops/loops.h"

namespace tap::backend {

// A processor to compile for.
struct Target {
  std::string name;    // native, x86-64-v3, …
  std::string triple;  // as LLVM spells it
  std::string cpu;
  std::string features;   // +avx2,+fma,…
  bool linkable = false;  // tapc contains the runtime for it
  bool operator==(const Target&) const = default;
};
std::vector<std::string> target_names();
// Null if the name is unknown.
std::optional<Target> target_named(std::string_view name);
// Features that code for the target may use and this processor lacks: avx512f, …
std::vector<std::string> missing_features(const std::vector<std::string>& required);
// Features that the loader of the code must check, with `missing_features`.
std::vector<std::string> features_of(const Target& target);

// What one process of an MPI job runs (runtime/library.h).
struct ProcessCode {
  std::int64_t rank = 0, ranks = 1, devices = 1;
  std::int64_t longest_step = 0;  // milliseconds
  std::vector<std::int64_t> tables, parts;
};

// The exported functions are PREFIX_prepare and so on; all other symbols are numbered and hidden.
struct Library {
  std::string prefix;
  const std::vector<Kernel>* kernels = nullptr;
  std::vector<std::int64_t> tables;
  bool standalone = false;  // may also be linked to a standalone program
  std::vector<ProcessCode> processes = {};
  std::int64_t identity = 0;  // differs for other programs
};
struct LibraryCode {
  std::string object;          // the program without the runtime
  std::string llvm, assembly;  // empty unless requested
  Digest key = {};             // of the object in the cache
  bool cached = false;         // the object was there
  std::string located;         // the assembly again, with `.loc` lines that number statements (print_with_statements)
};
struct CodeOptions {
  bool llvm = false, assembly = false, located = false;
  KernelCache* cache = nullptr;  // of objects that were tested; the caller stores this one
  std::string checked = {};      // against what they were (check_key)
};
LibraryCode emit(const Library& library, const Target& target, const CodeOptions& options = {});
// The symbol of the object's kernel list, which the library does not export.
std::string kernel_list(std::string_view prefix);
// Whether this processor can run code for the target.
bool runs_here(const Target& target);

// Links the object with the runtime. Throws Failure, exit 4, with the linker's message. Pre: the target is linkable.
// `name`: the library's file name, by which programs that link it look it up.
std::string link_shared(const std::string& object, const std::string& name);
// Links a program that reads and writes files (runtime/embedded/standalone.cpp). Pre: emitted as `standalone`.
std::string link_program(const std::string& object);
std::string link_relocatable(const std::string& object);

// In hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace tap::backend
