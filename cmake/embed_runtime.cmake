# What compiled libraries carry of the runtime, and what a program of its own begins with: each one object, without the C++
# library, exceptions or sanitizers, the same bytes wherever it is built. They become a part of tap_backend.
function(tap_embed_runtime source symbol)
  set(target tap_embedded_${symbol})
  add_library(${target} OBJECT ${CMAKE_SOURCE_DIR}/runtime/embedded/${source})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR})
  set_target_properties(${target} PROPERTIES COMPILE_OPTIONS
    "-O2;-g0;-fPIC;-fno-exceptions;-fno-rtti;-fno-stack-protector;-fno-asynchronous-unwind-tables;-fvisibility=hidden;-fno-lto;-fno-sanitize=all;-ffunction-sections;-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.")
  set(out ${CMAKE_BINARY_DIR}/generated/embed/${symbol}.cpp)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} "-DIN=$<TARGET_OBJECTS:${target}>" -DOUT=${out} -DSYMBOL=${symbol}
            -P ${CMAKE_SOURCE_DIR}/cmake/embed_file.cmake
    DEPENDS ${target} $<TARGET_OBJECTS:${target}> ${CMAKE_SOURCE_DIR}/cmake/embed_file.cmake)
  target_sources(tap_backend PRIVATE ${out})
endfunction()
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated/embed)
tap_embed_runtime(executor.cpp runtime_object)
tap_embed_runtime(standalone.cpp standalone_object)
