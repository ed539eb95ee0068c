# What compiled libraries carry of the runtime: one object, without the C++ library, exceptions or sanitizers, the same bytes
# wherever it is built. It becomes a part of tap_backend.
add_library(tap_embedded_runtime OBJECT ${CMAKE_SOURCE_DIR}/runtime/embedded/executor.cpp)
target_include_directories(tap_embedded_runtime PRIVATE ${CMAKE_SOURCE_DIR})
set_target_properties(tap_embedded_runtime PROPERTIES COMPILE_OPTIONS
  "-O2;-g0;-fPIC;-fno-exceptions;-fno-rtti;-fno-stack-protector;-fno-asynchronous-unwind-tables;-fvisibility=hidden;-fno-lto;-fno-sanitize=all;-ffunction-sections;-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.")
set(TAP_RUNTIME_EMBED ${CMAKE_BINARY_DIR}/generated/embed/runtime_object.cpp)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated/embed)
add_custom_command(
  OUTPUT ${TAP_RUNTIME_EMBED}
  COMMAND ${CMAKE_COMMAND} "-DIN=$<TARGET_OBJECTS:tap_embedded_runtime>" -DOUT=${TAP_RUNTIME_EMBED} -DSYMBOL=runtime_object
          -P ${CMAKE_SOURCE_DIR}/cmake/embed_file.cmake
  DEPENDS tap_embedded_runtime $<TARGET_OBJECTS:tap_embedded_runtime> ${CMAKE_SOURCE_DIR}/cmake/embed_file.cmake)
target_sources(tap_backend PRIVATE ${TAP_RUNTIME_EMBED})
