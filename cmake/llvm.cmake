# LLVM and LLD, behind tap_llvm.
#
# They are linked statically, with the processors that tapc compiles for: to load libLLVM.so, with its 190,000 relocations and its
# options of every processor, takes 40 ms, a quarter of what a small program takes to compile. Sanitizers get the shared library:
# one binary would have functions of LLVM's headers once, as instrumented here or as compiled there, for both.
set(tap_llvm_targets X86 AArch64)

find_package(LLVM 22.1 REQUIRED CONFIG PATHS /usr/lib/llvm-22/lib/cmake/llvm NO_DEFAULT_PATH)
find_package(LLD REQUIRED CONFIG PATHS /usr/lib/llvm-22/lib/cmake/lld NO_DEFAULT_PATH)

add_library(tap_llvm INTERFACE)
target_include_directories(tap_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
if(TAP_SANITIZE)
  target_link_libraries(tap_llvm INTERFACE lldELF lldCommon LLVM)
else()
  # LLD's link-time optimisation, which tapc has no use for, names every processor and Polly. These stand for them, or the linker
  # would add them all.
  set(left_out "#include <llvm/Plugins/PassPlugin.h>\n\nllvm::PassPluginLibraryInfo getPollyPluginInfo() { return {}; }\n\nextern \"C\" {\n")
  foreach(processor ${LLVM_TARGETS_TO_BUILD})
    if(NOT processor IN_LIST tap_llvm_targets)
      foreach(part TargetInfo Target TargetMC AsmParser AsmPrinter)
        string(APPEND left_out "void LLVMInitialize${processor}${part}() {}\n")
      endforeach()
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/llvm_left_out.cpp CONTENT "${left_out}}\n" @ONLY)
  add_library(tap_llvm_left_out STATIC ${CMAKE_BINARY_DIR}/generated/llvm_left_out.cpp)
  target_include_directories(tap_llvm_left_out SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})

  set_target_properties(LLVMExtensions PROPERTIES INTERFACE_LINK_LIBRARIES LLVMSupport)  # without Polly

  llvm_map_components_to_libnames(llvm_libraries ${tap_llvm_targets} Passes ExecutionEngine RuntimeDyld Option ObjCopy LTO DTLTO)

  # The constructors of LLVM's static objects, most of them options, take 10 ms. In these copies of its libraries they stand in a
  # section of their own, and run when LLVM is first needed (backend/llvm/start_llvm.h), which in many commands is never.
  set(started_late lldELF lldCommon ${llvm_libraries})
  set(dependencies ${started_late})
  while(dependencies)
    list(POP_FRONT dependencies library)
    get_target_property(further ${library} INTERFACE_LINK_LIBRARIES)
    foreach(other IN LISTS further)
      if(TARGET ${other} AND other MATCHES "^(LLVM|lld)" AND NOT other IN_LIST started_late)
        list(APPEND started_late ${other})
        list(APPEND dependencies ${other})
      endif()
    endforeach()
  endwhile()
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/llvm)
  foreach(library IN LISTS started_late)
    get_target_property(configuration ${library} IMPORTED_CONFIGURATIONS)
    get_target_property(original ${library} IMPORTED_LOCATION_${configuration})
    cmake_path(GET original FILENAME name)
    set(copy ${CMAKE_BINARY_DIR}/llvm/${name})
    if(NOT EXISTS ${copy} OR ${original} IS_NEWER_THAN ${copy})
      execute_process(COMMAND ${CMAKE_OBJCOPY} --rename-section .init_array=tap_llvm_start,alloc,load,data,contents ${original} ${copy}.new
        COMMAND_ERROR_IS_FATAL ANY)
      file(RENAME ${copy}.new ${copy})  # complete, or not there
    endif()
    set_target_properties(${library} PROPERTIES IMPORTED_LOCATION_${configuration} ${copy})
  endforeach()
  target_link_libraries(tap_llvm INTERFACE $<TARGET_FILE:lldELF> $<TARGET_FILE:lldCommon> tap_llvm_left_out ${llvm_libraries})
endif()
