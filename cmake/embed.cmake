# Texts that become part of tapc, so that one file is all there is to install: lib/std.tap, the
# page of reports and the pages of docs/codes.
set(TAP_EMBED_DIR ${CMAKE_BINARY_DIR}/generated/embed)
file(MAKE_DIRECTORY ${TAP_EMBED_DIR})

if(EXISTS ${CMAKE_SOURCE_DIR}/lib/std.tap)
  add_custom_command(
    OUTPUT ${TAP_EMBED_DIR}/std_tap.cpp
    COMMAND ${CMAKE_COMMAND} -DIN=${CMAKE_SOURCE_DIR}/lib/std.tap -DOUT=${TAP_EMBED_DIR}/std_tap.cpp
            -DSYMBOL=std_tap -P ${CMAKE_SOURCE_DIR}/cmake/embed_file.cmake
    DEPENDS ${CMAKE_SOURCE_DIR}/lib/std.tap ${CMAKE_SOURCE_DIR}/cmake/embed_file.cmake)
  target_sources(tap_driver PRIVATE ${TAP_EMBED_DIR}/std_tap.cpp)
endif()

add_custom_command(
  OUTPUT ${TAP_EMBED_DIR}/report_page.cpp
  COMMAND ${CMAKE_COMMAND} -DIN=${CMAKE_SOURCE_DIR}/report/built/page.html -DOUT=${TAP_EMBED_DIR}/report_page.cpp
          -DSYMBOL=report_page -P ${CMAKE_SOURCE_DIR}/cmake/embed_file.cmake
  DEPENDS ${CMAKE_SOURCE_DIR}/report/built/page.html ${CMAKE_SOURCE_DIR}/cmake/embed_file.cmake)
target_sources(tap_driver PRIVATE ${TAP_EMBED_DIR}/report_page.cpp)

file(GLOB code_pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/codes/T????.md)
add_custom_command(
  OUTPUT ${TAP_EMBED_DIR}/explanations.cpp
  COMMAND ${CMAKE_COMMAND} -DDIR=${CMAKE_SOURCE_DIR}/docs/codes -DOUT=${TAP_EMBED_DIR}/explanations.cpp
          -P ${CMAKE_SOURCE_DIR}/cmake/embed_explanations.cmake
  DEPENDS ${code_pages} ${CMAKE_SOURCE_DIR}/cmake/embed_explanations.cmake)
target_sources(tap_driver PRIVATE ${TAP_EMBED_DIR}/explanations.cpp)
