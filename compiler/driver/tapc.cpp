#include "compiler/driver/tapc.h"

#include <unistd.h>

#include <new>

#include "backend/llvm/memory_failure.h"
#include "compiler/driver/commands/command_line.h"
#include "compiler/driver/failures.h"
#include "compiler/driver/mpi_host.h"
#include "compiler/driver/process.h"
#include "compiler/driver/reproducer.h"
#include "compiler/driver/supervisor.h"
#include "compiler/frontend/proofs/isl_memory.h"
#include "runtime/staged_registry.h"
#include "support/memory_failure.h"

namespace tap::driver {

int run_tapc(int argc, const char* const* argv) {
  prepare_process(remove_staged_files);
  set_out_of_memory_exit(exit_out_of_memory);
  handle_isl_out_of_memory();
  backend::handle_llvm_out_of_memory();
  try {
    Session session;  // may already run out of memory
    const int exit_code = guarded(session, [&] {
      session.arguments.assign(argv, argv + argc);
      remember_for_reproducer(session.arguments);
      return CommandLine({argv, static_cast<std::size_t>(argc)}).run(session, argc, argv);
    });
    session.report_written_files();
    if (exit_code != 0 && session.quiet) {
      ::sleep(3);  // the launcher ends the job when the first process has reported the same
      session.report_withheld();
    }
    end_supervised();
    MpiHost::leave(exit_code);
    return exit_code;
  } catch (const std::bad_alloc&) { exit_out_of_memory(); }
}

}  // namespace tap::driver
