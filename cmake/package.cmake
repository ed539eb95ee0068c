# make package: BUILD/packages/tapestry_VERSION_ARCH.deb and tapestry-VERSION-Linux-ARCH.tar.gz. Both run on a Debian 12 that has
# libc, libstdc++ and libgcc; every other shared library that tapc loads comes along, in lib/tapestry/lib.
#
# What these libraries load in turn has no path of its own, and is found by the path of the program, if this is DT_RPATH rather
# than DT_RUNPATH.
set_target_properties(tapc tapc-check PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/tapestry/lib")
foreach(program tapc tapc-check)
  target_link_options(${program} PRIVATE LINKER:--disable-new-dtags)
endforeach()

# A component of its own: `cmake --install` uses the libraries that are there.
install(CODE "set(programs $<TARGET_FILE:tapc> $<TARGET_FILE:tapc-check>)" COMPONENT libraries EXCLUDE_FROM_ALL)
install(SCRIPT ${CMAKE_SOURCE_DIR}/cmake/package_libraries.cmake COMPONENT libraries EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME tapestry)
set(CPACK_PACKAGE_CONTACT "The authors of Tapestry <tapestry@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Compiler of tensor expressions that proves and shards them")
set(CPACK_PACKAGE_DESCRIPTION "tapc compiles programs in Tap to native libraries, and tapc-check verifies its certificates.\nBoth bring the shared libraries that they load; LLVM is part of tapc.")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGE_FILE_NAME tapestry-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};tapestry;Unspecified;/" "${CMAKE_BINARY_DIR};tapestry;libraries;/")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL OFF)
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)  # xz takes minutes for LLVM
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.36), libgcc-s1 (>= 12), libstdc++6 (>= 12)")
include(CPack)
