# Compiler cache, fast linker, warnings, sanitizers.
#
# The presets compile at -O1, the release that users get as well as the builds that tests run on: the time of tapc goes into LLVM,
# isl and Z3, so that -O2 makes no difference that one can measure, and costs a third more to compile. The release and ci differ in
# one thing: in ci a warning is an error. Kernels are compiled by LLVM, whatever tapc itself is compiled with.
find_program(TAP_CCACHE ccache)
if(TAP_CCACHE)
  # What uses a precompiled header is only cached with these.
  set(TAP_CCACHE ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${TAP_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TAP_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${TAP_CCACHE})
endif()

find_program(TAP_MOLD mold)
find_program(TAP_LLD ld.lld-22)
if(TAP_MOLD)
  add_link_options(-fuse-ld=mold)
elseif(TAP_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_link_options(-fuse-ld=lld)
endif()

if(NOT TAP_SANITIZE)
  # At a fixed address LLVM's tables need no relocations, and what runs before main stands together: tapc starts 10 ms earlier.
  add_link_options("$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie;LINKER:-z,keep-text-section-prefix>")
endif()

add_link_options(LINKER:--build-id)  # tells cached kernels of one build from those of another
add_compile_options(-Wall -Wextra -Wno-missing-field-initializers)
add_compile_options(-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)  # no path of the build machine in what we ship
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns wrongly about vectors and variants that it inlined.
  add_compile_options(-Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds -Wno-free-nonheap-object -Wno-dangling-pointer)
endif()

if(TAP_SANITIZE)
  add_compile_options(-fsanitize=${TAP_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TAP_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # It would read a function's type from what stands before it: before code that was made at run time stands nothing.
    add_compile_options(-fno-sanitize=function)
  endif()
endif()

if(TAP_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
