# tap_generate_parser(target grammar): runs the antlr4 tool at build time and makes a library of what it wrote.
# The tool (4.7) writes u8"" literals for a newer meaning of char: its code alone is compiled with -fno-char8_t.
find_program(TAP_ANTLR antlr4 REQUIRED)
find_package(antlr4-runtime REQUIRED CONFIG)

function(tap_generate_parser target grammar)
  set(dir ${CMAKE_BINARY_DIR}/generated/grammar)
  set(sources ${dir}/TapLexer.cpp ${dir}/TapParser.cpp)
  file(MAKE_DIRECTORY ${dir})
  add_custom_command(
    OUTPUT ${sources} ${dir}/TapLexer.h ${dir}/TapParser.h
    COMMAND ${TAP_ANTLR} -Dlanguage=Cpp -no-visitor -no-listener -Werror -package tap::grammar -encoding UTF-8
            -Xexact-output-dir -o ${dir} ${CMAKE_SOURCE_DIR}/${grammar}
    DEPENDS ${CMAKE_SOURCE_DIR}/${grammar}
    COMMENT "Generating the parser from ${grammar}")
  add_library(${target} STATIC ${sources})
  add_custom_target(generated_sources DEPENDS ${sources})  # all that clang-tidy needs of a build (scripts/tidy.sh)
  target_compile_options(${target} PRIVATE -w PUBLIC -fno-char8_t)
  target_include_directories(${target} SYSTEM PUBLIC ${CMAKE_BINARY_DIR}/generated ${ANTLR4_INCLUDE_DIR})
  # Statically, as its relocations take 3 ms of every command; sanitizers get the shared library, for the reason in llvm.cmake.
  if(TAP_SANITIZE)
    target_link_libraries(${target} PUBLIC antlr4_shared)
  else()
    target_link_libraries(${target} PUBLIC antlr4_static)
  endif()
endfunction()
