# The shims of `tapc run --mpi`: one for each MPI that is installed, built by its own compiler, since their ABIs differ.
foreach(mpi openmpi mpich)
  find_program(TAP_MPICC_${mpi} mpicc.${mpi})
  if(TAP_MPICC_${mpi})
    set(shim ${CMAKE_BINARY_DIR}/bin/libtapc_mpi_${mpi}.so)
    add_custom_command(OUTPUT ${shim}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/bin
      # MPICH declares MPI_STATUSES_IGNORE as an array that is too short.
      COMMAND ${TAP_MPICC_${mpi}} -O2 -fPIC -shared -fvisibility=hidden -Wall -Wno-stringop-overflow -I${CMAKE_SOURCE_DIR}
              ${CMAKE_SOURCE_DIR}/runtime/mpi/shim.c -o ${shim}
      DEPENDS ${CMAKE_SOURCE_DIR}/runtime/mpi/shim.c ${CMAKE_SOURCE_DIR}/runtime/mpi/shim.h
              ${CMAKE_SOURCE_DIR}/runtime/mpi/chunks.h
      VERBATIM)
    add_custom_target(tapc_mpi_${mpi} ALL DEPENDS ${shim})
    add_dependencies(tapc tapc_mpi_${mpi})  # `make build` is enough for jobs
    install(PROGRAMS ${shim} DESTINATION lib/tapestry COMPONENT mpi EXCLUDE_FROM_ALL)
  endif()
endforeach()
