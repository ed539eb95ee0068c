#include "compiler/driver/unjustified_step.h"

#include <fmt/format.h>

#include "compiler/driver/reproducer.h"
#include "compiler/driver/show/written_operations.h"

namespace tap::driver {
Diagnostic diagnose(const Session& session, const pipeline::UnjustifiedStep& fault) {
  return {Code::not_justified, written_at(session.operations, fault.operation), fault.what()};
}

void warn_step_left_out(const Session& session, const pipeline::UnjustifiedStep& fault) {
  remember_evidence_for_reproducer(fault.evidence);
  char name[256];
  write_reproducer("checking the certificate", fault.what(), name);
  const std::string reproducer = *name ? fmt::format("reproducer written to {}", name)
                                       : "the reproducer could not be written";
  session.report(Diagnostic(Code::step_left_out, written_at(session.operations, fault.operation),
                            fmt::format("{}; the program runs without this step", fault.what()))
                     .note("this is a bug in tapc; the result is not affected; " + reproducer));
}

}  // namespace tap::driver
