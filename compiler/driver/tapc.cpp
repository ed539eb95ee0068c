#include "compiler/driver/tapc.h"

#include <new>

#include "compiler/driver/commands/command_line.h"
#include "compiler/driver/failures.h"
#include "compiler/driver/process.h"
#include "compiler/driver/reproducer.h"
#include "compiler/frontend/proofs/isl_memory.h"
#include "runtime/staged_registry.h"
#include "support/memory_failure.h"
#ifdef TAP_HAVE_BACKEND
#include "backend/llvm/memory_failure.h"
#endif

namespace tap::driver {

int run_tapc(int argc, const char* const* argv) {
  prepare_process(remove_staged_files);
  set_out_of_memory_exit(exit_out_of_memory);
  handle_isl_out_of_memory();
#ifdef TAP_HAVE_BACKEND
  backend::handle_llvm_out_of_memory();
#endif
  try {
    Session session;  // allocates already
    const int exit_code = guarded(session, [&] {
      session.arguments.assign(argv, argv + argc);
      remember_for_reproducer(session.arguments);
      return CommandLine().run(session, argc, argv);
    });
    session.report_written_files();
    return exit_code;
  } catch (const std::bad_alloc&) { exit_out_of_memory(); }
}

}  // namespace tap::driver
