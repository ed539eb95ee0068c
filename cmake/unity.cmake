# Unity builds, for builds from nothing (users, CI): the sources of a folder are compiled as one. What they share of the standard
# library and of our own types is then compiled once, which takes a third of the time; a change of one source compiles its
# neighbours again, so developers build without (the preset dev). Names in anonymous namespaces must differ among a folder's
# sources.
#
# `tap_unite(TARGET SOURCES…)`, after the target was made, in its folder. Sources of one folder go together in the order of
# their names, but for those of the parser: what ANTLR includes should be seen by no other. What includes the system's <elf.h>
# stays alone: its macros have the names that LLVM gives to constants.
option(TAP_UNITY "Compile the sources of a folder at once" OFF)
set(TAP_UNITY_SIZE 32 CACHE STRING "How many sources are compiled at once, at most")

if(TAP_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-subobject-linkage)  # to g++ a source that is included is a header, whose types others may see
  add_compile_options(--param=ggc-min-heapsize=786432)  # KiB before g++ collects garbage, which takes 5 % of its time
endif()

function(tap_unite target)
  if(NOT TAP_UNITY)
    return()
  endif()
  set(group 0)
  set(count 0)
  set(last "")
  foreach(source IN LISTS ARGN)
    get_filename_component(name ${source} NAME)
    get_filename_component(kind ${source} DIRECTORY)  # names need to differ in one folder only (scripts/lint_names.py)
    file(STRINGS ${source} elf REGEX "^#include <(elf|link)\\.h>" LIMIT_COUNT 1)
    if(elf)
      continue()
    endif()
    if(name MATCHES "^antlr_")
      string(APPEND kind "/antlr")
    endif()
    if(count EQUAL TAP_UNITY_SIZE OR NOT kind STREQUAL last)
      math(EXPR group "${group} + 1")
      set(count 0)
    endif()
    set(last "${kind}")
    math(EXPR count "${count} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# `tap_precompile(TARGET HEADERS…)`: what most sources of a target include. In a unity build a target has few sources, and
# headers of its own would cost more than they save: all libraries share those of tap_support, but for the front end, which
# is compiled with another option (cmake/antlr.cmake).
function(tap_precompile target)
  if(NOT TAP_UNITY OR target MATCHES "^tap_(support|frontend)$")
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM tap_support)
  endif()
endfunction()
