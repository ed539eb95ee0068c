// A program as a shared library: its kernels, its schedule and the executor, behind the functions that the generated
// header declares. The linker runs in this process on files in memory; nothing is left on disk.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/llvm/object_compiler.h"
#include "backend/llvm/target.h"
#include "backend/loops/loops.h"

namespace tap::backend {

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
  std::vector<ProcessCode> processes = {};
  std::int64_t identity = 0;  // differs for other programs
};
// As text, all in one module.
struct LibraryText {
  std::string llvm, assembly;  // empty unless requested
  std::string located;         // the assembly again, with `.loc` lines that number statements (print_with_statements)
};
struct TextOptions {
  bool llvm = false, assembly = false, located = false;
};
LibraryText emit(const Library& library, const Target& target, const TextOptions& options);
// The symbol of the kernel list, which the library does not export.
std::string kernel_list(std::string_view prefix);

// Objects to be linked together. Each kernel has its own (object_compiler.h): they are compiled on several threads, and are the
// same that `tapc run` caches.
struct LibraryCode {
  std::string program;          // the exported functions and the schedule
  std::vector<Object> kernels;  // in order; equal ones are repeated
};
struct CodeOptions {
  std::size_t threads = 0;                       // 0: a few, all processors
  std::shared_ptr<KernelCache> cache = nullptr;  // the caller stores the kernels after their self-check
  std::vector<std::string> self_check_key = {};  // by kernel (ObjectCompiler::compile)
};
LibraryCode compile(const Library& library, const Target& target, const CodeOptions& options = {});

// Links the objects with the runtime. Throws Failure, exit 4, with the linker's message. Pre: the target is linkable.
// `name`: the library's file name, by which programs that link it look it up.
std::string link_shared(const LibraryCode& code, const std::string& name);
// Links a program that reads and writes files (runtime/embedded/standalone.cpp).
std::string link_program(const LibraryCode& code);
// One object, in which only the exported functions are global. Without the runtime if the target is not linkable.
std::string link_relocatable(const LibraryCode& code, const Target& target);

// In hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace tap::backend
