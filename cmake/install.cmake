# cmake --install BUILD --prefix DIR: the programs, the CMake package, and the runtime's sources for other processors.
include(CMakePackageConfigHelpers)
install(TARGETS tapc tapc-check RUNTIME DESTINATION bin)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/TapestryConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_SOURCE_DIR}/cmake/TapestryConfig.cmake ${CMAKE_BINARY_DIR}/generated/TapestryConfigVersion.cmake
        DESTINATION lib/cmake/Tapestry)
set(runtime ${CMAKE_SOURCE_DIR}/runtime)
file(GLOB runtime_sources ${runtime}/executor*.cpp ${runtime}/executor*.h ${runtime}/library*.cpp
     ${runtime}/library*.h ${runtime}/processor.* ${runtime}/processors.* ${runtime}/quota.* ${runtime}/mpi_job.*
     ${runtime}/supervise.*)
install(FILES ${runtime_sources} ${runtime}/distribution.h ${runtime}/keeper.h ${runtime}/kernel_abi.h
        ${runtime}/recorder.h ${runtime}/schedule_tables.h
        DESTINATION share/tapestry/runtime)
install(FILES ${runtime}/mpi/shim.h DESTINATION share/tapestry/runtime/mpi)
install(FILES ${runtime}/embedded/executor.cpp DESTINATION share/tapestry/runtime/embedded)
install(FILES ${CMAKE_SOURCE_DIR}/support/alignment.h ${CMAKE_SOURCE_DIR}/support/exit_code.h
        ${CMAKE_SOURCE_DIR}/support/large_memory.h
        ${CMAKE_SOURCE_DIR}/support/portions.h
        DESTINATION share/tapestry/support)

# Man pages, made from the help of tapc. Without Python there are none.
if(EXISTS /usr/bin/python3)
  install(CODE "execute_process(COMMAND /usr/bin/python3 \"${CMAKE_SOURCE_DIR}/scripts/man_pages.py\" \"$<TARGET_FILE:tapc>\"
                                \"${CMAKE_BINARY_DIR}/man\" COMMAND_ERROR_IS_FATAL ANY)")
  install(DIRECTORY ${CMAKE_BINARY_DIR}/man/ DESTINATION share/man/man1)
endif()
