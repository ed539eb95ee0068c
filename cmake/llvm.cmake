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

  llvm_map_components_to_libnames(llvm_libraries ${tap_llvm_targets} Passes OrcJIT ObjCopy LTO DTLTO)
  target_link_libraries(tap_llvm INTERFACE $<TARGET_FILE:lldELF> $<TARGET_FILE:lldCommon> tap_llvm_left_out ${llvm_libraries})
endif()
