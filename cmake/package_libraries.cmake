# A part of the installation (cmake/package.cmake): the shared libraries that `programs` load, but for those of every Debian, and
# the copyright notices of the packages that they and the libraries within `programs` come from.
file(GET_RUNTIME_DEPENDENCIES
  RESOLVED_DEPENDENCIES_VAR libraries
  EXECUTABLES ${programs}
  PRE_EXCLUDE_REGEXES "^(ld-linux.*|libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\\+\\+)\\.so\\.")
set(prefix $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX})
file(MAKE_DIRECTORY ${prefix}/lib/tapestry/lib ${prefix}/share/doc/tapestry/copyright)
foreach(library IN LISTS libraries)
  get_filename_component(name ${library} NAME)  # as it is asked for; a link to a file of a longer name
  get_filename_component(file ${library} REALPATH)
  file(COPY_FILE ${file} ${prefix}/lib/tapestry/lib/${name})
  file(CHMOD ${prefix}/lib/tapestry/lib/${name} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  string(REGEX REPLACE "^/usr/lib/" "/lib/" short ${file})  # dpkg knows some files by the one name, some by the other
  execute_process(COMMAND dpkg-query -S ${file} ${short} OUTPUT_VARIABLE owner ERROR_QUIET)
  string(REGEX MATCH "^[^:]+" package "${owner}")
  set(notice /usr/share/doc/${package}/copyright)
  if(NOT package OR NOT EXISTS ${notice})
    message(FATAL_ERROR "${file}: no Debian package has it, so its copyright is unknown")
  endif()
  list(APPEND packages ${package})
endforeach()
foreach(package IN LISTS packages ITEMS
        libisl-dev libgmp-dev libxxhash-dev zlib1g-dev libantlr4-runtime-dev llvm-22-dev liblld-22-dev)
  get_filename_component(notice /usr/share/doc/${package}/copyright REALPATH)
  file(COPY_FILE ${notice} ${prefix}/share/doc/tapestry/copyright/${package})
endforeach()
