#include "compiler/driver/failures.h"

#include <cstring>
#include <new>
#include <system_error>

#include <unistd.h>

#include "compiler/driver/read_plan.h"
#include "compiler/driver/reproducer.h"
#include "compiler/driver/show/written_operations.h"
#include "compiler/driver/unjustified_step.h"
#include "ir/interpret/interpret.h"
#include "runtime/staged_registry.h"
#include "support/check.h"
#include "support/checked.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

int fail(Session& session, int exit_code, Code code, const std::string& message) {
  session.report(Diagnostic(code, Span{}, message));
  return exit_code;
}

int report_out_of_memory() noexcept {
  static constexpr char text[] = "tapc: error[T1202]: out of memory for this program\n";
  [[maybe_unused]] auto written = ::write(STDERR_FILENO, text, sizeof text - 1);
  return exit_code::resource;
}

int out_of_memory(Session& session) {
  try {
    return fail(session, exit_code::resource, Code::out_of_memory, "out of memory for this program");
  } catch (const std::bad_alloc&) { return report_out_of_memory(); }  // not even memory for the message
}

int report_internal_error(const char* what) {
  const char* phase = Phase::of_failure();
  char name[256];
  write_reproducer(phase, what, name);
  std::string line = std::string("tapc: internal error in ") + phase + ": " + what + "; ";
  line += *name ? std::string("reproducer written to ") + name : "the reproducer could not be written";
  line += '\n';
  [[maybe_unused]] auto written = ::write(STDERR_FILENO, line.data(), line.size());
  return exit_code::internal;
}

// An unjustified step is a bug in tapc: a stage from the user was checked when it was read.
int unjustified(Session& session, const pipeline::UnjustifiedStep& fault) {
  session.report(diagnose(session, fault));
  remember_evidence_for_reproducer(fault.evidence);
  return report_internal_error(fault.what());
}

}  // namespace

int guarded(Session& session, const std::function<int()>& work) {
  try {
    return work();
  } catch (const pipeline::PlanRefused& refused) {
    report(session, refused);
    return exit_code::wrong_program;
  } catch (const pipeline::TooManyBlocks& refused) {
    report(session, refused);
    return refused.exit_code;
  } catch (const Failure& failure) {
    session.report(failure.diagnostic);
    return failure.exit_code;
  } catch (const pipeline::UnjustifiedStep& fault) {
    return unjustified(session, fault);
  } catch (const Reported& reported) { return reported.exit_code; } catch (const ir::EvaluationError& error) {
    session.report(Diagnostic(Code::run_time, written_at(session.operations, error.operation), error.message));
    return exit_code::run_time;
  } catch (const std::bad_alloc&) {
    return out_of_memory(session);
  } catch (const std::system_error& error) {  // for example, a thread that could not start
    return fail(session, exit_code::resource, Code::out_of_memory,
                std::string("a system call failed: ") + error.what());
  } catch (const Overflow&) {
    // Indices and sizes are checked at their source; what remains are totals over a program.
    return fail(session, exit_code::resource, Code::out_of_memory,
                "the program has more cells or index points than fit in 64 bits");
  } catch (const std::exception& error) { return report_internal_error(error.what()); } catch (const Abandoned&) {
    return report_internal_error("a statement was abandoned without recovery");
  } catch (...) { return report_internal_error("an unknown exception"); }
}

void exit_out_of_memory() noexcept {
  remove_staged_files(0);
  ::_exit(report_out_of_memory());
}

}  // namespace tap::driver
