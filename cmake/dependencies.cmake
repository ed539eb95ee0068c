# What comes from Debian, each behind a target of ours. Small libraries are linked statically: to load one takes the best part of
# a millisecond, of every command.
set(ZLIB_USE_STATIC_LIBS ON)
find_package(fmt REQUIRED)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(Boost 1.74 REQUIRED)  # Boost.Graph is used header-only, in ir/*graph*.cpp

find_library(TAP_XXHASH libxxhash.a REQUIRED)
find_path(TAP_XXHASH_INCLUDE xxhash.h REQUIRED)
add_library(tap_xxhash INTERFACE)
target_include_directories(tap_xxhash SYSTEM INTERFACE ${TAP_XXHASH_INCLUDE})
target_link_libraries(tap_xxhash INTERFACE ${TAP_XXHASH})

add_library(tap_data_libraries INTERFACE)
target_link_libraries(tap_data_libraries INTERFACE ZLIB::ZLIB nlohmann_json::nlohmann_json)

# isl, statically and with its symbols kept to ourselves: libLLVM exports those of its own copy (Polly's), and they would
# silently win. A test asks isl_version().
find_library(TAP_ISL libisl.a REQUIRED)
find_library(TAP_GMP libgmp.a REQUIRED)
add_library(tap_isl INTERFACE)
target_link_libraries(tap_isl INTERFACE "$<LINK_LIBRARY:WHOLE_ARCHIVE,${TAP_ISL}>" ${TAP_GMP})
target_link_options(tap_isl INTERFACE LINKER:--exclude-libs,libisl.a)
# What isl asks for memory goes by compiler/frontend/proofs/isl_memory.cpp.
target_link_options(tap_isl INTERFACE LINKER:--wrap=malloc LINKER:--wrap=calloc LINKER:--wrap=realloc)

find_library(TAP_Z3 z3 REQUIRED)
add_library(tap_z3 INTERFACE)
target_link_libraries(tap_z3 INTERFACE ${TAP_Z3})

if(TAP_BACKEND)
  include(cmake/llvm.cmake)

  find_library(TAP_HWLOC hwloc REQUIRED)
  find_path(TAP_HWLOC_INCLUDE hwloc.h REQUIRED)
  add_library(tap_hwloc INTERFACE)
  target_include_directories(tap_hwloc SYSTEM INTERFACE ${TAP_HWLOC_INCLUDE})
  target_link_libraries(tap_hwloc INTERFACE ${TAP_HWLOC})

  find_path(TAP_TOMLPLUSPLUS toml++/toml.h REQUIRED)  # header-only, in compiler/driver/machines/
endif()
