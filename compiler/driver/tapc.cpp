#include "compiler/driver/tapc.h"

#include <new>

#include "backend/llvm/memory_failure.h"
#include "compiler/driver/commands/command_line.h"
#include "compiler/driver/failures.h"
#include "compiler/driver/process.h"
#include "compiler/driver/reproducer.h"
#include "compiler/frontend/proofs/isl_memory.h"
#include "runtime/staged_registry.h"
#include "support/memory_failure.h"

namespace tap::driver {

int run_tapc(int argc, const char* const* argv) {
  prepare_process(remove_staged_files);
  end_where_memory_must_suffice(end_without_memory);
  end_where_isl_has_no_memory();
  backend::end_where_llvm_has_no_memory();
  try {
    Session session;  // allocates already
    const int exit_code = guarded(session, [&] {
      session.arguments.assign(argv, argv + argc);
      remember_for_reproducer(session.arguments);
      return CommandLine().run(session, argc, argv);
    });
    session.tell_what_was_written();
    return exit_code;
  } catch (const std::bad_alloc&) { end_without_memory(); }
}

}  // namespace tap::driver
