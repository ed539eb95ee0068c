# lib/std.tap becomes a string inside tapc, so that one file is all there is to install.
set(TAP_EMBED_DIR ${CMAKE_BINARY_DIR}/generated/embed)
file(MAKE_DIRECTORY ${TAP_EMBED_DIR})
add_custom_command(
  OUTPUT ${TAP_EMBED_DIR}/std_tap.cpp
  COMMAND ${CMAKE_COMMAND} -DIN=${CMAKE_SOURCE_DIR}/lib/std.tap -DOUT=${TAP_EMBED_DIR}/std_tap.cpp
          -DSYMBOL=std_tap -P ${CMAKE_SOURCE_DIR}/cmake/embed_file.cmake
  DEPENDS ${CMAKE_SOURCE_DIR}/lib/std.tap ${CMAKE_SOURCE_DIR}/cmake/embed_file.cmake)
target_sources(tap_driver PRIVATE ${TAP_EMBED_DIR}/std_tap.cpp)
