# cmake -DSOURCE=DIR -DOUT=FILE -P commit.cmake
#
# Writes the source OUT with the commit of the checkout SOURCE, or without one where the sources are no checkout. A file that would be
# the same stays as it is, so that nothing is compiled again.
cmake_policy(VERSION 3.25)
set(commit "")
if(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#include \"compiler/driver/version.h\"\nconst char tap::driver::commit[] = \"@commit@\";\n" @ONLY)
