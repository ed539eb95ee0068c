// The files next to a compiled library: its manifest, a C header, a Python module, and the CMake and pkg-config files.
// Names from the program occur only in data and comments, escaped; every identifier is the prefix followed by fixed
// words.
#pragma once

#include <string>
#include <vector>

#include "backend/llvm/library.h"
#include "backend/schedule/schedule.h"
#include "compiler/driver/work.h"

namespace tap::driver {

struct LibraryFacts {
  std::string program;  // its name
  std::string prefix;   // of the exported functions
  std::string file;     // of the library, without folders
  std::string header;   // likewise
  std::string library_hash;
  std::size_t library_bytes = 0;
  std::string source_hash, graph_hash, plan;
  backend::Target target;
  std::vector<std::string> features;
  const backend::Schedule* schedule = nullptr;
  std::vector<std::int64_t> processes;  // of the MPI jobs in which it may run
  std::int64_t scratch_bytes = 0;       // per thread, beyond the arena
  ProgramWork work;
};

std::string manifest_text(const LibraryFacts& facts);  // docs/schema/manifest.schema.json
std::string c_header(const LibraryFacts& facts);
std::string python_module(const LibraryFacts& facts);
std::string cmake_config(const LibraryFacts& facts);
std::string pkg_config(const LibraryFacts& facts);

}  // namespace tap::driver
