#include <fmt/format.h>

#include "compiler/driver/bindings/library_files.h"

namespace tap::driver {

// Both find the library next to them, wherever the folder is moved to. The names are those of files that `compile`
// accepts.
std::string cmake_config(const LibraryFacts& facts) {
  return fmt::format(
      R"(# The program that tapc compiled as {1}: target_link_libraries(your_program PRIVATE tapestry::{0})
if(NOT TARGET tapestry::{0})
  add_library(tapestry::{0} SHARED IMPORTED)
  set_target_properties(tapestry::{0} PROPERTIES
    IMPORTED_LOCATION "${{CMAKE_CURRENT_LIST_DIR}}/{1}"
    IMPORTED_SONAME "{1}"
    INTERFACE_INCLUDE_DIRECTORIES "${{CMAKE_CURRENT_LIST_DIR}}")
endif()
)",
      facts.prefix, facts.file);
}

std::string pkg_config(const LibraryFacts& facts) {
  return fmt::format(R"(folder=${{pcfiledir}}

Name: {0}
Description: a tensor program, compiled by tapc
Version: 1
Cflags: -I${{folder}}
Libs: ${{folder}}/{1} -Wl,-rpath,${{folder}}
)",
                     facts.prefix, facts.file);
}

}  // namespace tap::driver
