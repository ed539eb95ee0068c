# find_package(Tapestry): programs in Tap as libraries of a CMake project.
#
#   tapestry_add_program(mlp mlp.tap ARGUMENTS --dim batch=64)
#   target_link_libraries(server PRIVATE mlp)              #include "mlp.h": mlp_prepare, mlp_run, …
#
# The functions' names begin with the target's name, or with NAME. `tapc` runs again when a file changes that it read: the
# source, the modules that it uses, a plan.
cmake_minimum_required(VERSION 3.20)  # depfiles for every generator

get_filename_component(TAPESTRY_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(TAPESTRY_TAPC "${TAPESTRY_PREFIX}/bin/tapc")
set(TAPESTRY_RUNTIME_SOURCE "${TAPESTRY_PREFIX}/share/tapestry/runtime/embedded/executor.cpp")  # for other processors: see docs

function(tapestry_add_program target source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "NAME" "ARGUMENTS")
  if(NOT arg_NAME)
    set(arg_NAME ${target})
  endif()
  get_filename_component(source "${source}" ABSOLUTE)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.tapestry")
  file(MAKE_DIRECTORY "${folder}")
  set(library "${folder}/lib${target}.so")
  add_custom_command(
    OUTPUT "${library}"
    BYPRODUCTS "${folder}/lib${target}.h" "${folder}/lib${target}.json" "${folder}/${target}.h"
    COMMAND "${TAPESTRY_TAPC}" compile "${source}" -o "${library}" "--depfile=${folder}/${target}.d" "--name=${arg_NAME}"
            ${arg_ARGUMENTS}
    COMMAND "${CMAKE_COMMAND}" -E copy "${folder}/lib${target}.h" "${folder}/${target}.h"
    DEPENDS "${source}" "${TAPESTRY_TAPC}"
    DEPFILE "${folder}/${target}.d"
    COMMENT "Compiling ${source} with tapc"
    VERBATIM)
  add_custom_target(${target}_tapestry DEPENDS "${library}")
  add_library(${target} SHARED IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${library}" IMPORTED_SONAME "lib${target}.so"
                        INTERFACE_INCLUDE_DIRECTORIES "${folder}")
  add_dependencies(${target} ${target}_tapestry)
endfunction()
